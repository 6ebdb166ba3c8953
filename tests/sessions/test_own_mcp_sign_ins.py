from __future__ import annotations

import asyncio
import html
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from opencode_web.lib.crypto import encrypt
from opencode_web.personal_data import collect
from sessions.access import access_project
from sessions.actions import mcp_oauth
from sessions.actions.mcp_sign_ins import claim_renewal, keep_grant, keep_renewal
from sessions.actions.people import deactivate_person
from sessions.actions.projects import delete_project
from sessions.jobs.mcp_grants import revoke_grants
from sessions.mcp.grants import grant_of, signed_in
from sessions.models import McpServer, McpSignIn, Project
from sessions.rules.names import known_names
from teams.access import access_team
from teams.auth import authenticate_user
from teams.models import AuditEntry, Membership, Role, Team, User
from tests.sessions.test_mcp_sign_in import HERE, at, come_back, said, set_up
from tests.tools.mcp.oauth_servers import GuardedShop, guarded_shop
from tools.mcp.remote import oauth
from tools.mcp.sign_in import Grant

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


@pytest.fixture(scope="module")
def shop() -> Iterator[GuardedShop]:
    with guarded_shop() as found:
        yield found


@pytest.fixture(autouse=True)
def reachable(settings: Settings) -> None:
    settings.PUBLIC_URL = HERE


def sign_in(browser: Client, shop: GuardedShop, project: Project, act: str = "own") -> Any:
    page = browser.post(at(project, act)).content.decode()
    url = html.unescape(page.split('button-main" href="')[1].split('"')[0])
    return come_back(browser, shop, url)


def test_each_signs_in_for_themselves_alone(
    shop: GuardedShop, project: Project, adam: User, bob: User, client_for: ClientFor
) -> None:
    """FEAT-0008 FR-03, NFR-02."""
    set_up(project, shop.url, account="own")
    server = _server(project)
    answered = sign_in(client_for(bob), shop, project)
    assert said(answered) == "Signed in to shop."
    row = McpSignIn.objects.get()
    assert (row.user, row.team) == (bob, project.team)
    assert signed_in(project, "shop", server, bob.pk) == row
    for other in (adam.pk, None):
        assert signed_in(project, "shop", server, other) is None
    entry = AuditEntry.objects.get(action="mcp.signed_in")
    assert (entry.actor, entry.told["scope"]) == (bob, "member")
    # Nobody signs in to it for all.
    answered = client_for(adam).post(at(project, "sign-in"))
    assert "with their own account" in said(answered)


def test_who_only_reads_signs_in_to_nothing(
    shop: GuardedShop, project: Project, bob: User, client_for: ClientFor
) -> None:
    set_up(project, shop.url, account="own")
    Membership.objects.filter(user=bob).update(role=Role.VIEWER)
    assert client_for(bob).post(at(project, "own")).status_code == 403


def test_a_server_of_the_team_takes_nobody_s_own(
    shop: GuardedShop, project: Project, bob: User, client_for: ClientFor
) -> None:
    set_up(project, shop.url)
    answered = client_for(bob).post(at(project, "own"))
    assert "Only an admin can sign in" in said(answered)
    assert at(project, "own") not in client_for(bob).get(answered["Location"]).content.decode()


def test_one_s_own_comes_before_the_team_s(
    shop: GuardedShop, project: Project, adam: User, bob: User, client_for: ClientFor
) -> None:
    set_up(project, shop.url, account="either")
    server, browser = _server(project), client_for(bob)
    sign_in(client_for(adam), shop, project, "sign-in")
    of_team = McpSignIn.objects.get()
    assert signed_in(project, "shop", server, bob.pk) == of_team
    page = browser.get(f"/t/acme/p/{project.pk}/mcp").content.decode()
    assert "until you sign in" in page.replace("&#x27;", "'")
    sign_in(browser, shop, project)
    own = McpSignIn.objects.get(user=bob)
    assert signed_in(project, "shop", server, bob.pk) == own
    assert signed_in(project, "shop", server, adam.pk) == of_team
    # A member takes nothing from the team, nor an admin from a member.
    client_for(adam).post(at(project, "sign-out"))
    assert signed_in(project, "shop", server, bob.pk) == own
    assert signed_in(project, "shop", server, adam.pk) is None


