from __future__ import annotations

import asyncio
import time
from pathlib import Path

import psutil
import pytest
from django.conf import settings

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Conflict
from opencode_web.lib.loop import submit
from providers.llm.messages import ProviderRequest, ToolResultMessage
from sessions.actions.calls import stop_command
from sessions.actions.permissions import reply_permission
from sessions.authors import without_author
from sessions.models import Message, Part, PermissionRequest, Project, Session
from sessions.runner import run_session
from sessions.runner.drain import coordinator, loop
from sessions.runner.drain.advance import begin
from sessions.runner.log.lease import Lease
from sessions.runner.log.steps import Next
from teams.models import AuditEntry, Membership, Role, User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import allow_bash, stop, until


async def test_fr_09_stop_in_mid_stream_keeps_the_text_and_says_who(
    alice: User, bob: User, session: Session
) -> None:
    text = script([{"text": "the first half"}, {"delay_ms": 60_000}, {"text": "never"}])
    await in_db(prompt, alice, session, text)
    drain = asyncio.create_task(run_session(session.pk))
    await until(lambda: Part.objects.filter(session=session, data__text="the first half").exists())
    assert await stop(bob, session)
    await asyncio.wait_for(drain, 25)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert session.outcome_reason == {"reason": "stopped_by", "values": {"name": "Bob"}}
    part = await in_db(Part.objects.get, session=session, data__text="the first half")
    assert part.data["metadata"] == {"interrupted": True}
    assert part.data["time"]["end"]
    answer = await in_db(Message.objects.get, session=session, role="assistant")
    assert answer.data["error"]["name"] == "MessageAbortedError"


def test_a_drain_on_another_loop_than_the_listener_is_stopped(
    transactional_db: None, alice: User, session: Session
) -> None:
    async def stopped() -> None:
        text = script([{"text": "the first half"}, {"delay_ms": 60_000}, {"text": "never"}])
        await in_db(prompt, alice, session, text)
        drain = asyncio.create_task(run_session(session.pk))
        await until(lambda: Part.objects.filter(session=session, type="text").count() == 2)
        assert await stop(alice, session)
        # Before the keeper of the lease looks at the row.
        await asyncio.wait_for(drain, settings.LEASE_S / 8)

    submit(coordinator.listen()).result(5)
    listener = coordinator._listener
    assert listener is not None
    try:
        # A loop in debug mode refuses calls from other threads.
        with asyncio.Runner(debug=True) as runner:
            runner.run(stopped())
        assert not listener.done()
    finally:
        listener.get_loop().call_soon_threadsafe(listener.cancel)
    session.refresh_from_db()
    assert session.outcome == "stopped"


async def test_fr_09_stop_kills_the_process_tree_of_a_command(
    alice: User, session: Session, project: Project
) -> None:
    await in_db(allow_bash, session)
    command = "echo started; (setsid sleep 4711 &) ; sleep 4712"
    await in_db(prompt, alice, session, script([{"tool": "bash", "input": {"command": command}}]))
    drain = asyncio.create_task(run_session(session.pk))

    def sleepers() -> list[str]:
        lines = [" ".join(p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"])]
        return [line for line in lines if line in ("sleep 4711", "sleep 4712")]

    await until(lambda: len(sleepers()) == 2)
    await stop(alice, session)
    await asyncio.wait_for(drain, 25)
    assert sleepers() == []
    part = await in_db(Part.objects.get, session=session, type="tool")
    assert part.data["state"]["status"] == "error"
    assert "Stopped by Alice" in part.data["state"]["error"]
    assert part.data["state"]["metadata"]["output"].strip() == "started"


@pytest.mark.parametrize("loss", ["removed", "demoted", "deactivated"])
async def test_a_command_ends_when_its_person_may_work_no_longer(
    alice: User, bob: User, session: Session, monkeypatch: pytest.MonkeyPatch, loss: str
) -> None:
    def lose() -> None:
        match loss:
            case "removed":
                Membership.objects.filter(user=bob).delete()
            case "demoted":
                Membership.objects.filter(user=bob).update(role=Role.VIEWER)
            case "deactivated":
                User.objects.filter(pk=bob.pk).update(is_active=False)

    monkeypatch.setattr(coordinator, "AUTHORS_S", 0.1)
    await in_db(allow_bash, session)
    command = {"command": "echo started; touch begun; sleep 4713"}
    await in_db(prompt, bob, session, script([{"tool": "bash", "input": command}]))
    drain = asyncio.create_task(run_session(session.pk))
    await until((Path(session.project.directory) / "begun").exists)
    await in_db(lose)
    await asyncio.wait_for(drain, 25)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "stopped")
    assert session.outcome_reason["reason"] == "author_gone"
    part = await in_db(Part.objects.get, session=session, type="tool")
    assert part.data["state"]["status"] == "error"
    assert not [p for p in psutil.process_iter(["cmdline"]) if "4713" in (p.info["cmdline"] or ())]


async def test_a_turn_goes_on_for_somebody_who_took_it_over_from_a_removed_person(
    alice: User, bob: User, session: Session, project: Project
) -> None:
    await in_db(prompt, bob, session, script([{"text": "of bob"}]))
    await run_session(session.pk)
    await in_db(Membership.objects.filter(user=bob).delete)
    assert await in_db(without_author, [session.pk]) == [session.pk]
    await in_db(prompt, alice, session, script([{"text": "of alice"}]))
    await run_session(session.pk)
    assert await in_db(without_author, [session.pk]) == []


async def test_a_turn_that_begins_slowly_is_not_that_of_the_removed_person_before(
    alice: User, bob: User, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin_slowly(lease: Lease) -> Next | None:
        time.sleep(0.5)
        return begin(lease)

    monkeypatch.setattr(coordinator, "AUTHORS_S", 0.05)
    await in_db(prompt, bob, session, script([{"text": "of bob"}]))
    await run_session(session.pk)
    await in_db(Membership.objects.filter(user=bob).delete)
    monkeypatch.setattr(loop, "begin", begin_slowly)
    await in_db(prompt, alice, session, script([{"text": "of alice"}]))
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "done")


async def test_a_stopped_command_keeps_its_output_for_the_model_and_while_it_runs(
    alice: User, session: Session, requests: list[ProviderRequest]
) -> None:
    await in_db(allow_bash, session)
    call = {"tool": "bash", "input": {"command": "echo so far; sleep 4714"}}
    await in_db(prompt, alice, session, script([call]))
    drain = asyncio.create_task(run_session(session.pk))
    running = Part.objects.filter(session=session, data__state__status="running")
    await until(lambda: running.filter(data__state__metadata__output="so far\n").exists())
    await stop(alice, session)
    await asyncio.wait_for(drain, 25)
    await in_db(prompt, alice, session, script([{"text": "fine"}]))
    await run_session(session.pk)
    result = next(m for m in requests[-1].messages if isinstance(m, ToolResultMessage))
    assert result.is_error
    assert result.output == ("so far\n\n<shell_metadata>\nStopped by Alice.\n</shell_metadata>")


async def test_stop_while_waiting_cancels_the_request(
    alice: User, session: Session, project: Project
) -> None:
    text = script([{"tool": "bash", "input": {"command": "touch made"}}])
    await in_db(prompt, alice, session, text)
    await run_session(session.pk)
    await stop(alice, session)
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.state, session.outcome) == ("idle", "stopped")
    request = await in_db(PermissionRequest.objects.get, session=session)
    assert request.status == "cancelled"
    assert not (Path(project.directory) / "made").exists()


