from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from opencode_web.lib.db import in_db
from sessions.actions import terminals
from sessions.models import TerminalTicket
from teams.actions.tokens import revoke_token
from teams.models import ApiToken, Scope, Team, User
from tests.factories import make_token
from tests.sessions.terminals.conftest import Person
from tests.sessions.terminals.shell import Refused, attached

pytestmark = pytest.mark.django_db(transaction=True)
Header = list[tuple[bytes, bytes]]
OWN_PAGE = [(b"origin", b"http://localhost")]
OTHER_PAGE = [(b"origin", b"http://evil.example")]


def bearer(user: User, team: Team, scope: Scope = Scope.WRITE) -> Header:
    return [(b"authorization", f"Bearer {make_token(user, team, scope)[1]}".encode())]


def basic(user: User, team: Team) -> Header:
    pair = f"{user.email}:{make_token(user, team)[1]}".encode()
    return [(b"authorization", b"Basic " + base64.b64encode(pair))]


def revoked(user: User, team: Team) -> Header:
    token, secret = make_token(user, team)
    revoke_token(token, actor=user)
    return [(b"authorization", f"Bearer {secret}".encode())]


def expired(user: User, team: Team) -> Header:
    token, secret = make_token(user, team)
    ApiToken.objects.filter(pk=token.pk).update(expires_at=timezone.now() - timedelta(days=1))
    return [(b"authorization", f"Bearer {secret}".encode())]


def cookie(user: User) -> Header:
    client = Client()
    client.force_login(user)
    value = client.cookies[settings.SESSION_COOKIE_NAME].value
    return [(b"cookie", f"{settings.SESSION_COOKIE_NAME}={value}".encode())]


async def is_let_in(terminal_id: str, headers: Header, query: str = "", path: str = "pty") -> bool:
    try:
        async with attached(terminal_id, headers, query=query, path=path) as shell:
            await shell.begun()
    except Refused:
        return False
    return True


async def test_who_may_attach(
    ann: Person, team: Team, alice: User, adam: User, bob: User, vera: User, charlie: User
) -> None:
    info = await ann.open()

    def keys() -> dict[str, Header]:
        globex = charlie.memberships.get().team
        return {
            "nobody": [],
            "a revoked token": revoked(alice, team),
            "an expired token": expired(alice, team),
            "a token that may read": bearer(alice, team, Scope.READ),
            "a token that may write": bearer(alice, team),
            "e-mail and token": basic(alice, team),
            "e-mail and token, of another site": [*basic(alice, team), *OTHER_PAGE],
            "a wrong token": [(b"authorization", b"Bearer ocw_nothing")],
            "an admin": bearer(adam, team),
            "another member": bearer(bob, team),
            "a viewer": bearer(vera, team),
            "another team": bearer(charlie, globex),
            "a browser": [*cookie(alice), *OWN_PAGE],
            "a browser without an origin": cookie(alice),
            "a browser on another site": [*cookie(alice), *OTHER_PAGE],
            "another browser": [*cookie(bob), *OWN_PAGE],
        }

    headers = await in_db(keys)
    let_in = {name for name, given in headers.items() if await is_let_in(info["id"], given)}
    assert let_in == {"a token that may write", "e-mail and token", "a browser"}
    assert not await is_let_in("pty_unknown", headers["a browser"])


async def ticket_of(person: Person, terminal_id: str, path: str = "/pty") -> str:
    response = await person.call(
        "post", f"{path}/{terminal_id}/connect-token", **{"x-opencode-ticket": "1"}
    )
    assert response["Cache-Control"] == "no-store"
    body = response.json()
    body = body.get("data", body)
    assert body["expires_in"] == 60
    return str(body["ticket"])


async def test_a_ticket_attaches_once_and_to_its_terminal_only(ann: Person) -> None:
    one, two = await ann.open(), await ann.open()
    ticket = await ticket_of(ann, one["id"])
    assert not await is_let_in(two["id"], OWN_PAGE, f"ticket={ticket}")
    assert not await is_let_in(one["id"], OTHER_PAGE, f"ticket={ticket}")
    assert await is_let_in(one["id"], OWN_PAGE, f"ticket={ticket}")
    assert not await is_let_in(one["id"], OWN_PAGE, f"ticket={ticket}")
    assert not await is_let_in(one["id"], [], "ticket=nonsense")


async def test_a_listed_origin_attaches_with_a_ticket_and_nothing_else(
    ann: Person, alice: User, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "CORS_ORIGINS", ["http://evil.example"])
    info = await ann.open()
    for headers in await in_db(lambda: [cookie(alice), basic(alice, team)]):
        assert not await is_let_in(info["id"], [*headers, *OTHER_PAGE])
    ticket = await ticket_of(ann, info["id"])
    assert await is_let_in(info["id"], OTHER_PAGE, f"ticket={ticket}")


async def test_the_second_version_of_the_api_attaches_too(ann: Person) -> None:
    info = await ann.open()
    ticket = await ticket_of(ann, info["id"], "/api/pty")
    place = f"location%5Bdirectory%5D=/&cursor=0&ticket={ticket}"
    assert await is_let_in(info["id"], [], place, path="api/pty")


