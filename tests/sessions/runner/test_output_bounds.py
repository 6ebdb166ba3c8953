from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from sessions.models import Event, Part, Project, Session
from sessions.runner import run_session
from sessions.runner.calls import tool_calls
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.runner.drains import allow_bash, drain, parts_of, stop, until
from tools import registry
from tools.output_store import OutputSpool

pytestmark = pytest.mark.any_database

SECRET_END = "the end of a very long output"
# Far more than any row may hold of an output: what is shown of it live, and what is kept.
MOST_CHARS = 120_000


def stored(session: Session) -> list[str]:
    events = Event.objects.filter(session=session).values_list("data", flat=True)
    parts = Part.objects.filter(session=session).values_list("data", flat=True)
    return [str(data) for data in (*events, *parts)]


async def quiet() -> None:
    # A git that was taking a snapshot is buried behind the end of the run.
    others = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.wait(others, timeout=5) if others else None
    await asyncio.sleep(0.05)
    gc.collect()


def set_limits(project: Project, **limits: int) -> None:
    project.config = {"tool_output": limits}
    project.save()


async def test_feat2_fr_03_the_limits_of_a_project_hold(
    alice: User, session: Session, project: Project
) -> None:
    await in_db(allow_bash, session)
    await in_db(set_limits, project, max_lines=3, max_bytes=5_000)
    call = {"tool": "bash", "input": {"command": "seq 100"}}
    await in_db(prompt, alice, session, script([call]))
    await drain(session)
    (part,) = await in_db(parts_of, session, "tool")
    state = part["state"]
    assert state["output"].endswith("\n\n98\n99\n100\n")
    assert "explore agent" in state["output"]
    assert Path(state["metadata"]["outputPath"]).read_text().endswith("\n99\n100\n")


@pytest.mark.parametrize("point", ["command", "keeping", "settling", "writing"])
async def test_feat2_nfr_03_the_whole_output_is_in_no_row_wherever_the_call_is_stopped(
    point: str, alice: User, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = asyncio.Event()
    loop = asyncio.get_running_loop()

    def hold(*_: object) -> None:
        loop.call_soon_threadsafe(reached.set)

    # Each point is held where the whole text is at hand, until the stop has come.
    match point:
        case "keeping":
            finish = OutputSpool.finish

            def slow(self: OutputSpool, **options: Any) -> Path | None:
                hold()
                return finish(self, **options)

            monkeypatch.setattr(OutputSpool, "finish", slow)
        case "settling":
            settle = registry.settle

            def slow_settle(*arguments: Any) -> Any:
                hold()
                return settle(*arguments)

            monkeypatch.setattr(registry, "settle", slow_settle)
        case "writing":
            completed = tool_calls._completed

            def slow_completed(*arguments: Any) -> Any:
                hold()
                return completed(*arguments)

            monkeypatch.setattr(tool_calls, "_completed", slow_completed)
    await in_db(allow_bash, session)
    tail = "; sleep 60" if point == "command" else ""
    command = f"head -c 3000000 /dev/zero | tr '\\0' x; echo; echo {SECRET_END}{tail}"
    call = {"tool": "bash", "input": {"command": command}}
    await in_db(prompt, alice, session, script([call]))
    running = asyncio.create_task(run_session(session.pk))
    if point == "command":
        await until(lambda: Part.objects.filter(session=session, type="tool").exists())
        await asyncio.sleep(0.5)
    else:
        await asyncio.wait_for(reached.wait(), 25)
    await stop(alice, session)
    await asyncio.wait_for(running, 25)
    await quiet()
    texts = await in_db(stored, session)
    assert texts
    assert max(len(text) for text in texts) < MOST_CHARS