def test_it_is_given_back_and_forgotten_from_both_pages(
    shop: GuardedShop, project: Project, bob: User, adam: User, client_for: ClientFor
) -> None:
    """FEAT-0008 NFR-02."""
    set_up(project, shop.url, account="own")
    browser, before = client_for(bob), shop.tell("nothing")["revoked"]
    sign_in(browser, shop, project)
    browser.post(at(project, "own/end"))
    assert signed_in(project, "shop", _server(project), bob.pk) is None
    revoke_grants()
    assert not McpSignIn.objects.exists()
    assert shop.tell("nothing")["revoked"] == before + 2
    sign_in(browser, shop, project)
    row = McpSignIn.objects.get()
    page = browser.get("/me/mcp").content.decode()
    assert "127.0.0.1" in page
    assert grant_of(row).access_token not in page
    assert client_for(adam).post(f"/me/mcp/{row.pk}/end").status_code == 404
    assert said(browser.post(f"/me/mcp/{row.pk}/end")) == "Signed out of shop."
    revoke_grants()
    assert not McpSignIn.objects.exists()
    assert shop.tell("nothing")["revoked"] == before + 4


def test_what_cannot_be_given_back_is_tried_for_a_day(
    project: Project, bob: User, client_for: ClientFor
) -> None:
    with guarded_shop() as gone:
        set_up(project, gone.url, account="own")
        browser = client_for(bob)
        sign_in(browser, gone, project)
        browser.post(at(project, "own/end"))
    revoke_grants()
    row = McpSignIn.objects.get()
    assert row.state == "ended"
    assert signed_in(project, "shop", _server(project), bob.pk) is None
    McpSignIn.objects.update(state_at=timezone.now() - timedelta(hours=25))
    revoke_grants()
    assert not McpSignIn.objects.exists()


def test_it_ends_with_the_account_and_with_the_membership(
    shop: GuardedShop,
    project: Project,
    team: Team,
    adam: User,
    bob: User,
    client_for: ClientFor,
) -> None:
    """FEAT-0008 NFR-02."""
    set_up(project, shop.url, account="own")
    server, before = _server(project), shop.tell("nothing")["revoked"]
    sign_in(client_for(bob), shop, project)
    sign_in(client_for(adam), shop, project)
    deactivate_person(bob, actor=None, reason="left")
    assert signed_in(project, "shop", server, bob.pk) is None
    Membership.objects.filter(user=adam, team=team).delete()
    revoke_grants()
    assert not McpSignIn.objects.exists()
    assert shop.tell("nothing")["revoked"] == before + 4


def test_it_ends_when_the_server_takes_the_team_s_account_only(
    shop: GuardedShop, project: Project, adam: User, bob: User, client_for: ClientFor
) -> None:
    set_up(project, shop.url, account="own")
    sign_in(client_for(bob), shop, project)
    browser, path = client_for(adam), f"/t/acme/p/{project.pk}/mcp/s/shop"
    page = browser.get(path).content.decode()
    seen = page.split('name="seen" value="')[1].split('"')[0]
    sent = {"name": "shop", "type": "remote", "url": shop.url, "timeout": "30", "enabled": "on"}
    answered = browser.post(path, {**sent, "account": "team", "seen": seen})
    assert answered.status_code == 302, answered.content.decode()
    assert McpSignIn.objects.get().state == "ended"
    project.refresh_from_db()
    assert "account" not in project.config["mcp"]["shop"]  # type: ignore[operator,index]


def test_a_person_is_told_what_they_have_to_do_again(
    shop: GuardedShop, project: Project, bob: User, adam: User, client_for: ClientFor
) -> None:
    set_up(project, shop.url, account="own")
    browser = client_for(bob)
    sign_in(browser, shop, project)

    def told(person: User) -> bool:
        pages = [client_for(person).get(path).content.decode() for path in ("/t/acme/", "/me/mcp")]
        assert len({"MCP server shop" in page for page in pages}) == 1
        return "MCP server shop" in pages[0]

    assert not told(bob)
    soon, then = timezone.now() + timedelta(days=2), timezone.now() - timedelta(days=28)
    McpSignIn.objects.update(ends_at=soon, signed_in_at=then)
    assert told(bob)
    assert not told(adam)
    # One that never lasts long is renewed often enough.
    McpSignIn.objects.update(signed_in_at=timezone.now() - timedelta(days=1))
    assert not told(bob)
    McpSignIn.objects.update(state="refused", sealed="")
    assert told(bob)
    sign_in(browser, shop, project)
    assert not told(bob)
    assert McpSignIn.objects.get().state == ""


def test_the_person_has_it_among_their_data(
    shop: GuardedShop, project: Project, bob: User, client_for: ClientFor
) -> None:
    set_up(project, shop.url, account="own")
    sign_in(client_for(bob), shop, project)
    grant = grant_of(McpSignIn.objects.get())
    kept = collect(bob)
    assert [one["name"] for one in kept["mcpSignIns"]] == ["shop"]
    assert grant.access_token not in str(kept)