async def test_a_ticket_is_soon_worth_nothing(ann: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    info = await ann.open()
    ticket = await ticket_of(ann, info["id"])
    await in_db(TerminalTicket.objects.update, expires_at=timezone.now() - timedelta(seconds=1))
    assert not await is_let_in(info["id"], [], f"ticket={ticket}")
    monkeypatch.setattr(terminals, "TICKET_S", 60)
    await ticket_of(ann, info["id"])
    # Old ones go with the next.
    assert await in_db(TerminalTicket.objects.count) == 1


async def test_a_ticket_is_worth_what_its_token_is(ann: Person, alice: User) -> None:
    info = await ann.open()
    ticket = await ticket_of(ann, info["id"])
    await in_db(revoke_token, ann.token, actor=alice)
    assert not await is_let_in(info["id"], [], f"ticket={ticket}")


async def test_a_ticket_of_a_browser_ends_with_its_sign_in(
    ann: Person, alice: User, client_for: Callable[[User], Client]
) -> None:
    info = await ann.open()
    browser = await in_db(client_for, alice)
    address = f"/pty/{info['id']}/connect-token"
    headers = {"x-opencode-ticket": "1"}
    tickets = [
        (await in_db(browser.post, address, headers=headers)).json()["ticket"] for _ in range(2)
    ]
    assert await is_let_in(info["id"], OWN_PAGE, f"ticket={tickets[0]}")
    async with attached(info["id"], OWN_PAGE, query=f"ticket={tickets[1]}") as shell:
        await shell.begun()
        assert (await in_db(browser.post, "/logout")).status_code == 302
        assert await shell.closed() == 4401
    # The terminal is the person's and goes on.
    response: Any = await ann.call("get", f"/pty/{info['id']}")
    assert response.json()["status"] == "running"


async def test_a_ticket_needs_a_header_that_no_other_site_can_send(ann: Person) -> None:
    info = await ann.open()
    response = await ann.call("post", f"/pty/{info['id']}/connect-token")
    assert response.status_code == 403
    assert "x-opencode-ticket: 1" in response.json()["data"]["message"]


async def test_others_look_on_only_while_its_person_lets_them(
    ann: Person, bill: Person, team: Team, vera: User, charlie: User
) -> None:
    info = await ann.open()
    terminal = info["id"]

    def keys() -> dict[str, Header]:
        globex = charlie.memberships.get().team
        return {
            "a viewer": bearer(vera, team),
            "another team": bearer(charlie, globex),
            "nobody": [],
            "another browser": [*cookie(bill.user), *OWN_PAGE],
            "another member": bill.headers,
        }

    headers = await in_db(keys)
    for given in headers.values():
        assert not await is_let_in(terminal, given, "watch=1")
    answer = await ann.call("put", f"/pty/{terminal}", {"watchable": True})
    assert answer.status_code == 200
    let_in = {
        name for name, given in headers.items() if await is_let_in(terminal, given, "watch=1")
    }
    assert let_in == {"another browser", "another member"}
    # To look on is all that it lets them do.
    assert not await is_let_in(terminal, bill.headers)
    assert (await bill.call("put", f"/pty/{terminal}", {"title": "mine"})).status_code == 404
    assert (await bill.call("delete", f"/pty/{terminal}")).status_code == 404
    ticket = {"x-opencode-ticket": "1"}
    token = await bill.call("post", f"/pty/{terminal}/connect-token", **ticket)
    assert token.status_code == 404


async def test_what_a_watcher_types_is_refused_and_never_arrives(ann: Person, bill: Person) -> None:
    info = await ann.open()
    terminal = info["id"]
    await ann.call("put", f"/pty/{terminal}", {"watchable": True})
    async with (
        attached(terminal, ann.headers) as own,
        attached(terminal, bill.headers, query="watch=1") as watcher,
    ):
        await own.until("ready> ")
        await own.type("echo se''en\r")
        await watcher.until("seen\r\n")
        await watcher.type("echo ty''ped\r")
        assert await watcher.closed() == 4403
        await own.type("echo do''ne\r")
        await own.until("done\r\n")
        assert "typed" not in own.whole


async def test_watchers_go_when_its_person_closes_it_to_them(ann: Person, bill: Person) -> None:
    info = await ann.open()
    terminal = info["id"]
    await ann.call("put", f"/pty/{terminal}", {"watchable": True})
    async with (
        attached(terminal, ann.headers) as own,
        attached(terminal, bill.headers, query="watch=1") as watcher,
    ):
        await own.until("ready> ")
        await watcher.until("ready> ")
        size = await ann.call("put", f"/pty/{terminal}", {"size": {"rows": 9, "cols": 70}})
        assert size.status_code == 200
        assert json.loads((await watcher.control())[1:]) == {"rows": 9, "cols": 70}
        await ann.call("put", f"/pty/{terminal}", {"watchable": False})
        assert await watcher.closed() == 4404
        await own.type("echo st''ill\r")
        await own.until("still\r\n")
