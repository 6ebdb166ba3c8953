from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from opencode_web.lib.db import in_db
from sessions.access import access_project
from sessions.actions.mcp_oauth import begin_sign_in, complete_sign_in
from sessions.actions.mcp_sign_ins import keep_grant, take_own_attempt
from sessions.config.effective import project_config
from sessions.mcp.grants import grant_of
from sessions.mcp.servers import offered_by_servers, statuses
from sessions.models import McpServer, McpSignIn, Project, Session
from sessions.runner.offers.mcp_reach import McpTarget, with_mcp_session
from sessions.sandboxes.build import sandbox_for
from teams.auth import authenticate_user
from teams.models import User
from tests.sessions.factories import prompt
from tests.sessions.runner.drains import drain
from tests.sessions.runner.test_custom_tools import answer, called, states
from tests.sessions.runner.test_mcp_tools import set_up
from tests.sessions.runner.test_secrets import stored
from tests.tools.mcp.caller import Person
from tests.tools.mcp.oauth_servers import GuardedShop, guarded_shop
from tools.mcp.client import call_tool
from tools.mcp.exchange import Server, SignInNeeded
from tools.redaction import Redactor

pytestmark = [pytest.mark.deep, pytest.mark.django_db(transaction=True), pytest.mark.any_database]


def sign_in(project: Project, user: User, shop: GuardedShop) -> McpSignIn:
    access = access_project(authenticate_user(user), project.pk)
    back = shop.visit(begin_sign_in(access, "shop").authorization_url)
    attempt = take_own_attempt(access, name="shop")
    complete_sign_in(access, attempt, code=back.params["code"], issuer=None)
    return McpSignIn.objects.get()


def remote(shop: GuardedShop, **more: object) -> dict[str, object]:
    return {"type": "remote", "url": shop.url, **more}


async def status(project: Project) -> object:
    config = await in_db(project_config, project)
    return (await in_db(statuses, project, config.mcp, 0))["shop"]


async def test_a_server_that_wants_a_sign_in_has_tools_after_it(
    session: Session, project: Project, alice: User
) -> None:
    """FEAT-0008 FR-03: a server that requires OAuth is usable when the callback is handled."""
    with guarded_shop() as shop:
        await in_db(lambda: set_up(project, shop=remote(shop)))
        await in_db(prompt, alice, session, "hello")
        await drain(session)
        assert await status(project) == {"status": "needs_auth"}
        row = await in_db(sign_in, project, alice, shop)
        await in_db(prompt, alice, session, called("shop_stock", item="tea"))
        session = await drain(session)
        assert await status(project) == {"status": "connected"}
        await answer(alice, session)
        session = await drain(session)
    [state] = await states(session)
    assert state["output"] == "1 of tea for Bearer [secret of the sign-in]"
    grant = grant_of(row)
    everything = await in_db(stored, session)
    assert grant.access_token not in everything
    assert grant.refresh_token not in everything


@pytest.mark.parametrize(
    ("registers", "more", "status_is", "error"),
    [
        (False, {}, "needs_client_registration", "registers no clients by itself"),
        (False, {"oauth": {"clientId": "by-hand"}}, "needs_auth", ""),
        (True, {"oauth": False}, "failed", "check its headers in the settings"),
        (True, {"headers": {"Authorization": "Bearer no"}}, "failed", "check its headers"),
    ],
)
async def test_why_it_is_not_let_in_is_said(
    session: Session,
    project: Project,
    alice: User,
    registers: bool,
    more: dict[str, object],
    status_is: str,
    error: str,
) -> None:
    with guarded_shop(registers=registers) as shop:
        await in_db(lambda: set_up(project, shop=remote(shop, **more)))
        await in_db(prompt, alice, session, "hello")
        await drain(session)
    found = await status(project)
    assert isinstance(found, dict)
    assert found["status"] == status_is
    assert error in str(found.get("error", ""))


async def target_of(project: Project, session: Session) -> McpTarget:
    config = await in_db(project_config, project)
    sandbox = await in_db(sandbox_for, session)
    user_id = session.owner_id
    return McpTarget(project, "shop", config.mcp["shop"], Path(project.directory), sandbox, user_id)


async def buy(place: Server, _: Redactor) -> object:
    return (await call_tool(place, "stock", {"item": "tea"}, timeout_s=20, caller=Person()))[
        "content"
    ]


async def test_a_grant_that_ends_is_renewed_once_by_all_who_need_it(
    session: Session, project: Project, alice: User
) -> None:
    with guarded_shop(life_s=30) as shop:
        await in_db(lambda: set_up(project, shop=remote(shop)))
        first = grant_of(await in_db(sign_in, project, alice, shop))
        assert first.expires_at is not None
        assert first.expires_at < time.time() + 31
        target = await target_of(project, session)
        # Of 30 seconds none is spare, so each of them finds it ending.
        before = shop.tell("nothing")["renewed"]
        await asyncio.gather(with_mcp_session(target, buy), with_mcp_session(target, buy))
        assert shop.tell("nothing")["renewed"] >= before + 1
    now = await in_db(McpSignIn.objects.get)
    assert grant_of(now).access_token != first.access_token
    assert now.renewing_until is None


