from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from opencode_web.lib.errors import Conflict, Forbidden, NotFound
from sessions.access import (
    access_project,
    access_terminal,
    watchable_terminals,
)
from sessions.actions.past_sessions import past_parts
from sessions.actions.privacy import set_private
from sessions.actions.project_members import restrict_project, set_project_member
from sessions.actions.saved_rules import restore_rule, revoke_rule
from sessions.authors import may_prompt, may_work, without_author
from sessions.models import (
    Project,
    SavedRule,
    Session,
    Terminal,
)
from sessions.present.conversation.waiting import count_waiting, load_inbox
from sessions.rules.second_person import second_person
from sessions.visibility import sessions_in
from teams.access import RoleMissing, access_team
from teams.actions.groups import create_group, put_in_group, update_group
from teams.auth import authenticate_user
from teams.models import AuditEntry, Membership, Role, Team, TeamGroup, User
from tests.factories import make_user
from tests.sessions.factories import make_session, prompt, session_access
from tests.sessions.story import Story
from tests.sessions.test_visibility import ClientFor, closed, give, membership, sees

pytestmark = pytest.mark.django_db
__all__ = ["closed"]


def test_turns_end_for_who_may_not_work_there_any_more(
    alice: User, bob: User, vera: User, project: Project, session: Session
) -> None:
    prompt(bob, session, "hello")
    Story(session, bob).ask("more")
    assert (may_prompt(bob, session), may_work(bob, project)) == (True, True)
    assert without_author([session.pk]) == []
    give(project, bob, Role.VIEWER)
    assert without_author([session.pk]) == [session.pk]
    assert not may_prompt(bob, session)
    give(project, bob, None)
    assert without_author([session.pk]) == []
    set_private(session_access(alice, session), private=True)
    session.refresh_from_db()
    assert without_author([session.pk]) == [session.pk]
    assert not may_prompt(bob, session)
    assert may_work(bob, project)
    set_private(session_access(alice, session), private=False)
    restrict_project(access_project(authenticate_user(alice), project.pk), restricted=True)
    assert without_author([session.pk]) == [session.pk]
    assert not may_work(bob, project)
    give(project, vera, Role.MEMBER)
    assert may_work(vera, project)


def test_a_terminal_ends_with_the_role_in_its_project(
    alice: User, bob: User, vera: User, project: Project
) -> None:
    terminal = Terminal.objects.create(
        id="pty_bob",
        project=project,
        creator=bob,
        title="t",
        command="/bin/sh",
        cwd=project.directory,
        watchable=True,
        lease_until=timezone.now() + timedelta(days=1),
    )
    assert watchable_terminals(authenticate_user(vera)).count() == 1
    restrict_project(access_project(authenticate_user(alice), project.pk), restricted=True)
    assert watchable_terminals(authenticate_user(vera)).count() == 0
    with pytest.raises(NotFound):
        access_terminal(authenticate_user(bob), terminal.pk)
    give(project, bob, Role.VIEWER)
    with pytest.raises(RoleMissing):
        access_terminal(authenticate_user(bob), terminal.pk, need=Role.MEMBER)


def test_second_persons_are_those_who_can_answer_there(
    alice: User, adam: User, bob: User, vera: User, project: Project, session: Session
) -> None:
    prompt(alice, session, "hello")

    def names() -> set[str]:
        session.refresh_from_db()
        row = Session.objects.select_related("project__team").get(pk=session.pk)
        return {user.email.partition("@")[0] for user in second_person(row, project.team).may_allow}

    assert names() == {"adam", "bob"}
    give(project, vera, Role.MEMBER)
    assert names() == {"adam", "bob", "vera"}
    access = access_team(alice, "acme")
    group = create_group(access, name="Approvers")
    put_in_group(access, group, membership(vera))
    put_in_group(access, group, membership(alice))
    assert names() == {"adam", "bob", "vera"}
    update_group(access, group, is_approver=True)
    assert names() == {"vera"}
    set_private(session_access(alice, session), private=True)
    # None of the approvers sees it: nobody else takes their place.
    assert names() == set()
    update_group(access, group, is_approver=False)
    assert names() == {"adam"}


def test_the_inbox_counts_what_the_person_can_answer_there(
    alice: User, bob: User, vera: User, project: Project, session: Session
) -> None:
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    story.waits("ls")

    def waiting(user: User) -> tuple[int, int, int]:
        access = access_team(user, "acme")
        found = load_inbox(access)
        counted = count_waiting(sessions_in(access), access).get(Role.VIEWER, 0)
        return len(found.sessions), len(found.others), counted

    assert waiting(bob) == (1, 0, 1)
    assert waiting(vera) == (0, 1, 0)
    give(project, bob, Role.VIEWER)
    give(project, vera, Role.MEMBER)
    assert waiting(bob) == (0, 1, 0)
    assert waiting(vera) == (1, 0, 1)
    set_private(session_access(alice, session), private=True)
    assert waiting(vera) == waiting(bob) == (0, 0, 0)


def test_pages_offer_what_the_role_in_the_project_allows(
    alice: User, bob: User, vera: User, project: Project, session: Session, client_for: ClientFor
) -> None:
    give(project, bob, Role.VIEWER)
    give(project, vera, Role.MEMBER)
    for user, role in ((bob, "viewer"), (vera, "member")):
        for path in (f"/t/acme/s/{session.pk}", f"/t/acme/p/{project.pk}/"):
            assert f'data-role="{role}"' in client_for(user).get(path).content.decode()
    assert client_for(bob).post(f"/t/acme/s/{session.pk}/archive").status_code == 403
    assert client_for(vera).post(f"/t/acme/s/{session.pk}/archive").status_code == 302
    home = client_for(vera).get("/t/acme/").content.decode()
    assert 'data-role="viewer"' in home


