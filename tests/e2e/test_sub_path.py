"""Everything below `/agents` of a host, through a real proxy."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect

from bench.npm import Unavailable
from bench.reference import install, install_sdk
from tests.e2e.browser import chromium, in_chromium, sign_in, watched
from tests.e2e.genuine import Genuine
from tests.e2e.installation import Installation, installation
from tests.e2e.mcp_oauth import Connection, deciding
from tests.e2e.nginx import below_agents, needs_nginx
from tests.e2e.previewed import APP
from tests.e2e.rest import ask, body, new_session, script, text_of
from tests.e2e.test_genuine_sdk import STORY
from tests.e2e.test_mcp_server import READING
from tests.e2e.test_panel import shown

pytestmark = [*in_chromium, needs_nginx, pytest.mark.deep, pytest.mark.timeout(300)]

_ADDRESS = re.compile(r'\s(?:href|src|action|hx-(?:get|post|put|delete)|data-[\w-]+)="(/[^"]*)"')
_PAGES = 120
_PORT = 5174


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("agents")
    with installation(folder) as made, below_agents(made, folder) as proxied:
        yield proxied


def visit(page: Page, site: Installation) -> list[str]:
    """Returns: the paths that the page asks for from now on, outside of where it is."""
    asked: list[str] = []

    def note(url: str) -> None:
        if not urlsplit(url).path.startswith("/agents"):
            asked.append(url)

    page.on("request", lambda request: note(request.url))
    page.on("websocket", lambda socket: note(socket.url))
    page.goto(site.url)
    return asked


def test_a_first_turn_a_terminal_the_palette_and_the_offline_page(
    site: Installation,
) -> None:
    size: Any = {"width": 1440, "height": 900}
    with chromium(whole=True) as browser, browser.new_context(viewport=size) as context:
        context.grant_permissions(["notifications"], origin=f"http://127.0.0.1:{site.port}")
        with watched(context, console=True, cut="ERR_INTERNET_DISCONNECTED") as page:
            outside = visit(page, site)
            sign_in(page, site.email)
            expect(page.get_by_role("link", name="Sample project").first).to_be_visible()
            page.get_by_role("link", name="Sample project").first.click()
            page.locator("[data-prompt]").fill("The till test fails. Please fix it.")
            page.get_by_role("button", name="Start").click()
            card = page.locator("[data-permission]")
            expect(card).to_contain_text("till.py", timeout=30_000)
            expect(page.locator("#live")).to_have_attribute("data-state", "live")
            page.wait_for_timeout(700)
            card.get_by_role("button", name="Allow once").click()
            expect(card).to_contain_text("python3 -m unittest -q", timeout=30_000)
            page.keyboard.press("Control+k")
            page.keyboard.type("appearance")
            expect(page.get_by_role("option").first).to_contain_text("Appearance")
            page.keyboard.press("Escape")
            page.get_by_role("heading").first.click()
            page.keyboard.press("`")
            page.get_by_role("button", name="New terminal").click()
            shown(page, "bash-")
            page.goto(f"{site.url}/me/notifications")
            page.evaluate("navigator.serviceWorker.register('/agents/sw.js')")
            scope = page.evaluate("navigator.serviceWorker.ready.then((one) => one.scope)")
            assert urlsplit(scope).path == "/agents/"
            context.set_offline(True)
            page.goto(f"{site.url}/me/profile")
            expect(page.get_by_role("heading", name="No connection")).to_be_visible()
            context.set_offline(False)
            assert outside == []
            assert {one["path"] for one in context.cookies()} == {"/agents"}


def test_an_app_that_runs_in_a_terminal_is_previewed(site: Installation) -> None:
    with site.client() as client:
        session = new_session(client)
        command = {"command": "python3", "args": ["-c", APP, str(_PORT)]}
        assert client.post("/pty", json=command).status_code == 200
    with chromium(whole=True) as browser, browser.new_context() as context:
        page = context.new_page()
        page.goto(site.url)
        sign_in(page, site.email)
        page.goto(f"{site.url}/t/{site.team}/s/{session}?panel=preview")
        page.locator("[data-preview]").get_by_role("button", name=f"Port {_PORT}").click()
        app = page.frame_locator("[data-preview] iframe")
        expect(app.get_by_role("heading")).to_have_text("Hello nobody")
        expect(app.locator("#socket")).to_have_text("echoed 200000 by echo.v1")


async def test_an_mcp_client_finds_its_way_below_the_path(site: Installation) -> None:
    made = Connection(site, deciding(site, scope="read"))
    async with made.opened() as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == READING
    assert "/.well-known/oauth-authorization-server/agents" in made.requested
    assert all("/agents" in path for path in made.requested)
    # Where a proxy passes on nothing but the path, some look below it.
    below = httpx.get(f"{site.url}/.well-known/openid-configuration").json()
    assert below["issuer"] == site.url
    assert below["token_endpoint"] == f"{site.url}/oauth/token"
    root = f"http://127.0.0.1:{site.port}/.well-known/oauth-protected-resource/agents/mcp"
    assert httpx.get(root).json()["resource"] == f"{site.url}/mcp"


def test_no_page_names_an_address_outside(site: Installation) -> None:
    with site.client(follow_redirects=False) as client:
        client.headers.pop("Authorization")
        # The password of the fixture is hashed anew by the first sign-in, which ends its sessions.
        client.cookies.set("sessionid", site.sign_in(site.email))
        session = made_session(site)
        wanted = ["/agents/", f"/agents/t/{site.team}/s/{session}", "/agents/ops/", "/agents/docs"]
        seen = set[str]()
        while wanted and len(seen) < _PAGES:
            path = wanted.pop(0)
            if path in seen:
                continue
            seen.add(path)
            response = client.get(f"http://127.0.0.1:{site.port}{path}")
            assert response.status_code < 400, (path, response.status_code)
            found = (
                _ADDRESS.findall(response.text)
                if "html" in response.headers["content-type"]
                else []
            )
            if to := response.headers.get("location"):
                found.append(urlsplit(urljoin(path, to)).path)
            outside = [one for one in found if not one.startswith("/agents")]
            assert outside == [], path
            links = re.findall(r'<a\s[^>]*?href="(/agents[^"#]*)"', response.text)
            wanted += [one.replace("&amp;", "&") for one in links if "logout" not in one]
        assert len(seen) > 60


def made_session(site: Installation) -> str:
    with site.client() as client:
        session = new_session(client)
        answer = ask(client, session, script([{"text": "Below a path."}]))
        assert text_of(answer) == "Below a path."
    return session


def test_the_api_names_addresses_below_the_path(site: Installation) -> None:
    session = made_session(site)
    with site.client() as client:
        assert client.get("/doc").json()["servers"] == [{"url": "/agents"}]
        page = client.get(f"/session/{session}/message", params={"limit": 1})
        assert f"/agents/session/{session}/message?" in page.headers["Link"]
        alias = client.get(f"/project/{site.project}/session/{session}")
        assert alias.json()["id"] == session
        assert client.get("/nothing-here").status_code == 404
        unknown = client.get("/session/nothing/here")
        assert (unknown.status_code, unknown.json()["name"]) == (404, "NotFoundError")
        etag = client.get("/agent").headers["ETag"]
        assert client.get("/agent", headers={"If-None-Match": etag}).status_code == 304
    at_server = f"http://127.0.0.1:{site.port}"
    assert httpx.get(f"{at_server}/session").status_code == 404


def test_a_stream_comes_as_it_is_written(site: Installation) -> None:
    with site.client() as client, client.stream("GET", "/event") as stream:
        lines = stream.iter_lines()
        assert "server.connected" in next(line for line in lines if line.startswith("data:"))
        session = new_session(client)
        client.post(f"/session/{session}/prompt_async", json=body(script([{"text": "Hi."}])))
        assert next(line for line in lines if session in line)


def test_the_genuine_clients_attach(
    site: Installation, tmp_path_factory: pytest.TempPathFactory
) -> None:
    try:
        program, module = install(), install_sdk()
    except Unavailable as exc:
        pytest.skip(f"the genuine client: {exc}")
    genuine = Genuine(program, tmp_path_factory.mktemp("home"), site)
    done = genuine.run(
        script([{"tool": "read", "input": {"filePath": "till.py"}}], [{"text": "42."}])
    )
    assert (done.returncode, done.stdout.strip()) == (0, "42."), done.stderr
    prompt = script([{"text": "From below."}])
    command = [str(shutil.which("node")), str(STORY), str(module), site.url, site.token, prompt]
    story = subprocess.run(command, capture_output=True, text=True, timeout=110)
    assert story.returncode == 0, story.stderr
    assert "From below." in json.dumps(json.loads(story.stdout)["answer"])
