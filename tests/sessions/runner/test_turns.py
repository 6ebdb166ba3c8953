from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path

import pytest

from opencode_web.lib.db import in_db
from sessions.actions.permissions import reply_permission
from sessions.models import Event, Message, PermissionRequest, Project, Run, Session
from teams.models import User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import drain, parts_of


async def test_it_answers_with_reasoning_and_text(alice: User, session: Session) -> None:
    await in_db(
        prompt, alice, session, script([{"reasoning": "Let me think."}, {"text": "Hello there."}])
    )
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
    text = (await in_db(parts_of, session, "text"))[0]
    assert text["text"] == "Hello there."
    assert text["time"]["end"] >= text["time"]["start"]
    assert (await in_db(parts_of, session, "reasoning"))[0]["text"] == "Let me think."
    answer = await in_db(Message.objects.get, session=session, role="assistant")
    assert answer.data["finish"] == "stop"
    assert answer.data["time"]["completed"]


async def test_idle_is_in_the_transaction_of_the_final_event(alice: User, session: Session) -> None:
    await in_db(prompt, alice, session, script([{"text": "done"}]))
    await drain(session)
    last = await in_db(list, Event.objects.filter(session=session).order_by("-seq")[:2])
    assert [event.type for event in last] == ["session.status", "message.updated"]
    run = await in_db(Run.objects.get, session=session)
    assert (run.owner, run.lease_until) == ("", None)


async def test_usage_and_cost_add_up(alice: User, session: Session) -> None:
    usage = {"input": 100, "output": 20, "reasoning": 5, "cache_read": 7, "cache_write": 3}
    turn = [
        {"events": [{"tool": "list", "input": {}}], "usage": usage},
        {"events": [{"text": "ok"}], "usage": usage},
    ]
    await in_db(prompt, alice, session, script(turns=[turn]))
    await drain(session)
    assert session.tokens == {
        "input": 200,
        "output": 40,
        "reasoning": 10,
        "cache": {"read": 14, "write": 6},
    }
    assert session.cost == Decimal(0)
    # What the newest answer read and wrote, not the sum.
    assert session.context_tokens == 135
    assert session.context_limit > 0
    assert [part["tokens"]["input"] for part in await in_db(parts_of, session, "step-finish")] == [
        100,
        100,
    ]


async def test_fr_05_tools_run_and_their_results_go_back_to_the_model(
    alice: User, session: Session, project: Project
) -> None:
    (Path(project.directory) / "till.py").write_text("total = 1\n")
    await in_db(
        prompt,
        alice,
        session,
        script(
            [
                {"tool": "read", "input": {"filePath": "till.py"}},
                {"tool": "grep", "input": {"pattern": "total"}},
            ],
            [{"text": "read it"}],
        ),
    )
    await drain(session)
    first, second = await in_db(parts_of, session, "tool")
    assert first["state"]["status"] == "completed"
    assert "total = 1" in first["state"]["output"]
    assert second["state"]["metadata"]["matches"] == 1
    roles = await in_db(
        list, Message.objects.filter(session=session).order_by("seq").values_list("role", flat=True)
    )
    assert roles == ["user", "assistant", "assistant"]


async def test_an_edit_waits_is_suspended_and_goes_on_after_the_answer(
    alice: User, session: Session, project: Project
) -> None:
    file = Path(project.directory) / "till.py"
    file.write_text("total = 1\n")
    edit = {"filePath": "till.py", "oldString": "total = 1", "newString": "total = 2"}
    await in_db(
        prompt,
        alice,
        session,
        script(
            [{"tool": "read", "input": {"filePath": "till.py"}}],
            [{"tool": "edit", "input": edit}],
            [{"text": "changed"}],
        ),
    )
    await drain(session)
    assert session.state == "waiting"
    assert file.read_text() == "total = 1\n"
    run = await in_db(Run.objects.get, session=session)
    assert run.lease_until is None
    request = await in_db(PermissionRequest.objects.get, session=session)
    assert (request.permission, request.patterns) == ("edit", ["till.py"])

    access = await in_db(session_access, alice, session)
    await in_db(reply_permission, access, request, reply="once")
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
    assert file.read_text() == "total = 2\n"
    assert (await in_db(parts_of, session, "text"))[-1]["text"] == "changed"
    user_message = await in_db(Message.objects.get, session=session, role="user")
    (diff,) = user_message.data["summary"]["diffs"]
    assert (diff["file"], diff["additions"], diff["deletions"]) == ("till.py", 1, 1)
    assert "+total = 2" in diff["patch"]
    assert session.summary == {"additions": 1, "deletions": 1, "files": 1}


async def test_a_rejection_without_words_ends_the_turn(
    alice: User, session: Session, project: Project
) -> None:
    await in_db(
        prompt,
        alice,
        session,
        script([{"tool": "bash", "input": {"command": "touch made"}}], [{"text": "not reached"}]),
    )
    await drain(session)
    request = await in_db(PermissionRequest.objects.get, session=session)
    access = await in_db(session_access, alice, session)
    await in_db(reply_permission, access, request, reply="reject")
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert session.outcome_reason == {"reason": "rejected", "values": {"name": "Alice"}}
    assert not (Path(project.directory) / "made").exists()
    assert await in_db(parts_of, session, "text") == []


async def test_settings_have_the_agent_go_on_after_a_rejection_without_words(
    alice: User, session: Session, project: Project
) -> None:
    project.config = {"experimental": {"continue_loop_on_deny": True}}
    await in_db(project.save)
    text = script([{"tool": "bash", "input": {"command": "touch made"}}], [{"text": "then not"}])
    await in_db(prompt, alice, session, text)
    await drain(session)
    request = await in_db(PermissionRequest.objects.get, session=session)
    access = await in_db(session_access, alice, session)
    await in_db(reply_permission, access, request, reply="reject")
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
    (tool,) = await in_db(parts_of, session, "tool")
    rejected = "The user rejected permission to use this specific tool call."
    assert (tool["state"]["status"], tool["state"]["error"]) == ("error", rejected)
    assert not (Path(project.directory) / "made").exists()
    assert (await in_db(parts_of, session, "text"))[-1]["text"] == "then not"