def test_a_past_session_is_not_told_where_others_would_read_it(
    alice: User, project: Project, session: Session, closed: Project
) -> None:
    past, hidden = make_session(alice, project), make_session(alice, closed)
    private = make_session(alice, project)
    set_private(session_access(alice, private), private=True)
    here = session_access(alice, session)
    assert past_parts(here, past.pk)
    assert past_parts(here, hidden.pk) == past_parts(here, private.pk) == []
    assert past_parts(session_access(alice, make_session(alice, closed)), hidden.pk)
    assert past_parts(session_access(alice, private), past.pk)
    set_private(session_access(alice, session), private=True)
    assert past_parts(session_access(alice, session), private.pk)


def test_a_saved_permission_of_a_hidden_session_is_neither_shown_nor_restored(
    alice: User, bob: User, project: Project, client_for: ClientFor
) -> None:
    session = make_session(alice, project, title="Quokka plans")
    rule = SavedRule.objects.create(
        project=project,
        session=session,
        permission="bash",
        pattern="ls *",
        created_at=timezone.now(),
    )
    set_private(session_access(alice, session), private=True)
    client = client_for(bob)
    for path in ("/t/acme/settings/permissions", f"/t/acme/p/{project.pk}/settings"):
        assert "Quokka" not in client.get(path).content.decode()
    assert client.post(f"/t/acme/p/{project.pk}/rules/{rule.pk}/revoke").status_code == 404
    assert client.get("/api/permission/saved").json() == {"data": []}
    set_private(session_access(alice, session), private=False)
    entry = revoke_rule(access_project(authenticate_user(bob), project.pk), rule)
    set_private(session_access(alice, session), private=True)
    with pytest.raises(Conflict):
        restore_rule(access_team(bob, "acme"), entry.pk)


def test_each_change_is_in_the_audit_log_with_names_before_and_after(
    alice: User, bob: User, project: Project
) -> None:
    access = access_team(alice, "acme")
    group = create_group(access, name="Writers")
    put_in_group(access, group, membership(bob))
    group = update_group(access, group, name="Authors", is_approver=True)
    restrict_project(access_project(authenticate_user(alice), project.pk), restricted=True)
    give(project, bob, Role.VIEWER)
    give(project, bob, Role.MEMBER)
    give(project, group, Role.MEMBER)
    give(project, group, None)
    session = make_session(alice, project)
    set_private(session_access(alice, session), private=True)
    set_private(session_access(alice, session), private=False)
    wanted = ("group.", "project.access", "project.member", "session.privacy")
    found = [
        (entry.action, entry.told)
        for entry in AuditEntry.objects.order_by("pk")
        if entry.action.startswith(wanted)
    ]
    before, after = {"name": "Writers", "approver": False}, {"name": "Authors", "approver": True}
    assert found == [
        ("group.created", {"name": "Writers"}),
        ("group.member_added", {"name": "Writers", "user": bob.email}),
        ("group.updated", {"name": "Authors", "before": before, "after": after}),
        ("project.access_changed", {}),
        ("project.member_changed", {"user": bob.email, "before": "", "after": "viewer"}),
        ("project.member_changed", {"user": bob.email, "before": "viewer", "after": "member"}),
        *(
            ("project.member_changed", {"key": "group", "group": "Authors", **change})
            for change in ({"before": "", "after": "member"}, {"before": "member", "after": ""})
        ),
        ("session.privacy_changed", {}),
        ("session.privacy_changed", {"key": "opened"}),
    ]


def test_an_operator_in_an_emergency_changes_nothing_of_it(
    team: Team, project: Project, session: Session, bob: User
) -> None:
    rita = make_user("rita@example.com", operator=True)
    until = timezone.now() + timedelta(hours=1)
    Membership.objects.create(team=team, user=rita, role=Role.ADMIN, expires_at=until)
    Team.objects.filter(pk=team.pk).update(emergency_until=until)
    access = access_project(authenticate_user(rita), project.pk)
    group = TeamGroup.objects.create(team=team, name="Writers")
    for change in (
        lambda: restrict_project(access, restricted=True),
        lambda: set_project_member(access, membership(bob), role=Role.VIEWER),
        lambda: set_private(session_access(rita, session), private=True),
        lambda: create_group(access.team, name="Readers"),
        lambda: put_in_group(access.team, group, membership(bob)),
    ):
        with pytest.raises(Forbidden):
            change()


def test_groups_by_the_api(alice: User, bob: User, project: Project, client_for: ClientFor) -> None:
    client = client_for(alice)

    def send(method: str, path: str, body: str = "{}") -> dict[str, object]:
        send_as = getattr(client, method)
        answer = send_as(path, data=body, content_type="application/json")
        assert answer.status_code == 200, answer.content
        found: dict[str, object] = answer.json()
        return found

    group = send("post", "/group", '{"name": "Writers"}')
    path = f"/group/{group['id']}"
    assert send("put", f"{path}/member/{membership(bob).pk}")["members"] == [membership(bob).pk]
    assert send("patch", path, '{"approver": true}')["approver"] is True
    access = f"/project/{project.pk}/access"
    assert send("put", access, '{"restricted": true}')["restricted"] is True
    send("put", f"{access}/member", f'{{"group": "{group["id"]}", "role": "viewer"}}')
    assert sees(bob, project) == Role.VIEWER
    wrong = client.put(f"{access}/member", data="{}", content_type="application/json")
    assert wrong.status_code == 400
    assert client.delete(path).json() is True
    assert sees(bob, project) is None
    duplicate = '{"name": "Twins"}'
    send("post", "/group", duplicate)
    again = client.post("/group", data=duplicate, content_type="application/json")
    assert again.status_code == 409
