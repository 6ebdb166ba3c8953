"""What a turn has changed, in the thread that asked for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.models import OutsideReply, Session
from teams.models import AuditEntry, Membership, User
from tests.lib.known_key_samples import drawn
from tests.sessions.factories import script
from tests.sessions.integrations.slack_server import Json
from tests.sessions.integrations.slack_workspace import Workspace, buttons, shown

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]

_REST = drawn(36)
KEY = f"ghp_{_REST}"


def does(command: str) -> str:
    call = {"tool": "bash", "input": {"command": command, "description": "Make files"}}
    return script([call], [{"text": "They are made."}])


@pytest.fixture
def done(chat: Workspace, bob: User) -> Json:
    """A finished answer, whose turn has made two files."""
    chat.project.config |= {"permission": {"bash": "allow"}}
    chat.project.save()
    chat.link(bob, "U0BOB")
    # Put together there: in a prompt it would be hidden at once.
    bill = f"(echo 'total: 7'; echo key: gh''p_{_REST}) > bill.txt"
    chat.say(does(f"{bill}; yes 'a line' | head -600 > long.txt"))
    chat.run()
    return chat.answers[0]


def sent(chat: Workspace) -> dict[str, bytes]:
    """The files that the thread has."""
    shared = [one for message in chat.answers for one in message.get("files", [])]
    return {one["title"]: chat.server.uploads[one["id"]]["content"] for one in shared}


def test_files_are_sent_into_the_thread_without_secrets(chat: Workspace, done: Json) -> None:
    chat.press(buttons(done)["Send files"], message=done)
    files = sent(chat)
    assert set(files) == {"bill.txt", "long.txt"}
    assert files["bill.txt"].startswith(b"total: 7\nkey: ")
    assert KEY.encode() not in files["bill.txt"]
    assert files["long.txt"] == b"a line\n" * 600
    assert chat.answers[-1]["thread_ts"] == done["thread_ts"]
    noted = AuditEntry.objects.filter(action="file.downloaded")
    assert {one.names["file"] for one in noted} == {"bill.txt", "long.txt"}
    assert OutsideReply.objects.latest("pk").state == "done"


def test_files_whose_answer_is_lost_are_not_sent_twice(chat: Workspace, done: Json) -> None:
    chat.server.loses_answer = True
    chat.press(buttons(done)["Send files"], message=done)
    chat.restart()
    chat.write()
    assert len([one for one in chat.answers if "files" in one]) == 1


def test_a_long_diff_is_a_snippet_and_a_short_one_a_message(chat: Workspace, done: Json) -> None:
    chat.press(buttons(done)["Show diff"], message=done)
    assert b"+a line" in sent(chat)["changes.diff"]
    assert KEY.encode() not in sent(chat)["changes.diff"]
    assert chat.server.uploads["F00000000"]["snippet_type"] == "diff"
    chat.say(does("echo one > short.txt"), thread=done["thread_ts"])
    chat.run()
    answer = chat.answers[-1]
    chat.press(buttons(answer)["Show diff"], message=answer)
    assert "+one" in shown(chat.answers[-1])
    assert len(chat.server.uploads) == 1


def test_only_who_may_read_the_session_has_its_files_sent_and_only_there(
    chat: Workspace, done: Json, bob: User, charlie: User
) -> None:
    ask = buttons(done)["Send files"]
    chat.press(ask, by="U0EVE", message=done)
    assert "not linked" in chat.told
    chat.link(charlie, "U0EVE")
    chat.press(ask, by="U0EVE", message=done)
    # Another channel, whatever a button says.
    chat.row.channels.create(channel="C0OTHER", project=chat.project)
    chat.row.channels.filter(channel="C0TILL").delete()
    chat.press(ask, message=done)
    assert "cannot be talked to here" in chat.told
    chat.press(
        {**ask, "value": f"{Session.objects.get().pk}:msg_0"},
        message={**done, "channel": "C0OTHER"},
    )
    assert sent(chat) == {}


def test_who_has_lost_the_right_meanwhile_gets_no_file(
    chat: Workspace, done: Json, bob: User
) -> None:
    chat.server.limits = [30]
    chat.press(buttons(done)["Send files"], message=done)
    Membership.objects.filter(user=bob).delete()
    chat.restart()
    chat.write()
    assert sent(chat) == {}


def test_what_is_gone_or_leads_out_of_the_folder_is_left_out(chat: Workspace, done: Json) -> None:
    folder = Session.objects.get().worktree
    (Path(folder) / "bill.txt").unlink()
    (Path(folder) / "long.txt").unlink()
    (Path(folder) / "long.txt").symlink_to("/etc/passwd")
    chat.press(buttons(done)["Send files"], message=done)
    assert sent(chat) == {}
    assert "bill.txt" in shown(chat.answers[-1])


def test_what_slack_does_not_take_is_named(chat: Workspace, done: Json) -> None:
    folder = Path(Session.objects.get().worktree)
    (folder / "bill.txt").write_bytes(b"")
    with (folder / "long.txt").open("wb") as file:
        file.truncate(10 * 1024 * 1024 + 1)
    chat.press(buttons(done)["Send files"], message=done)
    assert sent(chat) == {}
    told = shown(chat.answers[-1])
    assert "bill.txt is empty" in told
    assert "long.txt is too large" in told
