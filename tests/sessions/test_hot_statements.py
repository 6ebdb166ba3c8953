from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from opencode_web.lib.compiled import CompiledInsert, CompiledQuery, CompiledRows, CompiledUpdate
from opencode_web.lib.crypto import encrypt
from providers import accounts
from providers.models import Credential, ProviderConfig
from sessions import access, authors, inbox, part_ids, secrets, skills
from sessions.actions import prompts
from sessions.changes import steps
from sessions.config import web_search
from sessions.config.cost_limit import PERMISSION
from sessions.events import outbox, store
from sessions.events.projectors import context as epoch_rows
from sessions.events.projectors import inbox as inbox_rows
from sessions.events.projectors import rows
from sessions.models import (
    Compaction,
    ContextEpoch,
    Event,
    Message,
    Part,
    PermissionRequest,
    ProjectSecret,
    RepositoryTrust,
    SavedRule,
    Session,
    SessionInput,
    TeamPlugin,
    TeamSearch,
    TeamSkill,
    ToolDescription,
    Webhook,
)
from sessions.present.conversation import history as shown
from sessions.repository import custom_tools, trust
from sessions.rules import in_force
from sessions.runner.drain import admission, cost_limit
from sessions.runner.files import changes
from sessions.runner.log import history, lease, model_history, pulse
from sessions.runner.offers import plugin_client
from sessions.stream import frames
from teams import access as team_access
from teams import auth
from teams.actions import usage
from teams.models import ApiToken, Spend, UsageEntry, User
from tests.architecture.sources import ROOMS, modules, name_of
from tests.factories import make_token
from tests.sessions.factories import prompt
from tests.sessions.story import tell_whole_turn


def _answer(session: Session) -> Message:
    return Message.objects.filter(session=session, role="assistant")[0]


def _token(session: Session) -> ApiToken:
    return session.project.team.api_tokens.get()


