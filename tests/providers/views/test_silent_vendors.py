from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from django.conf import settings
from django.test import Client

from opencode_web.handler import PageHandler
from opencode_web.lib.db import in_db
from opencode_web.lib.outside import PER_PERSON
from providers.actions.sign_ins import keep_grant
from providers.sign_ins import key_grant
from teams.models import Team, User

pytestmark = pytest.mark.django_db(transaction=True)
CSRF = "a" * 32


class Silent(httpx.AsyncBaseTransport):
    """Answers nobody until the test is over."""

    def __init__(self) -> None:
        self.asked = 0
        self.is_over = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.asked += 1
        while not self.is_over:  # asked from loops of several threads
            await asyncio.sleep(0.05)
        raise httpx.ConnectError("silent", request=request)


def cookies_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    return f"{settings.SESSION_COOKIE_NAME}={session}; {settings.CSRF_COOKIE_NAME}={CSRF}"


async def send(handler: PageHandler, cookies: str, path: str, **form: str) -> int:
    body = urlencode(form).encode()
    headers = {
        "host": "testserver",
        "cookie": cookies,
        "x-csrftoken": CSRF,
        "content-type": "application/x-www-form-urlencoded",
        "content-length": str(len(body)),
    }
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST" if form else "GET",
        "path": path,
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    received = iter([{"type": "http.request", "body": body, "more_body": False}])
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if (message := next(received, None)) is not None:
            return message
        await asyncio.sleep(3_600)
        raise AssertionError

    async def keep(message: dict[str, Any]) -> None:
        sent.append(message)

    await handler(scope, receive, keep)
    status: int = sent[0]["status"]
    return status


def connect_gitlab(user: User) -> None:
    grant = key_grant("gitlab", "glpat-0123456789abcdef", {})
    assert grant is not None
    keep_grant(user, "gitlab", grant, actor=user)


@pytest.mark.deep
async def test_who_waits_for_a_silent_vendor_holds_up_nobody_else(
    alice: User, bob: User, team: Team, internet: Any
) -> None:
    internet["gitlab.com"] = vendor = Silent()
    handler = PageHandler()
    await in_db(connect_gitlab, bob)
    of_bob, of_alice = await in_db(cookies_of, bob), await in_db(cookies_of, alice)
    path = "/me/models/p/gitlab/check"
    waiting = [
        asyncio.create_task(send(handler, of_bob, path, step="list"))
        for _ in range(settings.WEB_THREADS + 4)
    ]
    try:
        while vendor.asked < PER_PERSON:
            await asyncio.sleep(0.05)
        async with asyncio.timeout(10):
            assert await send(handler, of_alice, "/me/models/") == 200
            # What the person asks beyond that is refused at once.
            while sum(one.done() for one in waiting) < len(waiting) - PER_PERSON:
                await asyncio.sleep(0.05)
    finally:
        vendor.is_over = True
    statuses = sorted([await one for one in waiting])
    assert statuses == [200] * PER_PERSON + [429] * (len(waiting) - PER_PERSON)
    assert vendor.asked == PER_PERSON
    assert await send(handler, of_bob, path, step="list") == 200
