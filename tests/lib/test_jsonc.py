from __future__ import annotations

import time
from typing import Any

import pytest

from opencode_web.lib.jsonc import parse_jsonc


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1} // end', {"a": 1}),
        ('/* head */ {"a": [1, 2, ], /* x */ }', {"a": [1, 2]}),
        ('{"url": "https://x/*y*/", "t": "a, }"}', {"url": "https://x/*y*/", "t": "a, }"}),
        ('{"q": "\\"//\\""}', {"q": '"//"'}),
        ('{"a": 1, // why\n}', {"a": 1}),
        ('"ask"', "ask"),
    ],
)
def test_comments_and_trailing_commas_are_read(text: str, value: Any) -> None:
    assert parse_jsonc(text) == value


@pytest.mark.parametrize("text", ["", "{", '{"a": }', "{'a': 1}", "[" * 100_000, "/* {}"])
def test_what_is_no_json_is_said(text: str) -> None:
    with pytest.raises(ValueError, match=r"no JSON|too deeply"):
        parse_jsonc(text)


@pytest.mark.parametrize("text", ['"' * 200_000, "/*" * 100_000, '"\\' * 100_000, ", " * 100_000])
def test_hostile_text_takes_no_time(text: str) -> None:
    started = time.process_time()
    with pytest.raises(ValueError, match="no JSON"):
        parse_jsonc(text)
    assert time.process_time() - started < 0.5
