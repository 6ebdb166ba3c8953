from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from sessions.actions.shares import create_share
from sessions.events.replay import rebuild
from sessions.models import Event, Project, Session, Share
from sessions.shares.links import share_id_of, share_token
from sessions.wire import session_to_wire
from teams.models import AuditEntry, Team, User
from tests.sessions.api.conftest import Connect
from tests.sessions.factories import make_session, session_access
from tests.sessions.projection import assert_log_equals_rows

pytestmark = pytest.mark.django_db
JSON = "application/json"


def test_a_session_is_shared_with_its_team_and_not_any_more(
    alice: User, session: Session, connect: Connect
) -> None:
    client = connect(alice)
    path = f"/session/{session.pk}"
    assert "share" not in client.get(path).json()
    url = client.post(f"{path}/share", content_type=JSON).json()["share"]["url"]
    (share,) = Share.objects.all()
    assert url == f"http://127.0.0.1:4096/share/{share_token(share.pk)}"
    assert (share.scope, share.details, share.expires_at) == ("team", False, None)
    # Once more is the same link, wherever the session is read.
    assert client.post(f"{path}/share", content_type=JSON).json()["share"] == {"url": url}
    assert client.get(path).json()["share"] == {"url": url}
    assert client.get("/session").json()[0]["share"] == {"url": url}
    assert "share" not in client.delete(f"{path}/share").json()
    assert "share" not in client.get(path).json()
    assert not Share.objects.open().exists()
    trail = AuditEntry.objects.filter(action__startswith="share.").order_by("pk")
    assert [(one.action, one.target_id) for one in trail] == [
        ("share.created", share.pk),
        ("share.revoked", share.pk),
    ]
    assert trail[0].data == {"session": session.pk, "scope": "team", "details": False, "until": ""}


def test_what_opens_a_link_is_stored_nowhere(alice: User, session: Session) -> None:
    share = create_share(session_access(alice, session), details=True, days=7)
    token = share_token(share.pk)
    assert share_id_of(token) == share.pk
    assert share_id_of(token[:-1] + ("0" if token[-1] != "0" else "1")) is None
    for wrong in ("", token[:26], token.upper(), f"{token}0", "é" * 66, "../" * 22):
        assert share_id_of(wrong) is None
    session.refresh_from_db()
    stored = json.dumps(
        [
            list(Event.objects.values_list("data", flat=True)),
            list(AuditEntry.objects.values_list("data", flat=True)),
            session.share,
            list(Share.objects.values()),
        ],
        default=str,
    )
    assert share.pk in stored
    assert token[26:] not in stored
    assert_log_equals_rows(session)
    assert rebuild(session.pk).share["id"] == share.pk


def test_clients_are_told_of_links_for_the_team_only_and_while_they_open(
    alice: User, session: Session, team: Team
) -> None:
    team.config = {"sharing": {"links": "public"}}
    team.save()
    access = session_access(alice, session)
    create_share(access, scope="public", days=1)
    session.refresh_from_db()
    assert "share" not in session_to_wire(session)
    create_share(access, days=1)
    session.refresh_from_db()
    assert "share" in session_to_wire(session)
    ended = timezone.now() - timedelta(seconds=1)
    session.share = {**session.share, "until": int(ended.timestamp() * 1000)}
    assert "share" not in session_to_wire(session)


@pytest.mark.parametrize("where", ["team", "project", "links"])
def test_where_it_is_switched_off_nobody_shares(
    where: str, alice: User, project: Project, session: Session, connect: Connect
) -> None:
    off = {"sharing": {"links": "none"}} if where == "links" else {"share": "disabled"}
    owner = project if where == "project" else project.team
    owner.config = off
    owner.save()
    client = connect(alice)
    answer = client.post(f"/session/{session.pk}/share", content_type=JSON)
    assert answer.status_code == 403
    assert "the session's page" in answer.json()["data"]["message"]
    path = f"/config?directory={project.directory}"
    assert client.get(path).json()["share"] == "disabled"
    assert not Share.objects.exists()


def test_new_sessions_are_shared_by_themselves_where_that_is_set(
    alice: User, bob: User, project: Project, connect: Connect
) -> None:
    client = connect(alice)
    assert client.get("/global/config").json()["share"] == "manual"
    assert client.patch("/global/config", {"share": "auto"}, JSON).json()["share"] == "auto"
    place = {"directory": project.directory}
    session = connect(bob).post(f"/session?directory={project.directory}", {}, JSON).json()
    assert session["share"]["url"].startswith("http")
    assert client.get("/config", place).json()["share"] == "auto"
    parent = Session.objects.get(pk=session["id"])
    assert parent.shares.get().created_by == bob
    project.refresh_from_db()
    assert not make_session(bob, project, parent=parent).shares.exists()


@pytest.mark.parametrize(
    ("patch", "query", "why"),
    [
        ({"share": "always"}, "", "share"),
        ({"sharing": {"links": "everybody"}}, "", "links"),
        ({"sharing": {"links": "team"}}, "?directory={directory}", "for the team"),
        ({"sharing": {"links": "public"}}, "?team=acme", "not allow public links"),
    ],
)
def test_settings_that_would_not_count_are_refused(
    patch: dict[str, object],
    query: str,
    why: str,
    alice: User,
    project: Project,
    connect: Connect,
    settings: object,
) -> None:
    settings.PUBLIC_SHARES = False  # type: ignore[attr-defined]  # the fixture of pytest-django
    path = f"/config{query.format(directory=project.directory)}"
    answer = connect(alice).patch(path or "/config", patch, JSON)
    assert answer.status_code == 400
    assert why in answer.json()["data"]["message"]
