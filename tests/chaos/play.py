"""Play one scenario against a running installation, by its HTTP API as a client would."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from opencode_web.lib.ids import new_id
from sessions.models import Event, PermissionRequest, Run, Session, SessionInput
from tests.chaos.scenarios import Scenario
from tests.chaos.target import Target
from tests.chaos.verdict import complaints, newest_text
from tests.chaos.worktrees import (
    complaints_about_drop,
    complaints_about_worktree,
    files_of,
    has_job,
    is_ready,
)

REACH_S = 45
SETTLE_S = 90
# More than the scripted model may take up.
FULL_TOKENS = 190_000
INLINE = {"providerID": "demo", "modelID": "inline"}


@dataclass(frozen=True)
class Result:
    scenario: Scenario
    complaints: list[str]
    # From the fault to the first event that was written after it.
    recovery_s: float | None = None


class Player:
    """One session of one seed."""

    def __init__(self, server: Target, scenario: Scenario) -> None:
        self._server = server
        self._scenario = scenario
        self._client = server.client()
        self._acknowledged: set[str] = set()

    def play(self) -> Result:
        scenario, chaos = self._scenario, self._server.chaos
        action = "ask" if scenario.asks else "allow"
        rules = [{"permission": "bash", "pattern": "*", "action": action}]
        body: dict[str, Any] = {"permission": rules, "worktree": scenario.in_worktree}
        session = str(self._send("/session", body)["id"])
        if not (scenario.asks or scenario.then):
            self._arm(session)
        message = self._ask(session, scenario.steps, compacts=scenario.compacts)
        wrong: list[str] = []
        if scenario.then:
            struck, wrong = self._work_with_files(session, message)
        else:
            struck = self._suspend(session) if scenario.asks else self._strike(session)
        if not _until(lambda: _is_settled(session), SETTLE_S):
            return Result(scenario, [f"{session} is stuck after {SETTLE_S} s: {_state(session)}"])
        # Without: another seed's fault has ended the process before it came to the point.
        recovery_s = _recovery_s(session, struck) if struck else None
        (chaos / "armed" / session).unlink(missing_ok=True)
        self._ask(session, [[{"text": "still here"}]])
        if not _until(lambda: _is_settled(session), SETTLE_S):
            return Result(scenario, [f"{session} takes no next prompt: {_state(session)}"])
        found = wrong + complaints(
            session,
            acknowledged=self._acknowledged,
            effects=scenario.effects,
            # Another seed's fault may have ended the step that fills the context.
            compacted=scenario.compacts and struck is not None,
            file=Path(Session.objects.get(pk=session).directory) / "effects.txt",
        )
        if scenario.in_worktree:
            found += complaints_about_worktree(session)
        if newest_text(session) != "still here":
            found.append(f"the next prompt is answered by {newest_text(session)!r}")
        return Result(scenario, [f"{session}: {one}" for one in found], recovery_s)

    def _arm(self, session: str) -> None:
        scenario = self._scenario
        line = f"{scenario.point} {scenario.strikes} {scenario.fault}"
        (self._server.chaos / "armed" / session).write_text(line)

    def _work_with_files(self, session: str, message: str) -> tuple[datetime | None, list[str]]:
        """Drop the worktree, or take the turn back and bring it again, with a fault meanwhile.

        Returns: when the fault struck, and what is wrong.
        """
        if not _until(lambda: _is_settled(session), SETTLE_S):
            return None, ["its turn does not end"]
        if not is_ready(session):
            # Other seeds' faults ended the turn while its worktree was being made, so nothing of it
            # ran. The next prompt makes it.
            message = self._ask(session, self._scenario.steps)
            if not _until(lambda: _is_settled(session) and is_ready(session), SETTLE_S):
                return None, ["its worktree is not made"]
        before = files_of(session)
        self._arm(session)
        if self._scenario.then == "drop":
            self._send(f"/session/{session}/worktree/drop", {})
            struck = self._strike(session, lambda: not has_job(session))
            # A job that died with its worker is taken up when a beat finds it forgotten.
            if not _until(lambda: not has_job(session), 2 * SETTLE_S):
                return struck, ["its worktree is not dropped"]
            return struck, complaints_about_drop(session, before)
        self._send(f"/session/{session}/revert", {"messageID": message})
        struck = self._strike(session)
        if not _until(lambda: _is_settled(session), SETTLE_S):
            return struck, ["its files are not put back"]
        left = files_of(session)
        self._send(f"/session/{session}/unrevert", {})
        wrong = [f"after the rollback there is {sorted(left)}"] if left else []
        if not _until(lambda: _is_settled(session), SETTLE_S) or files_of(session) != before:
            wrong.append(f"of {sorted(before)} came back {sorted(files_of(session))}")
        return struck, wrong

    def _send(self, path: str, body: dict[str, Any]) -> Any:
        """Repeat until the server answers: the fault may strike it, too."""
        until = time.monotonic() + SETTLE_S
        is_repeated = False
        while True:
            try:
                answer = self._client.post(path, json=body)
            except httpx.TransportError:
                answer, is_repeated = None, True
            if answer is not None and answer.status_code == 409 and is_repeated:
                return None  # the first one was carried out, only its answer was lost
            if answer is not None and answer.status_code < 500:
                assert answer.status_code < 300, answer.text
                return answer.json() if answer.content else None
            assert time.monotonic() < until, f"{path} is not answered: {answer and answer.text}"
            time.sleep(0.1)

    def _ask(
        self, session: str, steps: list[list[dict[str, Any]]], *, compacts: bool = False
    ) -> str:
        """Returns: the id of the prompt."""
        turn: list[dict[str, Any]] = [{"events": events} for events in steps]
        if compacts:
            turn[0]["usage"] = {"input": FULL_TOKENS}
        script = {"name": "chaos", "turns": [turn] * 9, "otherwise": turn[-1:]}
        script["summary"] = {"events": [{"text": "Notes. "}, {"delay_ms": 30}] * 5}
        message = new_id("msg")
        body = {
            "messageID": message,
            "model": INLINE,
            # With an id of its own, so that a repetition is exact.
            "parts": [{"type": "text", "text": f"<<script{json.dumps(script)}>>"}],
        }
        self._send(f"/session/{session}/prompt_async", body)
        self._acknowledged.add(message)
        return message

    def _strike(self, session: str, is_over: Callable[[], bool] | None = None) -> datetime | None:
        """Wait for the fault, and carry it out where a process cannot do it itself."""
        held = self._server.chaos / "reached" / session
        is_over = is_over or (lambda: _is_settled(session))
        if not _until(lambda: held.exists() or is_over(), REACH_S):
            return None
        if not held.exists():
            return None
        struck = datetime.fromtimestamp(held.stat().st_ctime, UTC)
        if self._scenario.fault != "kill":
            self._server.strike(self._scenario.fault)
        held.unlink()
        return struck

    def _suspend(self, session: str) -> datetime | None:
        """Wait for the question, strike, then answer it."""
        waiting = PermissionRequest.objects.filter(session=session, status="pending")
        if not _until(lambda: waiting.exists() and _state(session) == "waiting", REACH_S):
            return None
        self._server.strike(self._scenario.fault)
        struck = datetime.now(UTC)
        while request := waiting.first():
            self._send(f"/permission/{request.pk}/reply", {"reply": "once"})
            # Of two calls of one step the second may ask once the first has run.
            _until(lambda: _is_settled(session) or waiting.exists(), SETTLE_S)
        return struck


def _state(session: str) -> str:
    return Session.objects.values_list("state", flat=True).get(pk=session)


def _is_settled(session: str) -> bool:
    """Idle, with nothing to take up and nobody who holds the lease."""
    waiting = SessionInput.objects.filter(session=session, status="admitted")
    held = Run.objects.filter(session=session).exclude(lease_until=None)
    return _state(session) == "idle" and not waiting.exists() and not held.exists()


def _recovery_s(session: str, struck: datetime) -> float | None:
    first = Event.objects.filter(session=session, time__gt=struck).order_by("seq").first()
    return (first.time - struck).total_seconds() if first else None


def _until(check: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not check():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
