from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from sessions.models import Run, ServerProcess, Session, State
from teams.models import AuditEntry, Role, Team, User
from tests.factories import add_member
from tests.opencode_web.ops.conftest import Turn, make_process

pytestmark = pytest.mark.django_db
WHY = {"reason": "It burns  money\n"}
FRAGMENT = {"HX-Request": "true"}


def act(client: Client, path: str, **sent: Any) -> int:
    return client.post(path, sent or WHY, headers=FRAGMENT).status_code


def test_stopping_a_turn_is_asked_for_and_recorded(
    console: Client, turn: Turn, root: User, team: Team
) -> None:
    session = turn(worker="host:1")
    answer = console.post(f"/ops/turns/{session.pk}/stop", WHY, headers=FRAGMENT)
    assert "The turn is being stopped." in answer.content.decode()
    run = Run.objects.get(session=session)
    assert (run.stop_requested_by, run.stop_by_operator) == (root, True)
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.actor, entry.team) == ("operator.stopped_turn", root, team)
    assert (entry.target_id, entry.told) == (session.pk, {"reason": "It burns money"})
    assert "stopping" in console.get("/ops/turns").content.decode()


def test_an_act_without_scripts_leads_back_to_the_list(console: Client, turn: Turn) -> None:
    answer = console.post(f"/ops/turns/{turn(worker='host:1').pk}/stop", WHY, follow=True)
    assert answer.redirect_chain == [("/ops/turns", 302)]
    assert "The turn is being stopped." in answer.content.decode()


@pytest.mark.parametrize("name", ["stop", "kill", "requeue"])
@pytest.mark.parametrize("reason", ["", "  ", "x" * 301])
def test_a_reason_is_needed(name: str, reason: str, console: Client, turn: Turn) -> None:
    session = turn()
    before = AuditEntry.objects.count()
    assert act(console, f"/ops/turns/{session.pk}/{name}", reason=reason) == 400
    assert Run.objects.get(session=session).stop_requested_at is None
    assert AuditEntry.objects.count() == before


@pytest.mark.parametrize("name", ["stop", "kill", "requeue"])
def test_what_is_over_is_left_alone(name: str, console: Client, turn: Turn) -> None:
    session = turn(State.IDLE)
    before = AuditEntry.objects.count()
    assert act(console, f"/ops/turns/{session.pk}/{name}") == 409
    assert AuditEntry.objects.count() == before


def test_only_a_turn_without_a_living_worker_is_queued_again(console: Client, turn: Turn) -> None:
    held, lost = turn(worker="host:1"), turn(worker="host:2")
    Run.objects.filter(session=lost).update(lease_until=timezone.now() - timedelta(seconds=5))
    assert act(console, f"/ops/turns/{held.pk}/requeue") == 409
    assert act(console, f"/ops/turns/{turn(State.WAITING).pk}/requeue") == 409
    assert act(console, f"/ops/turns/{lost.pk}/requeue") == 200
    run = Run.objects.get(session=lost)
    # The name tells whoever takes it up that the last owner died.
    assert (run.lease_until, run.token, run.owner) == (None, 8, "host:2")
    assert Run.objects.get(session=held).token == 7


def test_a_worker_drains_and_takes_up_sessions_again(
    console: Client, worker: ServerProcess, root: User
) -> None:
    path = f"/ops/workers/{worker.pk}"
    assert "Drain…" in console.get(path, headers=FRAGMENT).content.decode()
    assert act(console, f"{path}/resume") == 409
    assert act(console, f"{path}/drain") == 200
    assert act(console, f"{path}/drain") == 409
    worker.refresh_from_db()
    assert worker.drain_since is not None
    assert worker.drain_by == root
    assert "Stop draining…" in console.get(path, headers=FRAGMENT).content.decode()
    assert act(console, f"{path}/resume") == 200
    worker.refresh_from_db()
    assert worker.drain_since is None
    done = AuditEntry.objects.filter(target_id=worker.pk).order_by("id")
    assert [entry.action for entry in done] == [
        "operator.drained_worker",
        "operator.resumed_worker",
    ]


def test_a_process_that_serves_pages_cannot_drain(console: Client) -> None:
    make_process("host:9", ServerProcess.Kind.WEB)
    assert act(console, "/ops/workers/host:9/drain") == 409


@pytest.mark.parametrize(
    "path", ["turns/ses_none/stop", "turns/{}/explode", "workers/none/drain", "workers/x:1/explode"]
)
def test_what_is_not_there_is_not_found(path: str, console: Client, turn: Turn) -> None:
    make_process("x:1")
    assert act(console, f"/ops/{path.format(turn().pk)}") == 404


def test_nobody_else_may(
    client_for: Callable[[User | None], Client],
    turn: Turn,
    worker: ServerProcess,
    team: Team,
    alice: User,
) -> None:
    session: Session = turn(worker=worker.name)
    staff = User.objects.create(email="staff@example.com", is_staff=True)
    add_member(team, staff, Role.ADMIN)
    paths = (f"/ops/turns/{session.pk}", f"/ops/workers/{worker.pk}")
    for who in (alice, staff):
        client = client_for(who)
        for path, name in zip(paths, ("stop", "drain"), strict=True):
            assert client.get(path).status_code == 404
            assert act(client, f"{path}/{name}") == 404
    assert Run.objects.get(session=session).stop_requested_at is None
    worker.refresh_from_db()
    assert worker.drain_since is None


def test_an_operator_who_was_switched_off_is_none(console: Client, root: User, turn: Turn) -> None:
    session = turn()
    root.is_superuser = False
    root.save()
    assert act(console, f"/ops/turns/{session.pk}/stop") == 404
