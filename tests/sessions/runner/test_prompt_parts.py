from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Invalid, NotFound
from providers.llm.messages import File, ProviderRequest, Text, UserMessage
from sessions.actions.commands import CommandCall, run_command
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.commands.marks import GO_ON
from sessions.models import PermissionRequest, Project, Session
from sessions.runner.log.model_history import SUBTASK_GIVEN
from teams.models import User
from tests.sessions.factories import INLINE, script, session_access
from tests.sessions.runner.drains import drain, parts_of

pytestmark = pytest.mark.any_database

PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
TASK = {"description": "Look", "prompt": script([{"text": "the report"}])}


def admit(user: User, session: Session, *parts: dict[str, Any]) -> str:
    draft = PromptDraft(parts=list(parts), model=INLINE)
    return str(admit_prompt(session_access(user, session), draft).pk)


def text(*steps: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "text", "text": script(*steps)}


def ask_for_tasks(session: Session) -> None:
    session.project.config = {"permission": {"task": "ask"}}
    session.project.save()
    session.refresh_from_db()


def texts_of(request: ProviderRequest) -> list[str]:
    [prompt] = [one for one in request.messages if isinstance(one, UserMessage)][-1:]
    return [part.text for part in prompt.content]  # type: ignore[union-attr]


async def finish(session: Session) -> Session:
    """Its own drain, that of its sub-agents, and what follows."""
    await drain(session)
    for child in await in_db(list, session.children.exclude(state="idle")):
        await drain(child)
    return await drain(session)


async def test_a_mention_tells_the_model_and_allows_the_task(
    alice: User, session: Session, requests: list[ProviderRequest]
) -> None:
    await in_db(ask_for_tasks, session)
    call = {"tool": "task", "input": {**TASK, "subagent_type": "explore"}}
    mention = {"type": "agent", "name": "explore"}
    await in_db(admit, alice, session, text([call], [{"text": "done"}]), mention)
    session = await finish(session)
    assert "agent explore" in texts_of(requests[0])[-1]
    assert session.outcome == "done"
    assert not await in_db(PermissionRequest.objects.exists)


@pytest.mark.parametrize("prompted", [False, True])
async def test_without_a_mention_of_that_agent_a_task_asks(
    alice: User, session: Session, prompted: bool
) -> None:
    await in_db(ask_for_tasks, session)
    call = {"tool": "task", "input": {**TASK, "subagent_type": "general"}}
    parts = [text([call], [{"text": "done"}])]
    if prompted:
        parts.append({"type": "agent", "name": "explore"})
    await in_db(admit, alice, session, *parts)
    session = await drain(session)
    assert session.waits_for == "person"


async def test_a_mention_opens_no_rule_that_denies(alice: User, session: Session) -> None:
    session.project.config = {"permission": {"task": {"explore": "deny"}}}
    await in_db(session.project.save)
    call = {"tool": "task", "input": {**TASK, "subagent_type": "explore"}}
    mention = {"type": "agent", "name": "explore"}
    await in_db(admit, alice, session, text([call], [{"text": "done"}]), mention)
    await finish(session)
    [part] = await in_db(parts_of, session, "tool")
    assert part["state"]["status"] == "error"
    assert not await in_db(session.children.exists)


def test_an_unknown_agent_is_refused_by_name(alice: User, session: Session) -> None:
    for part in (
        {"type": "agent", "name": "nobody"},
        {"type": "subtask", **TASK, "agent": "nobody"},
    ):
        with pytest.raises(
            Invalid, match=r'Agent not found: "nobody"\. Available agents: .*explore'
        ):
            admit(alice, session, {"type": "text", "text": "hello"}, part)
    model = {"providerID": "demo", "modelID": "nothing"}
    with pytest.raises(NotFound):
        admit(alice, session, {"type": "subtask", **TASK, "agent": "explore", "model": model})


def pointed(path: Path, query: str = "", mime: str = "text/plain") -> dict[str, Any]:
    url = f"file://{str(path).replace(' ', '%20')}{query}"
    return {"type": "file", "mime": mime, "filename": path.name, "url": url}


def write_lines(session: Session) -> Path:
    path = Path(session.project.directory) / "a b.txt"
    path.write_text("".join(f"line {number}\n" for number in range(1, 10)))
    return path


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ("", range(1, 10)),
        ("?start=3&end=5", range(3, 6)),
        ("?start=0&end=2", range(1, 3)),
        ("?start=4", range(4, 10)),
        ("?start=7&end=7", range(7, 8)),
        ("?start=7&end=2", range(7, 8)),
        ("?start=x&end=y", range(1, 10)),
    ],
)
async def test_the_model_gets_the_lines_of_a_file_that_is_pointed_to(
    alice: User, session: Session, requests: list[ProviderRequest], query: str, lines: range
) -> None:
    path = write_lines(session)
    given = pointed(path, query)
    await in_db(admit, alice, session, text([{"text": "done"}]), given)
    await drain(session)
    told = texts_of(requests[0])[-1]
    shown = [number for number in range(1, 10) if f"{number}: line {number}" in told]
    assert shown == list(lines)
    [kept] = await in_db(lambda: list(session.parts.filter(type="file")))
    assert kept.data["url"] == given["url"]
    assert len(requests) == 1


