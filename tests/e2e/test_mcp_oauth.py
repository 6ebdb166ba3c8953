"""The genuine client of the MCP package connects by itself, with a person and their browser."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import Queue
from typing import Any

import httpx
import httpx2
import pytest
from mcp.client.auth import OAuthFlowError
from playwright.sync_api import expect

from tests.e2e.browser import PROGRAM, chromium, sign_in, watched
from tests.e2e.installation import Installation
from tests.e2e.mcp_oauth import Connection, deciding
from tests.e2e.test_mcp_server import READING, WRITING, call

pytestmark = [pytest.mark.e2e, pytest.mark.deep]


async def test_a_client_that_knows_an_address_alone_connects(server: Installation) -> None:
    made = Connection(server, deciding(server, scope="write"))
    async with made.opened() as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == READING | WRITING
        projects = (await call(client, "list_projects"))["projects"]
        assert server.project in {project["id"] for project in projects}
    assert len(made.sent_to) == 1
    assert made.storage.tokens is not None
    assert made.storage.tokens.scope == "read write"
    assert "/.well-known/oauth-protected-resource/mcp" in made.requested
    # It comes again with what it kept, and nobody is asked anything.
    before = len(made.requested)
    async with made.opened() as client:
        await call(client, "list_projects")
    assert len(made.sent_to) == 1
    assert {*made.requested[before:]} == {"/mcp"}


async def test_one_that_may_read_reads(server: Installation) -> None:
    made = Connection(server, deciding(server, scope="read"))
    async with made.opened() as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == READING


async def test_one_that_is_denied_has_nothing(server: Installation) -> None:
    made = Connection(server, deciding(server, deny="1"))
    with pytest.raises(BaseExceptionGroup) as caught:
        async with made.opened():
            pass
    assert caught.group_contains(OAuthFlowError, match="No authorization code")
    assert made.storage.tokens is None


async def test_its_token_opens_nothing_else(server: Installation) -> None:
    made = Connection(server, deciding(server, scope="write"))
    async with made.opened():
        pass
    headers = {"Authorization": f"Bearer {made.secret}"}
    with httpx.Client(base_url=server.url, headers=headers, timeout=60) as other:
        for path in ("/session", "/event", "/global/event", "/api/event", "/mcp", "/token", "/pty"):
            answer = other.get(path)
            assert answer.status_code == 401, path
            assert "/mcp alone" in answer.text, path
        upgrade = {
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        }
        own = server.client()
        terminal = own.post("/pty", json={"command": "cat"}).json()["id"]
        answer = other.get(f"/pty/{terminal}/connect", headers=upgrade)
        assert answer.status_code == 403
        own.delete(f"/pty/{terminal}")
        own.close()


async def test_one_whose_token_was_revoked_asks_the_person_again(server: Installation) -> None:
    made = Connection(server, deciding(server, scope="write"))
    async with made.opened() as client:
        server.run(
            f"""
from teams.actions.tokens import revoke_token
from teams.auth import find_token
row = find_token({made.secret!r})
revoke_token(row, actor=row.user)
"""
        )
        first = made.secret
        await call(client, "list_projects")
    assert len(made.sent_to) == 2
    assert made.secret != first


async def test_one_renews_its_token_without_the_person(server: Installation) -> None:
    made = Connection(server, deciding(server, scope="write"))
    async with made.opened() as client:
        first = made.secret
        server.run(
            f"""
from django.utils import timezone
from teams.auth import find_token
from teams.models import ApiToken
ApiToken.objects.filter(pk=find_token({first!r}).pk).update(renew_by=timezone.now())
"""
        )
        assert made.provider is not None
        # An hour later for the client, too.
        made.provider.context.token_expiry_time = 1.0
        await call(client, "list_projects")
        assert made.secret != first
        assert made.provider.context.is_token_valid()
    assert len(made.sent_to) == 1
    assert made.requested.count("/oauth/token") == 2


async def test_one_of_somebody_who_was_deactivated_is_out(server: Installation) -> None:
    server.have_person("dora@example.com", "Team of Dora")
    made = Connection(server, deciding(server, "dora@example.com", scope="write"))
    async with made.opened():
        pass
    server.run(
        """
from teams.models import User
User.objects.filter(email="dora@example.com").update(is_active=False)
"""
    )
    headers = {"Authorization": f"Bearer {made.secret}", "Accept": "text/event-stream"}
    answer = httpx.post(f"{server.url}/mcp", json={}, headers=headers)
    assert answer.status_code == 401
    assert "resource_metadata=" in answer.headers["WWW-Authenticate"]


@contextmanager
def listening() -> Iterator[tuple[str, list[str]]]:
    """A program that a browser is sent back to, and the paths it is asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/callback"):
                asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<title>Done</title>You can close this window.")

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as site:
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{site.server_port}/callback", asked
        finally:
            site.shutdown()
            thread.join()


@pytest.mark.skipif(not PROGRAM, reason="chromium is not installed")
def test_a_person_connects_it_in_a_browser(server: Installation) -> None:
    urls, answers = Queue[str](), Queue[str]()

    def decide(url: str) -> str:
        urls.put(url)
        return answers.get(timeout=120)

    async def offered() -> set[str]:
        async with made.opened() as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    # Playwright keeps to the thread that it was started on.
    with ThreadPoolExecutor(1) as pool, listening() as (back, asked):
        made = Connection(server, decide, back)
        seen = pool.submit(asyncio.run, offered())
        with (
            chromium() as browser,
            browser.new_context() as context,
            watched(context, console=True) as page,
        ):
            page.goto(urls.get(timeout=60))
            sign_in(page, server.email)
            expect(page.get_by_role("heading")).to_have_text("Connect an MCP client")
            expect(page.get_by_text("at 127.0.0.1:")).to_be_visible()
            page.get_by_role("button", name="Connect").click()
            # Nothing is chosen for them.
            expect(page.get_by_role("heading")).to_have_text("Connect an MCP client")
            assert asked == []
            page.get_by_label("Read:").check()
            page.get_by_role("button", name="Connect").click()
            expect(page).to_have_title("Done")
        answers.put(asked[0])
        assert seen.result(60) == READING
    assert len(asked) == 1


async def test_a_wrong_token_is_told_where_to_begin(server: Installation) -> None:
    async with httpx2.AsyncClient() as http:
        for header in ({}, {"Authorization": "Bearer ocw_wrong"}):
            answer = await http.post(
                f"{server.url}/mcp", json={}, headers={"Accept": "text/event-stream", **header}
            )
            assert answer.status_code == 401
            told = answer.headers["WWW-Authenticate"]
            where = f"{server.url}/.well-known/oauth-protected-resource/mcp"
            assert f'resource_metadata="{where}"' in told
