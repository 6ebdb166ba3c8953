from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Invalid
from opencode_web.lib.ids import new_id
from sessions.actions.prompts import MAX_TEXT_CHARS, PromptDraft, admit_prompt
from sessions.events.parts import TextPart
from sessions.models import Session
from sessions.present.conversation.turns import MAX_SHOWN_CHARS, _bounded
from sessions.runner.log import long_texts
from sessions.runner.log.long_texts import shown_texts
from sessions.runner.log.model_history import build_messages
from teams.models import User
from tests.sessions.factories import INLINE, prompt, script, session_access
from tests.sessions.runner.drains import drain, parts_of

LONG = "\n".join(f"line {number} of the log" for number in range(40_000))


def text(given: str) -> TextPart:
    return TextPart(id=new_id("prt"), sessionID="ses_long", messageID="msg_1", text=given)


def test_what_fits_is_shown_as_it_is() -> None:
    part = text("x" * 4_000)
    assert shown_texts([part], 2_000) == {part.id: part.text}
    assert shown_texts([part], None) == {part.id: part.text}


def test_of_a_longer_one_the_ends_are_shown_and_the_whole_is_kept(settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    part = text(f"{LONG}\n{'y' * 5_000}")
    shown = shown_texts([part], 50_000)[part.id]
    assert shown.startswith("line 0 of the log\n")
    assert shown.endswith("y" * 5_000)
    assert len(shown) < 21_000
    kept = Path(re.search(r"whole text is in (\S+),", shown)[1])  # type: ignore[index]
    assert kept.parent == tmp_path / "tool-output" / "ses_long"
    lines = kept.read_text().splitlines()
    assert lines[:40_000] == LONG.splitlines()
    assert [len(line) for line in lines[40_000:]] == [2_000, 2_000, 1_000]
    # The next request has the same bytes, also where the file was swept away.
    kept.unlink()
    assert shown_texts([part], 50_000) == {part.id: shown}
    assert kept.exists()


def test_an_edited_text_is_kept_anew(settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    part = text(LONG)
    edited = part.model_copy(update={"text": LONG.replace("log", "book")})
    paths = [
        Path(re.search(r"whole text is in (\S+),", shown_texts([one], 50_000)[part.id])[1])  # type: ignore[index]
        for one in (part, edited)
    ]
    assert [path.read_text().splitlines()[1] for path in paths] == [
        "line 1 of the log",
        "line 1 of the book",
    ]


def test_two_share_the_room(settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    parts = [text("a" * 100_000), text("short"), text("b" * 100_000)]
    shown = shown_texts(parts, 12_000)
    assert sum(map(len, shown.values())) < 12_000 * 2 + 1_000
    assert shown[parts[1].id] == "short"


def test_a_disk_that_refuses_is_told(settings, tmp_path: Path) -> None:
    (tmp_path / "tool-output").write_text("no folder")
    settings.DATA_DIR = tmp_path
    part = text("x" * 100_000)
    assert "ask the user to put it into a file" in shown_texts([part], 2_000)[part.id]


def test_of_a_file_that_cannot_be_written_whole_nothing_is_left(
    settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = tmp_path

    def fill(text: str) -> Iterator[str]:
        yield text[:100]
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(long_texts, "_wrapped", fill)
    part = text("x" * 100_000)
    assert "ask the user to put it into a file" in shown_texts([part], 2_000)[part.id]
    assert list((tmp_path / "tool-output" / part.sessionID).iterdir()) == []


async def test_the_agent_can_read_what_was_left_out(alice: User, session: Session) -> None:
    await in_db(prompt, alice, session, f"{script([{'text': 'seen'}])}\n{LONG}")
    await drain(session)
    messages = await in_db(partial(build_messages, session, INLINE, room=20_000))
    [shown] = messages[0].content  # type: ignore[union-attr]
    path = re.search(r"whole text is in (\S+),", shown.text)[1]  # type: ignore[index, union-attr]
    read = {"tool": "read", "input": {"filePath": path, "offset": 30_002, "limit": 1}}
    await in_db(prompt, alice, session, script([read], [{"text": "done"}]))
    await drain(session)
    [call] = await in_db(parts_of, session, "tool")
    assert "30002: line 30000 of the log" in call["state"]["output"]


async def test_five_megabytes_are_taken_and_more_is_refused(alice: User, session: Session) -> None:
    most = "x" * MAX_TEXT_CHARS
    draft = PromptDraft(parts=[{"type": "text", "text": most}], model=INLINE)
    access = await in_db(session_access, alice, session)
    await in_db(admit_prompt, access, draft, resume=False)
    more = replace(draft, parts=[{"type": "text", "text": most + "x"}])
    with pytest.raises(Invalid, match="at most 5,242,880 characters"):
        await in_db(admit_prompt, access, more)


def test_a_page_shows_the_beginning() -> None:
    assert _bounded("x" * MAX_SHOWN_CHARS) == "x" * MAX_SHOWN_CHARS
    shown = _bounded("x" * (MAX_SHOWN_CHARS + 1_234))
    assert shown.endswith("x\n\n(1,234 more characters are not shown.)")
