from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.test import Client

from opencode_web.lib.bus import subscribe
from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Conflict, Forbidden, Invalid, NotFound
from teams.access import ACCESS_CHANGED, TeamAccess, access_team, user_group
from teams.actions.services import (
    access_service,
    create_service,
    create_service_token,
    delete_service,
    revoke_service_token,
    update_service,
)
from teams.actions.tokens import create_token
from teams.auth import authenticate_header, is_live
from teams.models import ApiToken, AuditEntry, Membership, Role, Scope, Team, User
from tests.factories import PASSWORD

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
URL = "/t/acme/settings/services"


@pytest.fixture
def access(adam: User) -> TeamAccess:
    return access_team(adam, "acme")


@pytest.fixture
def runner(access: TeamAccess) -> Membership:
    return create_service(access, name="Nightly  runner", role=Role.MEMBER)


def token_of(access: TeamAccess, row: Membership, scope: Scope = Scope.WRITE) -> str:
    return create_service_token(access, row, name="CI", scope=scope)[1]


def test_its_token_opens_its_team_with_its_role(access: TeamAccess, runner: Membership) -> None:
    principal = authenticate_header(f"Bearer {token_of(access, runner)}")
    assert principal is not None
    assert (principal.user, principal.team) == (runner.user, access.team)
    assert principal.scopes == {Scope.READ, Scope.WRITE}
    assert principal.user.display_name == "Nightly runner"
    with pytest.raises(Forbidden):
        access_team(runner.user, "acme", need=Role.ADMIN)


def test_it_cannot_sign_in(runner: Membership, client: Client) -> None:
    assert not runner.user.has_usable_password()
    for password in ("", PASSWORD):
        client.post("/login", {"login": runner.user.email, "password": password})
        assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("how", ["off", "deleted", "revoked"])
def test_what_is_switched_off_is_refused(how: str, access: TeamAccess, runner: Membership) -> None:
    header = f"Bearer {token_of(access, runner)}"
    principal = authenticate_header(header)
    assert principal is not None
    assert is_live(principal)
    if how == "off":
        update_service(access, runner, enabled=False)
    elif how == "deleted":
        delete_service(access, runner)
    else:
        revoke_service_token(access, runner, principal.token_id or "")
    assert authenticate_header(header) is None
    assert not is_live(principal)
    if how == "off":
        update_service(access, runner, enabled=True)
        assert authenticate_header(header) is not None
    # What it did keeps its name.
    assert User.objects.get(pk=runner.user_id).display_name == "Nightly runner"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "act", [delete_service, lambda *args: update_service(*args, enabled=False)]
)
async def test_its_streams_are_told_at_once(act: Any, adam: User) -> None:
    access = await in_db(access_team, adam, "acme")
    runner = await in_db(create_service, access, name="Runner", role=Role.MEMBER)
    async with asyncio.timeout(30), subscribe(user_group(runner.user_id)) as heard:
        await in_db(act, access, runner)
        assert await anext(heard) == {"t": ACCESS_CHANGED}


def test_only_admins_make_and_change_them(
    access: TeamAccess, runner: Membership, bob: User
) -> None:
    member = access_team(bob, "acme")
    acts: list[Callable[[], object]] = [
        lambda: create_service(member, name="x", role=Role.VIEWER),
        lambda: update_service(member, runner, enabled=False),
        lambda: create_service_token(member, runner, name="x", scope=Scope.READ),
        lambda: revoke_service_token(member, runner, "tok_x"),
        lambda: delete_service(member, runner),
        lambda: access_service(member, runner.user_id),
    ]
    for act in acts:
        with pytest.raises(Forbidden):
            act()


def test_nobody_gives_what_is_above_them(access: TeamAccess, alice: User) -> None:
    for giver in (access, access_team(alice, "acme")):
        with pytest.raises(Forbidden, match="cannot have the role owner"):
            create_service(giver, name="x", role=Role.OWNER)


