from __future__ import annotations

import re

import pytest
from django.db import transaction

from teams.audit import AuditAction, record
from teams.models import AuditEntry, Team, User
from teams.models.audit import AppendOnly

pytestmark = pytest.mark.django_db


@pytest.fixture
def entry(alice: User, team: Team) -> AuditEntry:
    return record(AuditAction.CONFIG_CHANGED, actor=alice, team=team, target=team, data={"a": 1})


def test_an_entry_says_who_what_and_to_what(entry: AuditEntry, alice: User, team: Team) -> None:
    stored = AuditEntry.objects.get(pk=entry.pk)
    assert (stored.actor, stored.actor_email, stored.team) == (alice, alice.email, team)
    assert (stored.action, stored.target_type, stored.target_id) == (
        "config.changed",
        "team",
        team.id,
    )
    assert stored.data == {"a": 1}
    assert stored.time.tzinfo is not None


def test_entries_are_never_changed_or_removed(entry: AuditEntry) -> None:
    entry.action = "nothing.happened"
    for act in (
        entry.save,
        entry.delete,
        AuditEntry.objects.all().delete,
        lambda: AuditEntry.objects.update(action="x"),
        lambda: AuditEntry.objects.bulk_update([entry], ["action"]),
        lambda: AuditEntry.objects.update_or_create(pk=entry.pk, defaults={"action": "x"}),
    ):
        with pytest.raises(AppendOnly), transaction.atomic():
            act()
    assert AuditEntry.objects.get(pk=entry.pk).action == "config.changed"


def test_entries_outlive_the_person(entry: AuditEntry, bob: User, team: Team) -> None:
    made = record(AuditAction.USER_CREATED, actor=bob, team=team)
    bob.delete()
    stored = AuditEntry.objects.get(pk=made.pk)
    assert stored.actor_email == "bob@example.com"
    assert stored.actor_id is not None


def test_the_server_itself_may_act() -> None:
    assert record(AuditAction.SESSION_INTERRUPTED, actor=None, team=None).actor_email == ""


def test_names_of_actions_have_one_form() -> None:
    assert all(re.fullmatch(r"[a-z]+\.[a-z_]+", action.value) for action in AuditAction)
    assert max(len(action.value) for action in AuditAction) <= 60
