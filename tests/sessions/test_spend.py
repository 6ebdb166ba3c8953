from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from sessions.models import Project, Session
from sessions.spend import spend_of_owners
from teams.models import Team, User
from tests.factories import make_team
from tests.sessions.factories import make_session

pytestmark = pytest.mark.django_db


def test_sessions_count_for_who_began_them_in_the_time_and_the_team(
    project: Project, team: Team, alice: User, bob: User, django_assert_num_queries: Any
) -> None:
    month = timezone.now() - timedelta(days=3)
    for user, cost, age in ((alice, "1.5", 1), (alice, "2", 2), (bob, "4", 9), (bob, "0", 1)):
        session = make_session(user, project)
        day = timezone.now() - timedelta(days=age)
        Session.objects.filter(pk=session.pk).update(cost=Decimal(cost), created_at=day)
    with django_assert_num_queries(1):
        assert spend_of_owners(team, since=month) == {alice.pk: Decimal("3.5")}
    assert spend_of_owners(make_team(bob, name="Other"), since=month) == {}


def test_the_page_of_members_has_it(
    project: Project, team: Team, alice: User, client: Client
) -> None:
    session = make_session(alice, project)
    Session.objects.filter(pk=session.pk).update(cost=Decimal("7.25"))
    client.force_login(alice)
    assert "$7.25" in client.get("/t/acme/settings/members").content.decode()