QUERIES: dict[str, tuple[CompiledQuery[Any], Callable[[Session], tuple[str | int, ...]]]] = {
    "providers/accounts.py:_CREDENTIALS": (
        accounts._CREDENTIALS,
        lambda one: (ProviderConfig.objects.get().pk,),
    ),
    "providers/accounts.py:_ROWS": (
        accounts._ROWS,
        lambda one: (one.project.team_id, one.owner_id or 0, "demo"),
    ),
    "sessions/access.py:_SESSION": (access._SESSION, lambda one: (one.owner_id or 0, one.pk)),
    "sessions/access.py:_SESSION_OF_TEAM": (
        access._SESSION_OF_TEAM,
        lambda one: (one.owner_id or 0, one.project.team_id, one.pk),
    ),
    "sessions/authors.py:_MEMBERSHIP": (
        authors._MEMBERSHIP,
        lambda one: (one.owner_id or 0, one.project_id),
    ),
    "sessions/changes/steps.py:_PARTS_SINCE": (steps._PARTS_SINCE, lambda one: (one.pk, 0)),
    "sessions/config/web_search.py:_SEARCH": (
        web_search._SEARCH,
        lambda one: (one.project.team_id,),
    ),
    "sessions/events/outbox.py:_HOOKS": (
        outbox._HOOKS,
        lambda one: (one.project_id, one.project.team_id),
    ),
    "sessions/events/projectors/context.py:_EPOCH": (
        epoch_rows._EPOCH,
        lambda one: (one.pk,),
    ),
    "sessions/events/store.py:_LOCKED": (store._LOCKED, lambda one: (one.pk,)),
    "sessions/inbox.py:_INPUT": (
        inbox._INPUT,
        lambda one: (one.inputs.earliest("admitted_seq").pk,),
    ),
    "sessions/inbox.py:_PENDING": (inbox._PENDING, lambda one: (one.pk,)),
    "sessions/present/conversation/history.py:_PERMISSIONS": (
        shown._PERMISSIONS,
        lambda one: (one.pk,),
    ),
    "sessions/present/conversation/history.py:_QUESTIONS": (
        shown._QUESTIONS,
        lambda one: (one.pk,),
    ),
    "sessions/repository/custom_tools.py:_DESCRIPTION": (
        custom_tools._DESCRIPTION,
        lambda one: (one.project_id, "digest"),
    ),
    "sessions/repository/trust.py:_PACKAGES": (
        trust._PACKAGES,
        lambda one: (one.project.team_id,),
    ),
    "sessions/repository/trust.py:_TRUST": (trust._TRUST, lambda one: (one.project_id,)),
    "sessions/rules/in_force.py:_SAVED": (
        in_force._SAVED,
        lambda one: (one.pk, one.project_id, one.project.team_id),
    ),
    "sessions/runner/drain/admission.py:_LOOK": (admission._LOOK, lambda one: (one.pk,)),
    "sessions/runner/drain/cost_limit.py:_NEWEST": (cost_limit._NEWEST, lambda one: (one.pk,)),
    "sessions/runner/files/changes.py:_PROMPTS": (
        changes._PROMPTS,
        lambda one: (one.pk, one.messages.filter(role="user").latest("seq").pk, one.seq + 1),
    ),
    "sessions/runner/log/history.py:_NEWEST": (history._NEWEST, lambda one: (one.pk, one.seq)),
    "sessions/runner/log/history.py:_NEWEST_PROMPT": (
        history._NEWEST_PROMPT,
        lambda one: (one.pk, one.seq),
    ),
    "sessions/runner/log/history.py:_PARTS": (
        history._PARTS,
        lambda one: (_answer(one).pk,),
    ),
    "sessions/runner/log/model_history.py:_MESSAGES": (
        model_history._MESSAGES,
        lambda one: (one.pk, 0, one.seq),
    ),
    "sessions/runner/log/model_history.py:_PARTS": (
        model_history._PARTS,
        lambda one: (one.pk, 0, one.seq),
    ),
    "sessions/runner/log/model_history.py:_NEWEST_COMPACTION": (
        model_history._NEWEST_COMPACTION,
        lambda one: (one.pk, one.seq),
    ),
    "sessions/runner/offers/plugin_client.py:_NEWEST_PROMPT": (
        plugin_client._NEWEST_PROMPT,
        lambda one: (one.pk,),
    ),
    "sessions/skills.py:_OF_TEAM": (skills._OF_TEAM, lambda one: (one.project.team_id,)),
    "sessions/stream/frames.py:_SESSION": (frames._SESSION, lambda one: (one.pk,)),
    "teams/access.py:_MEMBERSHIP": (
        team_access._MEMBERSHIP,
        lambda one: (one.owner_id or 0, one.project.team.slug),
    ),
    "teams/auth.py:_CANDIDATES": (auth._CANDIDATES, lambda one: (_token(one).prefix,)),
    "teams/auth.py:_MEMBERSHIP": (
        auth._MEMBERSHIP,
        lambda one: (one.owner_id or 0, one.project.team_id),
    ),
    "teams/auth.py:_TOKEN": (auth._TOKEN, lambda one: (_token(one).pk,)),
}
ROWS: dict[str, tuple[CompiledRows, Callable[[Session], tuple[str | int, ...]]]] = {
    "sessions/actions/prompts.py:_MESSAGE": (prompts._MESSAGE, lambda one: (_answer(one).pk,)),
    "sessions/part_ids.py:_PART": (part_ids._PART, lambda one: (Part.objects.all()[0].pk,)),
    "sessions/secrets.py:_STORED": (secrets._STORED, lambda one: (one.project_id,)),
}
INSERTS: dict[str, tuple[CompiledInsert[Any], type[Model]]] = {
    "sessions/events/projectors/context.py:_EPOCHS": (epoch_rows._EPOCHS, ContextEpoch),
    "sessions/events/projectors/inbox.py:_INPUTS": (inbox_rows._INPUTS, SessionInput),
    "sessions/events/projectors/rows.py:_MESSAGES": (rows._MESSAGES, Message),
    "sessions/events/projectors/rows.py:_PARTS": (rows._PARTS, Part),
    "sessions/events/store.py:_EVENTS": (store._EVENTS, Event),
    "teams/actions/usage.py:_ENTRIES": (usage._ENTRIES, UsageEntry),
    "teams/actions/usage.py:_TOTALS": (usage._TOTALS, Spend),
}
UPDATES: dict[str, tuple[CompiledUpdate[Any], Callable[[Session], tuple[Any, ...]]]] = {
    "sessions/events/projectors/inbox.py:_PROMOTE": (
        inbox_rows._PROMOTE,
        lambda one: (one.pk, one.inputs.latest("admitted_seq").pk, 77),
    ),
    "sessions/runner/log/lease.py:_TAKE": (
        lease._TAKE,
        lambda one: (one.pk, "worker", 8, timedelta(seconds=30)),
    ),
    "sessions/runner/log/lease.py:_RELEASE": (lease._RELEASE, lambda one: (one.pk, one.run.token)),
}
# The database refuses to delete what this one writes: see the tests of the audit log.
APPENDED = {"teams/audit.py:_ENTRIES"}
BULK_UPDATES = {"sessions/runner/log/pulse.py:_DATA": (pulse._DATA, Part)}
_MADE = re.compile(
    r"^(_\w+)(?:: .+?)? = Compiled(?:Query|Rows|Insert|(?:Bulk)?Update)\(", re.MULTILINE
)
# A moment that the database chooses differs from one statement to the next.
_NEAR = timedelta(seconds=20)


