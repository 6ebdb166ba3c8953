from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from providers.models import ProviderConfig
from sessions.models import Session
from teams.audit import AuditAction, record
from teams.models import Team, User
from tests.factories import make_team

pytestmark = pytest.mark.django_db

ClientFor = Callable[[User | None], Client]
PAGE = "/t/acme/settings/audit"


def test_sessions_projects_and_providers_are_links(
    client_for: ClientFor, alice: User, team: Team, session: Session
) -> None:
    Session.objects.filter(pk=session.pk).update(title="Mend <the> till")
    row = ProviderConfig.objects.create(team=team, provider_id="own", name="Own", kind="scripted")
    project = session.project
    for action, target, data in (
        (AuditAction.SESSION_REVERTED, session, {}),
        (AuditAction.PROJECT_UPDATED, project, {}),
        (AuditAction.PROVIDER_UPDATED, row, {"provider": "own", "key": "added"}),
        (AuditAction.SHARE_CREATED, None, {"session": session.pk}),
        (AuditAction.TERMINAL_OPENED, None, {"project": project.pk}),
    ):
        record(action, actor=None, team=team, target=target, data=data)
    page = client_for(alice).get(PAGE).content.decode()
    told = f'<a href="/t/acme/s/{session.pk}">Mend &lt;the&gt; till</a>'
    assert f"rolled back the session {told}." in page
    assert f"shared the session {told}." in page
    assert f'the project <a href="/t/acme/p/{project.pk}/">{project.name}</a>.' in page
    assert f'a terminal in the project <a href="/t/acme/p/{project.pk}/">' in page
    key = 'added a key to the provider <a href="/t/acme/settings/models/p/own">Own</a>.'
    assert key in page


def test_what_is_gone_has_its_name_and_no_link(
    client_for: ClientFor, alice: User, team: Team, session: Session
) -> None:
    record(AuditAction.SESSION_DELETED, actor=None, team=team, target=session, data={"title": "T"})
    record(AuditAction.SESSION_RENAMED, actor=None, team=team, target=session)
    session_id = session.pk
    session.delete()
    page = client_for(alice).get(PAGE).content.decode()
    assert "deleted the session T." in page
    assert f"renamed the session {session_id}." in page
    assert f"/s/{session_id}" not in page


def test_a_page_of_entries_costs_the_same_for_many(
    client_for: ClientFor,
    alice: User,
    team: Team,
    session: Session,
    django_assert_max_num_queries: Callable[[int], object],
) -> None:
    client = client_for(alice)
    client.get(PAGE)
    for _ in range(40):
        record(AuditAction.SESSION_REVERTED, actor=alice, team=team, target=session)
        record(AuditAction.PROJECT_UPDATED, actor=alice, team=team, target=session.project)
    with django_assert_max_num_queries(14):  # type: ignore[attr-defined]
        client.get(PAGE)


def test_names_of_another_team_are_not_told(
    client_for: ClientFor, alice: User, bob: User, team: Team, session: Session
) -> None:
    other = make_team(bob, name="Other")
    Session.objects.filter(pk=session.pk).update(title="Unheard-of")
    record(AuditAction.SHARE_CREATED, actor=bob, team=other, data={"session": session.pk})
    page = client_for(bob).get("/t/other/settings/audit").content.decode()
    assert "Unheard-of" not in page