async def test_a_file_that_is_pointed_to_counts_as_read(
    alice: User, session: Session, requests: list[ProviderRequest]
) -> None:
    path = write_lines(session)
    session.project.config = {"permission": {"edit": "allow"}}
    await in_db(session.project.save)
    edit = {"filePath": str(path), "oldString": "line 3", "newString": "third"}
    steps = [[{"tool": "edit", "input": edit}], [{"text": "done"}]]
    await in_db(admit, alice, session, text(*steps), pointed(path, "?start=3&end=3"))
    await drain(session)
    assert "third" in path.read_text()


async def test_a_picture_and_a_folder_that_are_pointed_to_are_shown(
    alice: User, session: Session, requests: list[ProviderRequest]
) -> None:
    path = write_lines(session)
    picture = path.with_name("dot.png")
    picture.write_bytes(PNG)
    parts = pointed(picture, mime="image/png"), pointed(path.parent, mime="application/x-directory")
    await in_db(admit, alice, session, text([{"text": "done"}]), *parts)
    await drain(session)
    [prompt] = [one for one in requests[0].messages if isinstance(one, UserMessage)]
    assert [part.mime for part in prompt.content if isinstance(part, File)] == ["image/png"]
    assert any("a b.txt\n" in part.text for part in prompt.content if isinstance(part, Text))


async def test_why_a_file_was_not_read_is_said(
    alice: User, session: Session, requests: list[ProviderRequest]
) -> None:
    path = write_lines(session)
    session.project.config = {"permission": {"read": {"*": "allow", "a b.txt": "deny"}}}
    await in_db(session.project.save)
    gone = path.with_name("gone.txt")
    await in_db(admit, alice, session, text([{"text": "done"}]), pointed(path), pointed(gone))
    await drain(session)
    *_, denied, missing = texts_of(requests[0])
    assert "a b.txt" in denied
    assert "line 3" not in denied
    assert f"File not found: {gone}" in missing


async def test_sub_agents_work_on_subtasks_before_the_model_is_asked(
    alice: User, session: Session, requests: list[ProviderRequest]
) -> None:
    await in_db(ask_for_tasks, session)
    subtask = {"type": "subtask", **TASK, "agent": "explore", "command": "look"}
    await in_db(admit, alice, session, subtask, {**subtask, "agent": "general"})
    session = await finish(session)
    first, second = await in_db(parts_of, session, "tool")
    for part, agent in ((first, "explore"), (second, "general")):
        assert part["state"]["input"]["subagent_type"] == agent
        assert "the report" in part["state"]["output"]
    asked = [one for one in requests if one.session_id == session.pk]
    kinds = [type(message).__name__ for message in asked[0].messages]
    results = ["ToolResultMessage", "ToolResultMessage"]
    assert kinds == ["UserMessage", "AssistantMessage", *results, "UserMessage"]
    given, told = asked[0].messages[0], asked[0].messages[-1]
    assert (given.content[0].text, told.content[0].text) == (SUBTASK_GIVEN, GO_ON)  # type: ignore[union-attr]
    assert not await in_db(PermissionRequest.objects.exists)
    # They are called once, whatever is said next.
    await in_db(admit, alice, session, text([{"text": "again"}]))
    await finish(session)
    assert await in_db(session.children.count) == 2


@pytest.mark.parametrize(
    ("named", "caller"),
    [(("tour", "inline", None), "inline"), ((None, "tour"), "inline"), (("tour",) * 2, "tour")],
)
async def test_each_sub_agent_works_with_the_model_of_its_own_subtask(
    alice: User, session: Session, named: tuple[str | None, ...], caller: str
) -> None:
    agents = ("explore", "general", "explore")
    subtasks = [
        {
            "type": "subtask",
            **TASK,
            "agent": agent,
            **({"model": {"providerID": "demo", "modelID": model}} if model else {}),
        }
        for agent, model in zip(agents, named, strict=False)
    ]
    await in_db(admit, alice, session, *subtasks)
    await drain(session)
    [step] = await in_db(list, session.messages.filter(role="assistant"))
    assert step.data["modelID"] == caller
    children = {child.pk: child for child in await in_db(list, session.children.all())}
    calls = await in_db(parts_of, session, "tool")
    given = []
    for call in calls:
        child = children[call["state"]["metadata"]["sessionId"]]
        [prompt] = await in_db(list, child.inputs.all())
        given.append((prompt.data["info"]["agent"], prompt.data["info"]["model"]["modelID"]))
    assert given == [
        (agent, model or "inline") for agent, model in zip(agents, named, strict=False)
    ]


async def test_a_subtask_is_worked_on_after_a_file_of_its_prompt_is_read(
    alice: User, session: Session
) -> None:
    path = write_lines(session)
    subtask = {"type": "subtask", **TASK, "agent": "explore"}
    await in_db(admit, alice, session, pointed(path), subtask)
    session = await finish(session)
    calls = await in_db(parts_of, session, "tool")
    assert [call["tool"] for call in calls] == ["read", "task"]
    assert "the report" in calls[1]["state"]["output"]
    assert session.outcome == "done"


async def test_a_skill_that_is_run_as_a_command_says_where_its_files_are(
    alice: User, session: Session, project: Project, requests: list[ProviderRequest]
) -> None:
    folder = Path(project.directory, ".opencode", "skills", "pdf")
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: pdf\ndescription: PDFs\n---\nRun scripts/x.py\n")
    access = await in_db(session_access, alice, session)
    await in_db(run_command, access, CommandCall("pdf", "a.pdf", model=INLINE))
    await drain(session)
    [told] = texts_of(requests[0])
    assert told.startswith(f"Run scripts/x.py\n\nBase directory for this skill: {folder}\n")
    assert told.endswith("\n\na.pdf")
