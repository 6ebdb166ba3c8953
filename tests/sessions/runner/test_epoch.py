from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from django.db import transaction

from sessions.events.context import EpochReason
from sessions.events.store import append, lock_session
from sessions.models import ContextEpoch, Project, Session
from sessions.runner.context.epoch import Context, prepare_context, replace_epoch
from sessions.runner.context.source import ContextInputs
from tests.sessions.runner.context.inputs import BUILD, make_inputs

Boundary = Callable[[ContextInputs], Context]


@pytest.fixture
def inputs(project: Project) -> ContextInputs:
    return make_inputs(Path(project.directory))


@pytest.fixture
def boundary(session: Session) -> Boundary:
    """What start_turn does with the context, in a transaction of its own."""

    def prepare(inputs: ContextInputs) -> Context:
        with transaction.atomic():
            locked = lock_session(session.pk)
            context = prepare_context(locked, inputs)
            append(locked, context.events)
            return context

    return prepare


def _events(session: Session) -> list[str]:
    rows = session.events.filter(type__startswith="context.").order_by("seq")
    return list(rows.values_list("type", flat=True))


def test_fr_03_the_baseline_is_rendered_once_and_stored(
    session: Session, inputs: ContextInputs, boundary: Boundary
) -> None:
    (inputs.worktree / "AGENTS.md").write_text("Use tabs.")
    first = boundary(inputs)
    row = ContextEpoch.objects.get(session=session)
    assert tuple(row.baseline) == first.system
    assert (row.revision, row.ended, row.baseline_seq) == (1, "", 2)
    assert first.system[0] == BUILD.prompt
    assert "Use tabs." in first.system[1]
    assert boundary(inputs) == Context(first.system, (), ())
    assert _events(session) == ["context.started"]


def test_nothing_changed_costs_one_query(
    session: Session,
    inputs: ContextInputs,
    boundary: Boundary,
    django_assert_num_queries: Callable[[int], object],
) -> None:
    boundary(inputs)
    with django_assert_num_queries(1):  # type: ignore[attr-defined]
        prepare_context(session, inputs)


def test_fr_08_all_changes_become_one_durable_message_and_the_baseline_stays(
    session: Session, inputs: ContextInputs, boundary: Boundary
) -> None:
    first = boundary(inputs)
    (inputs.worktree / "AGENTS.md").write_text("Use tabs.")
    second = boundary(replace(inputs, today=date(2026, 1, 3)))
    assert second.system == first.system
    [update] = second.updates
    assert "Today is Saturday, 2026-01-03" in update.text
    assert "Use tabs." in update.text
    row = ContextEpoch.objects.get(session=session)
    assert [(one["seq"], one["text"]) for one in row.updates] == [(update.seq, update.text)]
    assert update.seq == session.events.get(type="context.updated").seq
    # The next boundary knows it: it is told once.
    assert boundary(replace(inputs, today=date(2026, 1, 3))) == replace(second, events=())
    assert _events(session) == ["context.started", "context.updated"]


def test_what_is_gone_is_told_once(
    session: Session, inputs: ContextInputs, boundary: Boundary
) -> None:
    path = inputs.worktree / "AGENTS.md"
    path.write_text("Use tabs.")
    boundary(inputs)
    path.unlink()
    assert "are gone" in boundary(inputs).updates[0].text
    assert len(boundary(inputs).updates) == 1
    assert "core/instructions" not in ContextEpoch.objects.get(session=session).snapshot


@pytest.mark.parametrize("reason", ["compaction", "move"])
def test_fr_07_a_replaced_epoch_has_a_fresh_baseline_and_no_earlier_messages(
    session: Session, inputs: ContextInputs, boundary: Boundary, reason: EpochReason
) -> None:
    boundary(inputs)
    boundary(replace(inputs, today=date(2026, 1, 3)))
    with transaction.atomic():
        locked = lock_session(session.pk)
        replace_epoch(locked, reason=reason)
        replace_epoch(locked, reason=reason)
    later = boundary(replace(inputs, today=date(2026, 1, 4)))
    assert later.updates == ()
    assert "Today is Sunday, 2026-01-04" in later.system[1]
    row = ContextEpoch.objects.get(session=session)
    assert (row.revision, row.updates, row.ended) == (2, [], "")
    assert _events(session) == [
        "context.started",
        "context.updated",
        "context.ended",
        "context.started",
    ]
    assert session.events.filter(type="context.started").last().data["reason"] == reason


def test_replacing_where_there_is_no_epoch_does_nothing(session: Session) -> None:
    with transaction.atomic():
        replace_epoch(lock_session(session.pk), reason="compaction")
    assert _events(session) == []


def test_a_move_begins_another_epoch(
    session: Session, inputs: ContextInputs, boundary: Boundary
) -> None:
    boundary(inputs)
    moved = boundary(replace(inputs, directory=inputs.worktree / "api"))
    assert moved.updates == ()
    assert f"working directory: {inputs.worktree}/api" in moved.system[1]
    assert session.events.filter(type="context.started").last().data["reason"] == "move"


def test_a_snapshot_of_an_older_version_begins_another_epoch(
    session: Session, inputs: ContextInputs, boundary: Boundary
) -> None:
    boundary(inputs)
    with transaction.atomic():
        row = ContextEpoch.objects.get(session=session)
        stale = session.events.get(type="context.started")
        row.snapshot["core/gone"] = stale.data["snapshot"]["core/gone"] = 1
        row.save()
        stale.save()
    boundary(inputs)
    assert session.events.filter(type="context.started").last().data["reason"] == "incompatible"
    assert "core/gone" not in ContextEpoch.objects.get(session=session).snapshot


def test_messages_that_grow_too_long_end_in_a_fresh_baseline(
    session: Session, inputs: ContextInputs, boundary: Boundary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.runner.context.epoch.MAX_UPDATE_CHARS", 2_000)
    boundary(inputs)
    path = inputs.worktree / "AGENTS.md"
    path.write_text("a" * 1_200)
    assert len(boundary(inputs).updates) == 1
    path.write_text("b" * 1_200)
    later = boundary(inputs)
    assert later.updates == ()
    assert "b" * 1_200 in later.system[1]
    assert session.events.filter(type="context.started").last().data["reason"] == "length"
