from __future__ import annotations

import pytest

from sessions.models import SessionInput
from sessions.runner.drain.titles import title_from


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("\n# Mend the till\nand the rest", "Mend the till"),
        ("tell what it does " * 5, "tell what it does " * 4 + "tell…"),
        # Two words and a very long one: what it begins with tells more.
        ("Look at " + "x" * 100, "Look at " + "x" * 72 + "…"),
        ("x" * 100, "x" * 80 + "…"),
    ],
)
def test_a_title_is_the_first_line_and_is_cut_where_most_of_it_is_left(
    text: str, title: str
) -> None:
    part = {"type": "text", "id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1", "text": text}
    assert title_from(SessionInput(data={"parts": [part]})) == title