@pytest.fixture
def told(alice: User, session: Session) -> Session:
    """A session of which each of the statements finds something."""
    team = session.project.team
    Credential.objects.create(provider=ProviderConfig.objects.get(), secret=encrypt("x"))
    make_token(alice, team)
    TeamSearch.objects.create(team=team, kind="exa", updated_at=timezone.now())
    SavedRule.objects.create(
        project=session.project, permission="bash", pattern="ls *", created_at=timezone.now()
    )
    Spend.objects.create(id="one", team=team, start=timezone.now().date(), cost=Decimal("1.5"))
    ProjectSecret.objects.create(
        project=session.project, name="TOKEN", value=encrypt("x"), updated_at=timezone.now()
    )
    known = {"project": session.project, "digest": "digest"}
    RepositoryTrust.objects.create(**known, trusted_at=timezone.now())
    ToolDescription.objects.create(**known, described_at=timezone.now())
    Webhook.objects.create(id="whk_1", team=team, url="https://hooks.example", secret=encrypt("x"))
    now = timezone.now()
    for whose in (team, None):
        TeamPlugin.objects.create(
            team=whose, name="one", version="1.0.0", hooks=["event"], added_at=now, trusted_at=now
        )
    TeamSkill.objects.create(
        team=team, name="release", description="How", text="So", updated_at=timezone.now()
    )
    ContextEpoch.objects.create(
        session=session, revision=1, baseline=["You are"], snapshot={}, baseline_seq=1
    )
    story = tell_whole_turn(session, alice)
    story.ask("more?")
    story.answer()
    Part.objects.create(
        id="prt_step",
        message=_answer(session),
        session=session,
        type="step-start",
        seq=1,
        data={"type": "step-start", "snapshot": "tree"},
    )
    story.waits("make")
    story.questions("Which?", "one", "two")
    prompt(alice, session, "now")
    session.inputs.update(status=SessionInput.Status.PROMOTED)
    prompt(alice, session, "later")
    first, last = session.messages.earliest("seq"), session.messages.latest("seq")
    Compaction.objects.create(
        session=session,
        message=first,
        summary=last,
        seq=first.seq,
        history_from=first.seq,
        tokens_before=2,
        tokens_after=1,
        in_vain=False,
    )
    PermissionRequest.objects.filter(session=session).update(permission=PERMISSION)
    session.refresh_from_db()
    return session