async def test_fr_09_stop_of_an_idle_session_is_a_no_op(alice: User, session: Session) -> None:
    before = session.seq
    assert not await stop(alice, session)
    await in_db(session.refresh_from_db)
    assert session.seq == before


async def test_a_stop_during_a_stop_is_a_no_op(alice: User, bob: User, session: Session) -> None:
    await in_db(prompt, alice, session, script([{"delay_ms": 60_000}, {"text": "never"}]))
    await stop(bob, session)
    await stop(alice, session)
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert session.outcome_reason == {"reason": "stopped_by", "values": {"name": "Bob"}}


async def test_the_next_prompt_works_after_a_stop(alice: User, session: Session) -> None:
    await in_db(prompt, alice, session, script([{"delay_ms": 60_000}, {"text": "never"}]))
    drain = asyncio.create_task(run_session(session.pk))
    await until(lambda: Message.objects.filter(session=session, role="assistant").exists())
    await stop(alice, session)
    await asyncio.wait_for(drain, 25)
    again = script(turns=[], otherwise=[{"events": [{"text": "fine"}]}])
    await in_db(prompt, alice, session, again)
    await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert session.outcome == "done"
    assert await in_db(Part.objects.filter(session=session, data__text="fine").exists)


async def test_two_people_answer_and_the_first_one_wins(
    alice: User, bob: User, session: Session
) -> None:
    await in_db(prompt, alice, session, script([{"tool": "bash", "input": {"command": "true"}}]))
    await run_session(session.pk)
    request = await in_db(PermissionRequest.objects.get, session=session)
    await in_db(reply_permission, await in_db(session_access, bob, session), request, reply="once")
    access = await in_db(session_access, alice, session)
    with pytest.raises(Conflict, match="Bob allowed it once"):
        await in_db(reply_permission, access, request, reply="reject")


async def test_a_command_is_stopped_by_itself_and_the_turn_goes_on(
    alice: User, bob: User, session: Session
) -> None:
    await in_db(allow_bash, session)
    slow = {"tool": "bash", "input": {"command": "echo started; sleep 4713"}}
    quick = {"tool": "bash", "input": {"command": "echo other"}}
    await in_db(prompt, alice, session, script([slow, quick], [{"text": "went on"}]))
    drain = asyncio.create_task(run_session(session.pk))
    parts = Part.objects.filter(session=session, type="tool")
    running = parts.filter(data__state__input__command__startswith="echo started")
    await until(lambda: any(sleepers("sleep 4713")) and running.exists())
    part = await in_db(running.get)
    await in_db(lambda: stop_command(session_access(bob, session), part.pk))
    await asyncio.wait_for(drain, 25)
    assert not sleepers("sleep 4713")
    await in_db(part.refresh_from_db)
    state = part.data["state"]
    assert state["status"] == "completed"
    assert (state["metadata"]["stoppedBy"], state["metadata"]["exit"]) == ("Bob", None)
    assert state["metadata"]["output"].strip() == "started"
    assert state["output"].startswith("started\n\n")
    assert "Bob stopped the command" in state["output"]
    other = await in_db(parts.exclude(pk=part.pk).get)
    assert other.data["state"]["output"] == "other"
    await in_db(session.refresh_from_db)
    assert session.outcome == "done"
    assert await in_db(Part.objects.filter(session=session, data__text="went on").exists)
    entry = await in_db(AuditEntry.objects.select_related("actor").get, action="command.stopped")
    assert (entry.actor, entry.data["part"]) == (bob, part.pk)
    with pytest.raises(Conflict):
        await in_db(lambda: stop_command(session_access(bob, session), part.pk))


def sleepers(line: str) -> list[str]:
    found = [" ".join(p.info["cmdline"] or ()) for p in psutil.process_iter(["cmdline"])]
    return [one for one in found if one == line]