def test_it_ends_at_once_with_the_membership_and_does_not_come_back_with_it(
    shop: GuardedShop, project: Project, team: Team, bob: User, client_for: ClientFor
) -> None:
    """FEAT-0008 NFR-02."""
    set_up(project, shop.url, account="own")
    sign_in(client_for(bob), shop, project)
    assert client_for(bob).post("/t/acme/settings/leave").status_code == 302
    assert signed_in(project, "shop", _server(project), bob.pk) is None
    Membership.objects.create(team=team, user=bob, role=Role.MEMBER)
    assert signed_in(project, "shop", _server(project), bob.pk) is None
    revoke_grants()
    assert not McpSignIn.objects.exists()


def test_it_ends_with_the_project_whose_server_it_is_for(
    shop: GuardedShop, project: Project, bob: User, adam: User, client_for: ClientFor
) -> None:
    set_up(project, shop.url, account="own")
    sign_in(client_for(bob), shop, project)
    delete_project(access_project(authenticate_user(adam), project.pk))
    assert McpSignIn.objects.get().state == "ended"


def test_settings_that_change_while_the_server_is_asked_count(
    shop: GuardedShop,
    project: Project,
    bob: User,
    client_for: ClientFor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """FEAT-0008 NFR-02."""
    set_up(project, shop.url, account="own")

    def change_first(*args: Any, **kwargs: Any) -> McpSignIn:
        set_up(project, shop.url)
        return keep_grant(*args, **kwargs)

    monkeypatch.setattr(mcp_oauth, "keep_grant", change_first)
    answered = sign_in(client_for(bob), shop, project)
    assert "settings of the server have changed" in said(answered)
    assert McpSignIn.objects.get().state == "ended"


def test_servers_that_do_not_answer_keep_no_other_sign_in_from_being_given_back(
    shop: GuardedShop, project: Project, bob: User, client_for: ClientFor
) -> None:
    set_up(project, shop.url, account="own")
    sign_in(client_for(bob), shop, project)
    row = McpSignIn.objects.get()
    grant = grant_of(row)
    silent = grant.client.model_copy(update={"revocation_url": "http://127.0.0.1:9/revoke"})
    sealed = encrypt(grant.model_copy(update={"client": silent}).model_dump_json())
    McpSignIn.objects.bulk_create(
        McpSignIn(
            team=row.team,
            user=bob,
            name=f"silent-{number}",
            url=row.url,
            url_digest=row.url_digest,
            sealed=sealed,
            state=McpSignIn.State.ENDED,
            state_at=timezone.now() - timedelta(hours=1),
        )
        for number in range(20)
    )
    client_for(bob).post(at(project, "own/end"))
    revoke_grants()
    assert McpSignIn.objects.filter(pk=row.pk).exists()
    revoke_grants()
    assert not McpSignIn.objects.filter(pk=row.pk).exists()
    assert McpSignIn.objects.count() == 20


def test_what_was_renewed_after_its_end_is_not_used_and_is_given_back(
    shop: GuardedShop, project: Project, bob: User, client_for: ClientFor
) -> None:
    """FEAT-0008 NFR-02."""
    set_up(project, shop.url, account="own")
    sign_in(client_for(bob), shop, project)
    row, before = McpSignIn.objects.get(), shop.tell("nothing")["revoked"]
    assert claim_renewal(row)
    client_for(bob).post(at(project, "own/end"))
    # Nobody knows yet what the server answers.
    revoke_grants()
    assert shop.tell("nothing")["revoked"] == before
    renewed = asyncio.run(renewed_of(grant_of(row)))
    assert not keep_renewal(row, renewed)
    revoke_grants()
    assert not McpSignIn.objects.exists()
    assert shop.tell("nothing")["revoked"] == before + 2
    # Of what has ended, nothing is renewed any more.
    sign_in(client_for(bob), shop, project)
    row = McpSignIn.objects.get()
    client_for(bob).post(at(project, "own/end"))
    assert not claim_renewal(row)


def test_what_a_server_lists_for_one_is_no_known_name_for_another(
    project: Project, team: Team, adam: User, bob: User
) -> None:
    """FEAT-0008 NFR-02."""
    McpServer.objects.create(
        project=project,
        user=bob,
        name="shop",
        tools=[{"name": "shop_layoffs"}],
        asked_at=timezone.now(),
    )

    def known_to(person: User) -> bool:
        return "shop_layoffs" in known_names(access_team(person, team.slug)).names

    assert known_to(bob)
    assert not known_to(adam)


async def renewed_of(grant: Grant) -> Grant:
    renewed: Grant = await (await oauth()).renew(grant)
    return renewed


def _server(project: Project) -> Any:
    from sessions.config.effective import project_config

    return project_config(project).mcp["shop"]
