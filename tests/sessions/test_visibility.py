from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from opencode_web.lib.errors import Conflict, Forbidden, Invalid, NotFound
from sessions.access import (
    access_project,
    access_session,
    visible_projects,
    visible_sessions,
)
from sessions.actions.fork import fork_session
from sessions.actions.privacy import set_private
from sessions.actions.project_members import restrict_project, set_project_member
from sessions.actions.projects import create_empty_project
from sessions.actions.shares import create_share
from sessions.models import (
    Event,
    Project,
    ProjectMember,
    SavedRule,
    Session,
)
from sessions.visibility import role_in, sessions_in
from teams.access import RoleMissing, access_team
from teams.actions.groups import create_group, put_in_group, take_from_group
from teams.actions.members import change_role, remove_member
from teams.auth import authenticate_user
from teams.models import Membership, Role, Team, TeamGroup, User
from tests.factories import add_member, make_user
from tests.sessions.factories import make_project, make_session, session_access
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db

ClientFor = Callable[[User | None], Client]


def membership(user: User) -> Membership:
    return Membership.objects.get(user=user, team__slug="acme")


def give(project: Project, member: User | TeamGroup, role: Role | None = Role.MEMBER) -> None:
    owner = User.objects.get(email="alice@example.com")
    access = access_project(authenticate_user(owner), project.pk)
    given = membership(member) if isinstance(member, User) else member
    set_project_member(access, given, role=role)


@pytest.fixture
def closed(alice: User, team: Team, tmp_path: Path) -> Project:
    """A restricted project."""
    project = make_project(team, tmp_path / "vault", name="vault")
    return restrict_project(access_project(authenticate_user(alice), project.pk), restricted=True)


def sees(user: User, project: Project) -> Role | None:
    try:
        return access_project(authenticate_user(user), project.pk).team.role
    except NotFound:
        assert not visible_projects(authenticate_user(user)).filter(pk=project.pk).exists()
        return None


@pytest.mark.parametrize(
    ("role", "given", "restricted", "found"),
    [
        (Role.OWNER, "viewer", True, Role.OWNER),
        (Role.ADMIN, None, True, Role.ADMIN),
        (Role.MEMBER, None, True, None),
        (Role.MEMBER, "viewer", True, Role.VIEWER),
        (Role.MEMBER, "viewer", False, Role.VIEWER),
        (Role.MEMBER, None, False, Role.MEMBER),
        (Role.VIEWER, "member", False, Role.MEMBER),
        (Role.VIEWER, None, True, None),
        # It sees no work all the same.
        (Role.BILLING, "member", True, Role.BILLING),
    ],
)
def test_the_role_in_a_project(
    role: Role, given: str | None, restricted: bool, found: Role | None
) -> None:
    assert role_in(Membership(role=role), given=given, is_restricted=restricted) == found


def test_an_operator_in_an_emergency_sees_all_in_their_role(
    team: Team, closed: Project, alice: User
) -> None:
    rita = make_user("rita@example.com", operator=True)
    until = timezone.now() + timedelta(hours=1)
    Membership.objects.create(team=team, user=rita, role=Role.VIEWER, expires_at=until)
    private = make_session(alice, closed)
    set_private(session_access(alice, private), private=True)
    assert sees(rita, closed) == Role.VIEWER
    assert access_session(authenticate_user(rita), private.pk).team.role == Role.VIEWER
    Membership.objects.filter(user=rita).update(expires_at=timezone.now())
    assert sees(rita, closed) is None


def test_only_members_and_admins_see_a_restricted_project(
    closed: Project, alice: User, adam: User, bob: User, vera: User, bill: User, charlie: User
) -> None:
    session = make_session(alice, closed)
    assert [sees(one, closed) for one in (alice, adam)] == [Role.OWNER, Role.ADMIN]
    for user in (bob, vera, bill, charlie):
        assert sees(user, closed) is None
        with pytest.raises(NotFound):
            session_access(user, session)
    give(closed, bob, Role.VIEWER)
    give(closed, vera, Role.MEMBER)
    give(closed, bill, Role.MEMBER)
    assert [sees(one, closed) for one in (bob, vera, bill)] == [Role.VIEWER, Role.MEMBER, None]
    with pytest.raises(RoleMissing):
        access_session(authenticate_user(bob), session.pk, need=Role.MEMBER)
    access = access_session(authenticate_user(vera), session.pk, need=Role.MEMBER)
    assert access.team.in_team.role == Role.VIEWER