def test_the_bounds(access: TeamAccess, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("", " ", "x" * 81):
        with pytest.raises(Invalid, match="A name must have"):
            create_service(access, name=name, role=Role.MEMBER)
    monkeypatch.setattr("teams.actions.services.MAX_SERVICES", 1)
    create_service(access, name="один", role=Role.MEMBER)
    with pytest.raises(Conflict, match="at most 1"):
        create_service(access, name="two", role=Role.MEMBER)


def test_people_and_other_teams_accounts_are_none(
    access: TeamAccess, bob: User, charlie: User
) -> None:
    foreign = create_service(access_team(charlie, "globex"), name="x", role=Role.MEMBER)
    for user in (bob, charlie, foreign.user):
        with pytest.raises(NotFound):
            access_service(access, user.pk)


def test_the_audit_trail_says_who_did_what(access: TeamAccess, runner: Membership) -> None:
    secret = token_of(access, runner)
    update_service(access, runner, role=Role.VIEWER)
    delete_service(access, runner)
    entries = AuditEntry.objects.filter(actor=access.user).order_by("pk")
    assert [entry.action for entry in entries if not entry.action.startswith("member.joined")] == [
        "service.created",
        "token.created",
        "member.role_changed",
        "token.revoked",
        "service.deleted",
    ]
    assert secret not in str([entry.data for entry in entries])


def test_a_team_that_goes_takes_them_along(charlie: User) -> None:
    row = create_service(access_team(charlie, "globex"), name="x", role=Role.MEMBER)
    Team.objects.get(slug="globex").delete()
    assert not User.objects.filter(pk=row.user_id).exists()


def test_an_admin_makes_one_on_its_page(adam: User, team: Team, client_for: ClientFor) -> None:
    browser = client_for(adam)
    assert "No service accounts yet" in browser.get(URL).content.decode()
    made = browser.post(URL, {"name": "Runner", "role": "member"})
    row = Membership.objects.get(user__service_of=team)
    page = f"{URL}/{row.user_id}"
    assert made["Location"] == page
    assert "It has no tokens yet" in browser.get(page).content.decode()
    shown = browser.post(f"{page}/token", {"name": "CI", "scope": "read", "days": "30"})
    secret = re.search(r"ocw_\w{40}", shown.content.decode())
    assert secret is not None
    assert "no-store" in shown["Cache-Control"]
    assert secret[0] not in browser.get(page).content.decode()
    assert authenticate_header(f"Bearer {secret[0]}") is not None
    browser.post(f"{page}/enabled", {"enabled": "0"})
    assert "its tokens do not work" in browser.get(page).content.decode()
    browser.post(f"{page}/enabled", {"enabled": "1"})
    token = row.user.api_tokens.get()
    assert browser.post(f"{page}/token/{token.pk}/revoke")["Location"] == page
    assert authenticate_header(f"Bearer {secret[0]}") is None
    assert browser.post(page, {"name": "Walker", "role": "viewer"})["Location"] == page
    row.refresh_from_db()
    assert (row.role, row.user.name) == ("viewer", "Walker")
    assert browser.post(page, {"name": "Walker", "role": "owner"}).status_code == 422
    members = browser.get("/t/acme/settings/members").content.decode()
    assert "service.invalid" not in members
    assert browser.post(f"{page}/delete")["Location"] == URL
    assert browser.get(page).status_code == 404


def test_the_migration_names_who_has_made_a_token(team: Team, alice: User, bob: User) -> None:
    access = access_team(alice, "acme")
    runner = create_service(access, name="runner", role=Role.MEMBER)
    create_service_token(access, runner, name="CI", scope=Scope.READ)
    create_token(bob, team=team, name="own", scope=Scope.READ)
    ApiToken.objects.update(made_by=None)
    import_module("teams.migrations.0044_fill_token_maker").fill(apps, None)
    assert {(row.name, row.made_by) for row in ApiToken.objects.all()} == {
        ("CI", alice),
        ("own", bob),
    }
