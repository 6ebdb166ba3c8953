from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.db import transaction
from django.test import Client
from pytest_django import DjangoDbBlocker

from teams.audit import AuditAction
from teams.models import AuditEntry
from tests.architecture.audit_table import DOORS, IDLE, Recorded
from tests.architecture.test_access_matrix import ASYNC, ROWS, World, _address, _body, _make_world
from tests.teams.test_page_access import TABLE

CHANGING = [row for row in ROWS if row.method != "get"]
NAMES = [*map(str, CHANGING), *(f"{one.method} {one.name}" for one in TABLE if one.method != "get")]


def pattern_of(name: str) -> str:
    return next((pattern for pattern in DOORS if re.fullmatch(pattern, name)), "")


def recorded_by(name: str) -> Recorded:
    return DOORS[pattern_of(name)]


@pytest.fixture(scope="module")
def world(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[World]:
    with django_db_blocker.unblock(), transaction.atomic():
        yield _make_world(tmp_path_factory.mktemp("world") / "shop")
        transaction.set_rollback(True)


def test_every_route_that_changes_something_is_recorded_or_says_why_not() -> None:
    assert [name for name in NAMES if not pattern_of(name)] == []
    assert set(DOORS) - {pattern_of(name) for name in NAMES} == set()
    assert IDLE - set(NAMES) == set()


@pytest.mark.django_db
@pytest.mark.deep
def test_what_the_table_says_is_recorded(world: World) -> None:
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = world.keys[0]
    wrong = {}
    for row in CHANGING:
        if row.route in ASYNC or str(row) in IDLE:
            continue
        with transaction.atomic():
            last = AuditEntry.objects.order_by("-pk").values_list("pk", flat=True)[0]
            answer = getattr(client, row.method)(
                _address(row, world.names), **_body(row, world.names)
            )
            entries = AuditEntry.objects.filter(pk__gt=last)
            found = {(one.action, one.actor_email, one.ip) for one in entries}
            transaction.set_rollback(True)
        expected = recorded_by(str(row))
        actions = {action for action, _, _ in found}
        by_alice = {("alice@example.com", "127.0.0.1")}
        if answer.status_code >= 400:
            is_right = actions <= {AuditAction.ACCESS_DENIED}
        elif isinstance(expected, AuditAction):
            is_right = expected in actions and {(who, ip) for _, who, ip in found} == by_alice
        else:
            is_right = not actions
        if not is_right:
            wrong[str(row)] = (answer.status_code, found)
    assert wrong == {}