async def test_a_rejection_with_words_goes_to_the_model(alice: User, session: Session) -> None:
    await in_db(
        prompt,
        alice,
        session,
        script([{"tool": "bash", "input": {"command": "ls"}}], [{"text": "understood"}]),
    )
    await drain(session)
    request = await in_db(PermissionRequest.objects.get, session=session)
    access = await in_db(session_access, alice, session)
    await in_db(reply_permission, access, request, reply="reject", message="use glob")
    await drain(session)
    assert session.outcome == "done"
    (tool,) = await in_db(parts_of, session, "tool")
    assert "use glob" in tool["state"]["error"]


async def test_always_is_saved_and_not_asked_again(alice: User, session: Session) -> None:
    text = script(
        [{"tool": "bash", "input": {"command": "echo one"}}],
        [{"tool": "bash", "input": {"command": "echo two"}}],
        [{"text": "both"}],
    )
    await in_db(prompt, alice, session, text)
    await drain(session)
    request = await in_db(PermissionRequest.objects.get, session=session)
    assert request.always == ["echo *"]
    access = await in_db(session_access, alice, session)
    await in_db(reply_permission, access, request, reply="always")
    await drain(session)
    assert session.outcome == "done"
    outputs = [part["state"]["output"] for part in await in_db(parts_of, session, "tool")]
    assert [text.strip() for text in outputs] == ["one", "two"]


async def test_an_unknown_tool_becomes_a_result_the_model_reads(
    alice: User, session: Session
) -> None:
    await in_db(
        prompt, alice, session, script([{"tool": "teleport", "input": {}}], [{"text": "k"}])
    )
    await drain(session)
    (tool,) = await in_db(parts_of, session, "tool")
    assert tool["tool"] == "invalid"
    assert tool["state"]["input"]["tool"] == "teleport"
    assert "There is no tool 'teleport'" in tool["state"]["output"]


async def test_a_turn_goes_on_after_every_call_that_cannot_be_made(
    alice: User, session: Session
) -> None:
    calls = [
        {"tool": "reed", "input": {"filePath": "a"}},
        {"tool": "read", "raw": '{"filePath": "a", NaN}'},
        {"tool": "glob", "raw": '["*"]'},
        {"tool": "invalid", "input": {"tool": "x", "error": "y"}},
        {"tool": "GLOB", "input": {"pattern": "*.nothing"}},
        {"tool": "read", "input": {"file": "a"}},
    ]
    await in_db(prompt, alice, session, script(calls, [{"text": "went on"}]))
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
    parts = await in_db(parts_of, session, "tool")
    assert [(part["tool"], part["state"]["status"]) for part in parts] == [
        ("invalid", "completed"),
        ("invalid", "completed"),
        ("invalid", "completed"),
        ("invalid", "completed"),
        ("glob", "completed"),
        ("read", "error"),
    ]
    said = [part["state"].get("output") or part["state"]["error"] for part in parts]
    assert "Did you mean read?" in said[0]
    assert "at line 1, column 19" in said[1]
    assert "it is a list." in said[2]
    assert "There is no tool 'invalid'" in said[3]
    assert "filePath" in said[5]


async def test_two_sessions_run_at_once(alice: User, session: Session, project: Project) -> None:
    from tests.sessions.factories import make_session

    other = await in_db(make_session, alice, project)
    slow = script([{"text": "a"}, {"delay_ms": 1000}, {"text": "b"}])
    for one in (session, other):
        await in_db(prompt, alice, one, slow)
    await asyncio.gather(drain(session), drain(other))
    assert session.outcome == other.outcome == "done"
    answers = await in_db(lambda: list(Message.objects.filter(role="assistant")))
    begun, ended = zip(
        *((row.data["time"]["created"], row.data["time"]["completed"]) for row in answers),
        strict=True,
    )
    assert len(answers) == 2
    assert max(begun) < min(ended)


async def test_text_that_no_database_takes_is_cleaned(alice: User, session: Session) -> None:
    steps = (
        [{"text": "a\x00b"}, {"tool": "grep", "input": {"pattern": "x\x00y"}}],
        [{"text": "end"}],
    )
    await in_db(prompt, alice, session, script(*steps))
    await drain(session)
    assert session.outcome == "done"
    assert (await in_db(parts_of, session, "text"))[0]["text"] == "a\ufffdb"


@pytest.mark.parametrize(
    ("steps", "answers"),
    [
        ([([], "unknown"), ([{"text": "here"}], None)], 2),
        ([([], "unknown"), ([], "unknown"), ([{"text": "not reached"}], None)], 2),
        ([([{"text": "a word"}], "unknown"), ([{"text": "not reached"}], None)], 1),
        ([([], "stop"), ([{"text": "not reached"}], None)], 1),
        # Calls go on whatever the provider says about the end.
        ([([{"tool": "list", "input": {}}], "stop"), ([{"text": "here"}], None)], 2),
    ],
)
async def test_what_keeps_a_turn_going(
    steps: list[tuple[list[dict], str | None]], answers: int, alice: User, session: Session
) -> None:
    turn = [{"events": events, **({"finish": end} if end else {})} for events, end in steps]
    await in_db(prompt, alice, session, script(turns=[turn] * 9))
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
    assert await in_db(session.messages.filter(role="assistant").count) == answers
