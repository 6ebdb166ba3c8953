from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from sessions.actions.commands import CommandCall, run_command
from sessions.actions.history import delete_messages, update_part
from sessions.actions.permissions import reply_permission
from sessions.commands.marks import GO_ON
from sessions.models import Part, PermissionRequest, Project, Session, State
from sessions.runner.log.model_history import build_messages
from teams.models import User
from tests.sessions.factories import INLINE, prompt, script, session_access
from tests.sessions.projection import assert_log_equals_rows
from tests.sessions.runner.drains import allow_bash, drain, parts_of, stop, until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


def command(session: Session, user: User, template: str, **fields: Any) -> str:
    project = Project.objects.get(pk=session.project_id)
    project.config = {"command": {"c": {"template": template, **fields}}}
    project.save()
    session.refresh_from_db()
    access = session_access(user, session)
    return str(run_command(access, CommandCall("c", "", model=INLINE)).pk)


def reply(user: User, session: Session, answer: Any = "once") -> None:
    request = PermissionRequest.objects.get(session=session, status="pending")
    reply_permission(session_access(user, session), request, reply=answer)


def texts(session: Session, role: str = "user") -> list[str]:
    rows = Part.objects.filter(session=session, type="text", message__role=role)
    return [row.data["text"] for row in rows.order_by("seq", "id")]


def read_by_model(session: Session) -> list[Any]:
    return list(build_messages(Session.objects.get(pk=session.pk), INLINE))


async def test_outputs_take_the_place_of_the_shell_parts(session: Session, alice: User) -> None:
    await in_db(allow_bash, session)
    await in_db(command, session, alice, "A !`echo one` B !`echo two; exit 3` C !`printf ''`")
    session = await drain(session)
    assert (session.state, session.title) == (State.IDLE, "/c")
    [text] = await in_db(texts, session)
    assert text.startswith("A one B two\n\n<shell_metadata>")
    assert text.endswith("exit code 3.\n</shell_metadata> C (no output)")
    calls = await in_db(parts_of, session, "tool")
    assert [call["state"]["input"]["command"] for call in calls] == [
        "echo one",
        "echo two; exit 3",
        "printf ''",
    ]
    messages = await in_db(read_by_model, session)
    assert [type(message).__name__ for message in messages] == ["UserMessage", "AssistantMessage"]
    await in_db(assert_log_equals_rows, session)


async def test_it_asks_when_bash_asks_and_runs_once(session: Session, alice: User) -> None:
    folder = Path(session.project.directory)
    await in_db(command, session, alice, "Now: !`echo x >> ran; echo done`")
    session = await drain(session)
    assert session.state == State.WAITING
    request = await in_db(PermissionRequest.objects.get, session=session)
    assert request.permission == "bash"
    await in_db(reply, alice, session)
    session = await drain(session)
    assert await in_db(texts, session) == ["Now: done"]
    assert (folder / "ran").read_text() == "x\n"


async def test_a_person_who_says_no_ends_the_turn(session: Session, alice: User) -> None:
    await in_db(command, session, alice, "Now: !`date`")
    await drain(session)
    await in_db(reply, alice, session, "reject")
    session = await drain(session)
    assert session.state == State.IDLE
    assert await in_db(texts, session) == ["Now: !`date`"]
    assert await in_db(texts, session, "assistant") == []


async def test_what_a_rule_denies_is_said_in_the_prompt(session: Session, alice: User) -> None:
    def deny() -> None:
        session.project.team.config = {"permission": {"bash": "deny"}}
        session.project.team.save()

    await in_db(deny)
    await in_db(command, session, alice, "Now: !`date`")
    session = await drain(session)
    [text] = await in_db(texts, session)
    assert text.startswith("Now: (Without output: ")
    assert session.state == State.IDLE


async def test_a_stop_while_it_waits_leaves_the_prompt(session: Session, alice: User) -> None:
    await in_db(command, session, alice, "Now: !`date`")
    await drain(session)
    await stop(alice, session)
    session = await drain(session)
    assert session.state == State.IDLE
    assert await in_db(texts, session, "assistant") == []


async def test_a_sub_agent_works_on_a_subtask(session: Session, alice: User) -> None:
    answer = [{"text": "the report"}]
    await in_db(allow_bash, session)
    await in_db(
        command, session, alice, f"!`echo look` {script(answer)}", agent="explore", description="d"
    )
    session = await drain(session)
    child = await in_db(session.children.get)
    await drain(child)
    await until(lambda: session.children.filter(state=State.IDLE).exists())
    session = await drain(session)
    [shell, task] = await in_db(parts_of, session, "tool")
    assert (shell["tool"], task["tool"]) == ("bash", "task")
    assert task["state"]["input"]["subagent_type"] == "explore"
    assert task["state"]["input"]["prompt"].startswith("look ")
    assert "the report" in task["state"]["output"]
    messages = await in_db(read_by_model, session)
    kinds = [type(message).__name__ for message in messages]
    assert kinds[:4] == ["UserMessage", "AssistantMessage", "ToolResultMessage", "UserMessage"]
    assert messages[3].content[0].text == GO_ON
    assert await in_db(session.children.count) == 1
    await in_db(assert_log_equals_rows, session)


@pytest.mark.parametrize("mark", [{"piece": 0}, {"part": "of the prompt", "piece": 7}])
async def test_marks_that_somebody_wrote_into_the_history_end_no_turn(
    session: Session, alice: User, mark: dict[str, Any]
) -> None:
    await in_db(prompt, alice, session, script([{"tool": "list", "input": {}}], [{"text": "x"}]))
    await drain(session)

    def edit() -> None:
        access = session_access(alice, session)
        said = Part.objects.get(session=session, type="text", message__role="assistant")
        delete_messages(access, [said.message_id])
        asked = Part.objects.get(session=session, type="text")
        given = {**mark, "part": asked.pk} if "part" in mark else mark
        call = Part.objects.get(session=session, type="tool")
        for part, metadata in ((asked, {"read": {}}), (call, {"command": given})):
            data = {**part.data, "metadata": metadata}
            update_part(access, part.message_id, part.pk, data)
        prompt(alice, session, script([{"text": "later"}]), delivery="queue")

    await in_db(edit)
    session = await drain(session)
    assert session.outcome == "done"


async def test_a_command_that_mentions_a_file_still_has_its_sub_agent(
    session: Session, alice: User
) -> None:
    Path(session.project.directory, "x.txt").write_text("line\n")
    template = f"Review @x.txt {script([{'text': 'the report'}])}"
    await in_db(command, session, alice, template, agent="explore", subtask=True)
    session = await drain(session)
    child = await in_db(session.children.get)
    await drain(child)
    session = await drain(session)
    read, task = await in_db(parts_of, session, "tool")
    assert (read["tool"], task["tool"]) == ("read", "task")
    assert "the report" in task["state"]["output"]
    assert (session.state, session.outcome) == (State.IDLE, "done")
