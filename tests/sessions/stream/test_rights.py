from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.sessions.models import Session as StoredSession
from django.db import OperationalError, connections
from django.test import Client
from django.utils import timezone

from opencode_web.lib import bus
from opencode_web.lib.db import in_db, in_view_db
from opencode_web.lib.errors import NotFound, Unauthorized
from sessions.access import access_session
from sessions.models import Session
from sessions.stream import rights
from sessions.stream.durable import durable_stream
from sessions.stream.hub import Overflow
from sessions.stream.rights import watch_rights
from sessions.stream.sse import Scope, open_stream
from sessions.stream.terminal_clients import next_request
from sessions.stream.turns import wait_until
from teams.access import ACCESS_CHANGED, access_team
from teams.actions.browsers import sign_out_others
from teams.actions.members import change_role, remove_member
from teams.actions.tokens import revoke_token
from teams.actions.users import change_password
from teams.auth import Principal, authenticate_header, authenticate_user
from teams.browser import BrowserSession
from teams.models import ApiToken, Membership, Role, Team, User
from teams.standing import read_standings
from tests.factories import make_browser, make_token, make_user
from tests.sessions.test_consumers import close_code, socket_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
async def lost_messages(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """A bus that delivers nothing, and rounds that follow each other quickly."""
    assert rights.CHECK_S < 4
    monkeypatch.setattr(rights, "CHECK_S", 0.05)
    monkeypatch.setattr(bus, "_enqueue", lambda *_: None)
    yield
    await sync_to_async(connections.close_all)()


def _remove(bob: User, alice: User) -> None:
    remove_member(Membership.objects.get(user=bob), access=access_team(alice, "acme"))


def _demote(bob: User, alice: User) -> None:
    membership = Membership.objects.get(user=bob)
    change_role(membership, access=access_team(alice, "acme"), role=Role.BILLING)


def _deactivate(bob: User, alice: User) -> None:
    User.objects.filter(pk=bob.pk).update(is_active=False)


def _sign_out(bob: User, alice: User) -> None:
    sign_out_others(bob, keep=None)


def _expire_session(bob: User, alice: User) -> None:
    past = timezone.now() - timedelta(seconds=1)
    StoredSession.objects.update(expire_date=past)


def _new_password(bob: User, alice: User) -> None:
    change_password(bob, password="another-long-phrase")


def _revoke(bob: User, alice: User) -> None:
    revoke_token(ApiToken.objects.get(user=bob), actor=bob)


def _expire_token(bob: User, alice: User) -> None:
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


Loss = Callable[[User, User], None]
OF_ALL: list[Loss] = [_remove, _demote, _deactivate]
OF_BROWSERS: list[Loss] = [*OF_ALL, _sign_out, _expire_session, _new_password]
OF_TOKENS: list[Loss] = [*OF_ALL, _revoke, _expire_token]


@pytest.fixture
def browser(bob: User) -> Principal:
    return authenticate_user(bob, browser=BrowserSession(make_browser(bob).session_key))


@pytest.fixture
def token(bob: User, team: Team) -> Principal:
    principal = authenticate_header(f"Bearer {make_token(bob, team)[1]}")
    assert principal is not None
    return principal


@pytest.mark.parametrize("lose", OF_BROWSERS)
async def test_a_browser_socket_ends(
    session: Session, alice: User, bob: User, client_for: Callable[[User], Client], lose: Loss
) -> None:
    client = await in_db(client_for, bob)
    await in_db(client.get, "/me/devices")
    async with socket_of(client, f"session={session.pk}&after=0") as socket:
        await in_db(lose, bob, alice)
        assert await close_code(socket) in (4401, 4403)


@pytest.mark.parametrize("lose", OF_TOKENS)
@pytest.mark.parametrize("kind", [{}, {"is_global": True}, {"is_native": True}])
async def test_an_event_stream_ends(
    session: Session, alice: User, bob: User, token: Principal, lose: Loss, kind: dict[str, bool]
) -> None:
    frames = await open_stream(Scope(token, **kind))
    assert b"server.connected" in await anext(frames)
    await in_db(lose, bob, alice)
    await _until_end(frames)


@pytest.mark.parametrize("lose", OF_TOKENS)
async def test_the_durable_stream_of_a_session_ends(
    session: Session, alice: User, bob: User, token: Principal, lose: Loss
) -> None:
    frames = durable_stream(token, session.pk, after=0)
    assert await anext(frames) == b": open\n\n"
    await in_db(lose, bob, alice)
    await _until_end(frames)


@pytest.mark.parametrize("lose", [_deactivate, _revoke, _expire_token])
async def test_a_wait_for_requests_to_a_terminal_ui_ends(
    alice: User, bob: User, token: Principal, lose: Loss
) -> None:
    waiting = asyncio.create_task(next_request(token))
    await _watched(token)
    await in_db(lose, bob, alice)
    with pytest.raises(Unauthorized):
        await asyncio.wait_for(waiting, 5)


@pytest.mark.parametrize("lose", OF_TOKENS)
async def test_a_wait_for_the_end_of_a_turn_ends(
    session: Session, alice: User, bob: User, token: Principal, lose: Loss
) -> None:
    async def wait() -> None:
        async with watch_rights(token, f"session.{session.pk}") as bodies:
            await wait_until(token, lambda: access_session(token, session.pk) and None, bodies)

    waiting = asyncio.create_task(wait())
    await _watched(token)
    await in_db(lose, bob, alice)
    with pytest.raises((Unauthorized, NotFound)):
        await asyncio.wait_for(waiting, 4)


async def test_a_stream_of_somebody_without_a_team_ends_with_the_sign_in(
    alice: User,
) -> None:
    nobody = await in_db(make_user, "nora@example.com")
    row = await in_db(make_browser, nobody)
    principal = authenticate_user(nobody, browser=BrowserSession(row.session_key))
    frames = await open_stream(Scope(principal))
    await anext(frames)
    await in_db(sign_out_others, nobody, keep=None)
    await _until_end(frames)


async def test_all_connections_of_a_process_cost_two_queries_together(
    alice: User,
    bob: User,
    browser: Principal,
    token: Principal,
    django_assert_num_queries: Any,
) -> None:
    def read() -> None:
        with django_assert_num_queries(2):
            found = read_standings({browser, token, authenticate_user(alice)})
        assert len({standing.credential for standing in found.values()}) == 3
        assert all(standing.person for standing in found.values())

    await in_db(read)


async def test_nothing_is_read_while_nobody_is_connected(
    token: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = 0

    def read(principals: Any) -> Any:
        nonlocal rounds
        rounds += 1
        return read_standings(principals)

    monkeypatch.setattr(rights, "read_standings", read)
    async with AsyncExitStack() as stack:
        for _ in range(20):
            await stack.enter_async_context(watch_rights(token))
        await _watched(token)
        task = rights._watchers[asyncio.get_running_loop()].task
        assert rounds < 20
    await asyncio.wait({task}, timeout=5)
    assert task.cancelled()
    assert asyncio.get_running_loop() not in rights._watchers


async def test_a_token_expires_while_the_database_is_away(
    token: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_: object) -> None:
        raise OperationalError("gone")

    soon = timezone.now() + timedelta(seconds=0.5)
    await in_db(ApiToken.objects.update, expires_at=soon)
    async with watch_rights(token) as bodies, asyncio.timeout(5):
        assert await anext(bodies) == {"t": ACCESS_CHANGED}
        monkeypatch.setattr(rights, "read_standings", away)
        assert await anext(bodies) == {"t": ACCESS_CHANGED}
    assert timezone.now() >= soon


async def test_connections_do_not_outlive_a_fault_of_the_watch(
    token: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(rights, "read_standings", fail)
    async with watch_rights(token) as bodies, asyncio.timeout(5):
        with pytest.raises(Overflow):
            await anext(bodies)
        with pytest.raises(ZeroDivisionError):
            await rights._watchers[asyncio.get_running_loop()].task


async def _until_end(frames: AsyncIterator[bytes]) -> None:
    async with asyncio.timeout(5):
        async for _ in frames:
            pass


async def _watched(principal: Principal) -> None:
    """Wait until a round has seen the connections that are open now."""
    async with watch_rights(principal) as bodies, asyncio.timeout(5):
        await anext(bodies)
    await in_view_db(int)
