from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone

from opencode_web.lib.compiled import (
    CompiledBulkUpdate,
    CompiledInsert,
    CompiledQuery,
    CompiledUpdate,
    write_columns,
)
from teams.models import AuditEntry, Membership, Team, User

_MEMBERS: CompiledQuery[Membership] = CompiledQuery(
    lambda team_id, role: (
        Membership.objects.filter(team=team_id, role=role)
        .select_related("team", "user")
        .annotate(email=F("user__email"))
        .order_by("pk")
    ),
    str,
    str,
)
_RENAME: CompiledUpdate[Team] = CompiledUpdate(
    lambda slug, name, length: Team.objects.filter(slug=slug),
    lambda slug, name, length: {"name": name, "created_at": F("created_at") + length},
    str,
    str,
    timedelta,
)
_BY_NUMBER: CompiledQuery[User] = CompiledQuery(
    lambda user_id: User.objects.filter(Q(pk=user_id), is_active=True)[:1], int
)


def test_it_gives_what_the_query_gives(alice: User, bob: User, vera: User, team: Team) -> None:
    for role in ("owner", "member", "viewer", "owner"):
        fresh = Membership.objects.filter(team=team, role=role).order_by("pk")
        assert _MEMBERS.all(team.pk, role) == list(fresh)
    (row,) = _MEMBERS.all(team.pk, "member")
    assert (row.user, row.team, row.email) == (bob, team, "bob@example.com")  # type: ignore[attr-defined]
    assert row.user.preferences == bob.preferences
    assert row.team.config == {}


def test_it_is_built_once(alice: User, bob: User, django_assert_num_queries: Any) -> None:
    built = 0

    def build(user_id: int) -> Any:
        nonlocal built
        built += 1
        return User.objects.filter(pk=user_id)

    query: CompiledQuery[User] = CompiledQuery(build, int)
    with django_assert_num_queries(3):
        assert [query.first(user.pk) for user in (alice, bob)] == [alice, bob]
        assert query.first(0) is None
    assert built == 1


def test_related_rows_need_no_further_query(
    alice: User, team: Team, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(1):
        row = _MEMBERS.first(team.pk, "owner")
        assert row is not None
        assert (row.user.email, row.team.slug) == ("alice@example.com", "acme")


def test_each_call_makes_fresh_objects(alice: User) -> None:
    first, second = _BY_NUMBER.first(alice.pk), _BY_NUMBER.first(alice.pk)
    assert first == second == alice
    assert first is not second


@pytest.mark.parametrize("value", ["", "x' OR 1=1 --", "%s", "\x7f"])
def test_a_parameter_is_never_part_of_the_statement(team: Team, value: str) -> None:
    assert _MEMBERS.all(team.pk, value) == []


def test_a_missing_parameter_is_our_fault(team: Team) -> None:
    with pytest.raises(IndexError):
        _MEMBERS.all(team.pk)


def test_it_inserts_many_rows_in_their_order(team: Team) -> None:
    rows = [
        AuditEntry(action=f"test.{number}", team=team, data={"number": number})
        for number in range(450)
    ]
    CompiledInsert(AuditEntry).write(rows)
    stored = list(AuditEntry.objects.filter(action__startswith="test.").order_by("pk"))
    assert [entry.pk for entry in rows] == [entry.pk for entry in stored]
    assert [entry.data for entry in stored] == [{"number": number} for number in range(450)]


def test_it_replaces_only_what_it_was_told_to(team: Team) -> None:
    insert = CompiledInsert(Team, replace=["config"])
    insert.write([Team(pk=team.pk, slug=team.slug, name="Other", config={"model": "a/b"})])
    team.refresh_from_db()
    assert (team.name, team.config) == ("Acme", {"model": "a/b"})


def test_it_updates_one_column_of_the_rows_that_are_there(team: Team) -> None:
    other = Team.objects.create(slug="other", name="Other")
    CompiledBulkUpdate(Team, "config").write({team.pk: {"é": [1]}, "gone": {"b": 2}, other.pk: {}})
    team.refresh_from_db()
    other.refresh_from_db()
    assert (team.config, team.slug, other.config) == ({"é": [1]}, "acme", {})
    assert Team.objects.count() == 2
    CompiledBulkUpdate(Team, "config").write({})


def test_it_updates_the_rows_of_a_query(team: Team, django_assert_num_queries: Any) -> None:
    other, began = Team.objects.create(slug="other", name="Other"), team.created_at
    with django_assert_num_queries(3):
        assert _RENAME.write("acme", "One % ? %s", timedelta(days=2)) == 1
        assert _RENAME.write("acme", "Two", timedelta(seconds=-1)) == 1
        assert _RENAME.write("gone", "Three", timedelta()) == 0
    team.refresh_from_db()
    other.refresh_from_db()
    assert (team.name, other.name) == ("Two", "Other")
    assert team.created_at - began == timedelta(days=2, seconds=-1)


def test_a_fault_is_one_of_djangos_and_ends_the_transaction(team: Team) -> None:
    same = Team(slug=team.slug, name="Same", created_at=timezone.now())
    with pytest.raises(IntegrityError), transaction.atomic():
        CompiledInsert(Team).write([same])
    with transaction.atomic():
        transaction.set_rollback(True)
        with pytest.raises(transaction.TransactionManagementError):
            _MEMBERS.all(team.pk, "owner")
        with pytest.raises(transaction.TransactionManagementError):
            write_columns(team, ["name"])
    assert Team.objects.get() == team


def test_it_writes_some_columns_of_a_row(team: Team, django_assert_num_queries: Any) -> None:
    team.name, team.slug, team.config = "Other", "not-written", {"é": [1]}
    with django_assert_num_queries(1):
        write_columns(team, ["name", "config"])
    team.refresh_from_db()
    assert (team.name, team.slug, team.config) == ("Other", "acme", {"é": [1]})


def test_it_writes_a_foreign_key_and_nothing_at_all(
    team: Team, alice: User, django_assert_num_queries: Any
) -> None:
    membership = Membership.objects.get(team=team, user=alice)
    other = Team.objects.create(slug="other", name="Other")
    membership.team = other
    write_columns(membership, ["team_id"])
    assert Membership.objects.get(pk=membership.pk).team == other
    with django_assert_num_queries(0):
        write_columns(membership, [])


def test_a_row_that_is_gone_is_not_written_silently(team: Team) -> None:
    row = Team.objects.create(slug="other", name="Other")
    Team.objects.filter(pk=row.pk).delete()
    with pytest.raises(DatabaseError, match="is gone"):
        write_columns(row, ["name"])