async def test_two_who_are_refused_renew_one_after_the_other(
    session: Session, project: Project, alice: User
) -> None:
    with guarded_shop() as shop:
        await in_db(lambda: set_up(project, shop=remote(shop)))
        first = grant_of(await in_db(sign_in, project, alice, shop))
        target = await target_of(project, session)
        shop.tell("forget-access")
        results = await asyncio.gather(*(with_mcp_session(target, buy) for _ in range(4)))
        assert shop.tell("nothing")["renewed"] == 1
    assert len(results) == 4
    assert grant_of(await in_db(McpSignIn.objects.get)).access_token != first.access_token


async def test_a_grant_that_was_revoked_is_erased_and_asked_for_again(
    session: Session, project: Project, alice: User
) -> None:
    """FEAT-0008 NFR-02."""
    with guarded_shop() as shop:
        await in_db(lambda: set_up(project, shop=remote(shop)))
        await in_db(sign_in, project, alice, shop)
        await in_db(prompt, alice, session, called("shop_stock", item="tea"))
        session = await drain(session)
        shop.tell("forget-all")
        await answer(alice, session)
        session = await drain(session)
        [state] = await states(session)
        assert "An admin of the team has to sign in to it" in state["error"]
        assert await status(project) == {"status": "needs_auth"}
    row = await in_db(McpSignIn.objects.get)
    assert (row.state, row.sealed) == ("refused", "")


async def test_a_grant_is_not_sent_to_another_address(
    session: Session, project: Project, alice: User
) -> None:
    """FEAT-0008 NFR-02."""
    with guarded_shop() as shop, guarded_shop() as other:
        await in_db(lambda: set_up(project, shop=remote(shop)))
        row = await in_db(sign_in, project, alice, shop)
        await in_db(lambda: set_up(project, shop=remote(other)))
        target = await target_of(project, session)
        with pytest.raises(SignInNeeded):
            await with_mcp_session(target, buy)
        # What somebody else grants there takes nothing from the first.
        access = await in_db(access_project, authenticate_user(alice), project.pk)
        await in_db(keep_grant, access, name="shop", url=other.url, grant=grant_of(row))
    assert await in_db(McpSignIn.objects.count) == 2


async def test_a_grant_of_another_team_is_not_used(
    session: Session, project: Project, alice: User
) -> None:
    with guarded_shop() as shop:
        await in_db(lambda: set_up(project, shop=remote(shop)))
        row = await in_db(sign_in, project, alice, shop)

        def move() -> None:
            from tests.factories import make_team

            row.team = make_team(alice, name="Other")
            row.save()

        await in_db(move)
        target = await target_of(project, session)
        with pytest.raises(SignInNeeded):
            await with_mcp_session(target, buy)
    assert not await in_db(McpServer.objects.exists)
    config = await in_db(project_config, project)
    assert await in_db(offered_by_servers, project, config.mcp, None) == ()


def sign_in_own(project: Project, user: User, shop: GuardedShop) -> McpSignIn:
    access = access_project(authenticate_user(user), project.pk)
    back = shop.visit(begin_sign_in(access, "shop", own=True).authorization_url)
    attempt = take_own_attempt(access, name="shop")
    complete_sign_in(access, attempt, code=back.params["code"], issuer=None)
    return McpSignIn.objects.get(user=user)


async def test_an_own_account_is_used_in_turns_of_its_owner_alone(
    session: Session, project: Project, alice: User, bob: User
) -> None:
    """FEAT-0008 NFR-02."""
    with guarded_shop() as shop:
        await in_db(lambda: set_up(project, shop=remote(shop, account="own")))
        row = await in_db(sign_in_own, project, alice, shop)
        used = "1 of tea for Bearer [secret of the sign-in]"
        await in_db(prompt, alice, session, called("shop_stock", item="tea"))
        session = await drain(session)
        await answer(alice, session)
        session = await drain(session)
        # The same session, with the server that is kept for it.
        await in_db(prompt, bob, session, called("shop_stock", item="tea"))
        session = await drain(session)
        await in_db(prompt, bob, session, called("shop_sign_in"))
        session = await drain(session)
        first, second, third = await states(session)
        assert first["output"] == used
        assert "There is no tool 'shop_stock'" in second["output"]
        url = f"/t/{project.team.slug}/p/{project.pk}/mcp"
        assert "who has not signed in to it yet" in third["error"]
        assert third["error"].endswith(url)
        # With their own they go on, with another grant.
        own = await in_db(sign_in_own, project, bob, shop)
        assert grant_of(own).access_token != grant_of(row).access_token
        await in_db(prompt, bob, session, called("shop_stock", item="tea"))
        session = await drain(session)
        await answer(alice, session)
        session = await drain(session)
        assert (await states(session))[-1]["output"] == used
        rows = await in_db(lambda: set(McpServer.objects.values_list("user", flat=True)))
        assert rows == {alice.pk, bob.pk}
        # What its server takes back from one is theirs to give again.
        shop.tell("forget-all")
        await in_db(prompt, bob, session, called("shop_stock", item="tea"))
        session = await drain(session)
        await answer(alice, session)
        session = await drain(session)
        assert url in (await states(session))[-1]["error"]
    assert await in_db(lambda: McpSignIn.objects.get(user=bob).state) == "refused"
    assert await in_db(lambda: McpSignIn.objects.get(user=alice).state) == ""