def test_the_highest_role_of_person_and_groups_counts(
    alice: User, bob: User, closed: Project
) -> None:
    team = access_team(alice, "acme")
    readers, writers = create_group(team, name="Readers"), create_group(team, name="Writers")
    give(closed, readers, Role.VIEWER)
    give(closed, writers, Role.MEMBER)
    put_in_group(team, readers, membership(bob))
    assert sees(bob, closed) == Role.VIEWER
    put_in_group(team, writers, membership(bob))
    assert sees(bob, closed) == Role.MEMBER
    take_from_group(team, writers, membership(bob))
    give(closed, bob, Role.VIEWER)
    take_from_group(team, readers, membership(bob))
    assert sees(bob, closed) == Role.VIEWER
    assert visible_projects(authenticate_user(bob)).count() == 1
    give(closed, bob, None)
    assert sees(bob, closed) is None


def test_a_role_in_a_project_gives_no_right_in_the_team(
    alice: User, vera: User, project: Project, client_for: ClientFor
) -> None:
    give(project, vera, Role.MEMBER)
    access = access_project(authenticate_user(vera), project.pk, need=Role.MEMBER)
    with pytest.raises(RoleMissing):
        create_empty_project(access.team.in_team, name="Mine")
    client = client_for(vera)
    assert client.post("/t/acme/p/new", {"kind": "empty", "empty-name": "Mine"}).status_code == 403
    body = {"data": '{"name": "Mine"}', "content_type": "application/json"}
    assert client.post("/project", **body).status_code == 403
    place = f"?project={project.pk}"
    key = {"data": '{"type": "api", "key": "x"}', "content_type": "application/json"}
    assert client.put(f"/auth/demo{place}", **key).status_code == 403
    started = client.post("/t/acme/start", {"project": project.pk, "text": "Hello"})
    assert started.status_code == 302, started.content
    assert Session.objects.get(project=project).owner == vera
    rule = SavedRule.objects.create(
        team=project.team, permission="bash", pattern="*", created_at=timezone.now()
    )
    for path in (f"/t/acme/settings/permissions/saved/{rule.pk}/revoke",):
        assert client.post(path).status_code == 403


def test_who_leaves_the_team_comes_back_with_nothing(
    alice: User, bob: User, closed: Project, team: Team
) -> None:
    access = access_team(alice, "acme")
    group = create_group(access, name="Writers")
    put_in_group(access, group, membership(bob))
    give(closed, bob)
    remove_member(membership(bob), access=access)
    add_member(team, bob)
    assert sees(bob, closed) is None
    assert not group.members.exists()


def test_a_token_of_somebody_is_held_to_the_same(bob: User, closed: Project) -> None:
    principal = authenticate_user(bob)
    assert list(visible_projects(principal)) == []
    give(closed, bob)
    assert [row.pk for row in visible_projects(principal)] == [closed.pk]


def test_only_members_of_the_team_become_members(
    alice: User, charlie: User, closed: Project, team: Team
) -> None:
    access = access_project(authenticate_user(alice), closed.pk)
    other = Membership.objects.get(user=charlie)
    with pytest.raises(Invalid):
        set_project_member(access, other, role=Role.MEMBER)
    stranger = TeamGroup.objects.create(team=other.team, name="Theirs")
    with pytest.raises(Invalid):
        set_project_member(access, stranger, role=Role.MEMBER)
    with pytest.raises(Invalid):
        set_project_member(access, membership(alice), role=Role.ADMIN)
    with pytest.raises(IntegrityError), transaction.atomic():
        ProjectMember.objects.create(project=closed, membership=membership(alice), role=Role.OWNER)
    with pytest.raises(Invalid):
        put_in_group(access.team, create_group(access.team, name="Ours"), other)


def test_whoever_restricts_or_creates_a_project_keeps_it(
    alice: User, adam: User, bob: User, project: Project, team: Team
) -> None:
    restrict_project(access_project(authenticate_user(adam), project.pk), restricted=True)
    change_role(membership(adam), access=access_team(alice, "acme"), role=Role.MEMBER)
    assert sees(adam, project) == Role.MEMBER
    own = create_empty_project(access_team(bob, "acme"), name="Own", restricted=True)
    assert sees(bob, own) == Role.MEMBER
    assert sees(adam, own) is None