def _contents(row: Any, *, seen: frozenset[int] = frozenset()) -> dict[str, Any]:
    """Returns: the columns, annotations and related rows, which were all loaded with it."""
    if row is None or id(row) in seen:  # a session has its run, which has its session
        return {}
    own = {name: value for name, value in vars(row).items() if name != "_state"}
    loaded = row._state.fields_cache.items()
    return own | {name: _contents(other, seen=seen | {id(row)}) for name, other in loaded}


def test_only_the_statements_of_turn_and_stream_are_compiled() -> None:
    made = {
        f"{name_of(path)}:{name}"
        for path in modules(*ROOMS)
        for name in _MADE.findall(path.read_text())
    }
    known = (QUERIES, ROWS, INSERTS, UPDATES, BULK_UPDATES, APPENDED)
    assert made == {name for names in known for name in names}


def test_a_compiled_query_gives_what_the_orm_gives(
    told: Session, subtests: pytest.Subtests
) -> None:
    for name, (query, to_arguments) in QUERIES.items():
        with subtests.test(name=name):
            arguments = to_arguments(told)
            with transaction.atomic():
                expected = [_contents(row) for row in query.build(*arguments)]
                found = [_contents(row) for row in query.all(*arguments)]
            assert found == expected
            assert found != []


def test_compiled_rows_are_what_the_orm_gives(told: Session, subtests: pytest.Subtests) -> None:
    for name, (query, to_arguments) in ROWS.items():
        with subtests.test(name=name):
            arguments = to_arguments(told)
            found = [tuple(row) for row in query.all(*arguments)]
            assert found == list(query.build(*arguments))
            assert found != []


@pytest.mark.each_database
@pytest.mark.parametrize("name", INSERTS)
def test_a_compiled_insert_writes_what_the_orm_writes(told: Session, name: str) -> None:
    insert, model = INSERTS[name]
    objects = model._default_manager
    columns = [one.attname for one in model._meta.concrete_fields if one.attname != "id"]
    written = objects.order_by("pk").values_list(*columns)
    with transaction.atomic():
        given, expected = list(objects.order_by("pk")), list(written)
        objects.all()._raw_delete(objects.db)  # type: ignore[attr-defined]
        insert.write(given)
        assert list(written) == expected
    assert expected != []


@pytest.mark.each_database
@pytest.mark.parametrize("name", UPDATES)
def test_a_compiled_update_changes_what_the_orm_changes(told: Session, name: str) -> None:
    update, to_arguments = UPDATES[name]
    told.run.title_due = True
    told.run.save()
    arguments = to_arguments(told)
    rows = update.build(*arguments).model._default_manager.order_by("pk").values()
    before = list(rows)
    with transaction.atomic():
        assert update.write(*arguments) == 1
        found = list(rows.all())
        transaction.set_rollback(True)
    assert update.build(*arguments).update(**update.columns(*arguments)) == 1
    assert before != found
    for got, expected in zip(found, rows.all(), strict=True):
        for column, value in expected.items():
            is_moment = isinstance(value, datetime)
            assert abs(got[column] - value) < _NEAR if is_moment else got[column] == value


@pytest.mark.each_database
@pytest.mark.parametrize("name", BULK_UPDATES)
def test_a_compiled_bulk_update_writes_what_the_orm_writes(told: Session, name: str) -> None:
    update, model = BULK_UPDATES[name]
    rows = list(model.objects.order_by("pk"))
    for index, row in enumerate(rows):
        row.data = {"type": "text", "text": f"é {index}"}
    update.write({row.pk: row.data for row in rows})
    found = list(model.objects.order_by("pk").values())
    model.objects.bulk_update(rows, ["data"])
    assert found == list(model.objects.order_by("pk").values())
    assert len(found) > 1