def test_a_private_session_is_of_its_owner_and_of_admins(
    alice: User, adam: User, bob: User, vera: User, project: Project
) -> None:
    session = make_session(bob, project)
    child = make_session(bob, project, parent=session)
    # A sub-agent that others had prompted is hidden from them, too.
    Session.objects.filter(pk=child.pk).update(owner=vera)
    set_private(session_access(bob, session), private=True)
    for row in (session, child):
        for user in (alice, adam, bob):
            assert session_access(user, row).session == row
        with pytest.raises(NotFound):
            session_access(vera, row)
    assert list(visible_sessions(authenticate_user(vera))) == []
    assert set(sessions_in(access_team(bob, "acme"))) == {session, child}
    set_private(session_access(adam, session), private=False)
    assert session_access(vera, child).session == child


def test_only_its_owner_and_admins_decide_who_sees_a_session(
    alice: User, bob: User, vera: User, adam: User, project: Project
) -> None:
    session = make_session(alice, project)
    with pytest.raises(Forbidden):
        set_private(session_access(bob, session), private=True)
    child = make_session(alice, project, parent=session)
    with pytest.raises(Invalid):
        set_private(session_access(alice, child), private=True)
    own = make_session(bob, project)
    change_role(membership(bob), access=access_team(alice, "acme"), role=Role.VIEWER)
    with pytest.raises(Forbidden):
        set_private(session_access(bob, own), private=True)


def test_a_private_session_is_in_no_open_link_and_no_fork_of_others(
    alice: User, bob: User, adam: User, project: Project
) -> None:
    session = make_session(bob, project, title="Plans")
    Story(session, bob).ask("hi")
    share = create_share(session_access(bob, session))
    set_private(session_access(bob, session), private=True)
    share.refresh_from_db()
    assert share.revoked_at is not None
    with pytest.raises(Conflict):
        create_share(session_access(bob, session))
    with pytest.raises(NotFound):
        fork_session(session_access(make_member(project.team, "zoe"), session))
    fork = fork_session(session_access(adam, session))
    assert (fork.is_private, fork.owner) == (True, adam)
    with pytest.raises(NotFound):
        session_access(bob, fork)


def make_member(team: Team, name: str) -> User:
    user = make_user(f"{name}@example.com")
    add_member(team, user)
    return user


def test_the_owner_loses_a_private_session_with_its_project(
    alice: User, bob: User, project: Project
) -> None:
    session = make_session(bob, project)
    set_private(session_access(bob, session), private=True)
    restrict_project(access_project(authenticate_user(alice), project.pk), restricted=True)
    with pytest.raises(NotFound):
        session_access(bob, session)


def test_a_session_begun_as_private_is_seen_by_nobody_else_from_its_first_event(
    alice: User, bob: User, adam: User, team: Team, client_for: ClientFor, tmp_path: Path
) -> None:
    project = make_project(team, tmp_path / "p")
    Team.objects.update(config={"share": "auto"})
    browser, version = client_for(bob), Team.objects.get(pk=team.pk).access_version
    fields = {"project": project.pk, "text": "canary", "private": "1", "idempotency": "x" * 20}
    form = browser.get(f"/t/acme/start/place?project={project.pk}&private=1").content.decode()
    assert 'name="private" value="1" checked' in form
    refused = browser.post("/t/acme/start", {**fields, "text": ""})
    assert 'name="private" value="1" checked' in refused.content.decode()
    assert browser.post("/t/acme/start", fields).status_code == 302
    made = browser.post(
        f"/session?project={project.pk}", {"private": True, "title": "A"}, "application/json"
    ).json()
    assert made["private"] is True
    assert "share" not in made
    below = {"parentID": made["id"], "private": True}
    child = browser.post(f"/session?project={project.pk}", below, "application/json").json()
    open_one = browser.post(f"/session?project={project.pk}", {}, "application/json").json()
    assert "private" not in {**child, **open_one}
    assert Team.objects.get(pk=team.pk).access_version > version
    hidden = set(Session.objects.exclude(pk=open_one["id"]).values_list("pk", flat=True))
    assert len(hidden) == 3
    for session in Session.objects.filter(pk__in=hidden, root=None):
        assert session.is_private
        first = Event.objects.filter(session=session).earliest("seq")
        assert (first.type, first.data["private"]) == ("session.created", True)
    others = make_user("zoe@example.com")
    add_member(team, others, Role.MEMBER)
    seen = {
        user: {row.pk for row in visible_sessions(authenticate_user(user))}
        for user in (alice, adam, bob, others)
    }
    assert seen[others] == {open_one["id"]}
    assert all(hidden < seen[user] for user in (alice, adam, bob))
