"""A project's forge, set up in a browser: rules, and a GitHub App that GitHub makes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from sessions.forges.adapter import ForgeKind
from tests.e2e.axe import find_faults
from tests.e2e.browser import of_page, signed_in_as
from tests.e2e.installation import Installation, installation
from tests.e2e.test_every_page import axe as axe
from tests.sessions.forges.servers import FakeForge
from tests.web_server import answer, serve_any

pytestmark = [*of_page, pytest.mark.deep]


def publish_to(page: Page, server: Installation, remote: str) -> str:
    """Returns: the page of the project's integration."""
    here = f"{server.url}/t/{server.team}/p/{server.project}/"
    page.goto(f"{here}publishing")
    page.locator("[name=remote_url]").fill(remote)
    page.locator("[name=kind]").select_option("github")
    page.get_by_role("button", name="Save").click()
    return f"{here}integration"


def add_rule(page: Page, trigger: str, prompt: str) -> None:
    page.get_by_role("link", name="Add rule").click()
    page.locator("[name=trigger]").select_option(trigger)
    page.locator("[name=prompt]").fill(prompt)
    page.get_by_role("button", name="Add rule").click()


def test_an_admin_sets_it_up_and_makes_rules(server: Installation, page: Page) -> None:
    page.goto(publish_to(page, server, "https://github.com/acme/till.git"))
    page.get_by_role("button", name="Set up").click()
    expect(page.get_by_text("Copy the secret now.")).to_be_visible()
    address = page.locator("#integration-address-text").inner_text()
    assert "/integrations/igr_" in address

    add_rule(page, "issue_opened", "Answer {url}.")
    expect(page.get_by_text("Rule added.")).to_be_visible()
    add_rule(page, "check_failed", "Mend {check}.")
    rules = page.locator("#integration-rules .list-row")
    expect(rules).to_have_count(2)
    rules.nth(1).get_by_role("button", name="Move").click()
    expect(rules.first).to_contain_text("Check of a pull request failed")

    rules.first.get_by_role("link").click()
    expect(page.locator("[name=prompt]")).to_have_value("Mend {check}.")
    page.get_by_label("Enabled").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(rules.first).to_contain_text("Disabled")
    rules.first.get_by_role("link").click()
    page.get_by_role("link", name="Remove").click()
    page.get_by_role("button", name="Remove").click()
    expect(rules).to_have_count(1)


@contextmanager
def github() -> Iterator[FakeForge]:
    """GitHub with the two pages of Apps that people see; whoever comes confirms at once."""
    hub = FakeForge(ForgeKind.GITHUB)

    def take(handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path.endswith("settings/apps/new"):
            length = int(handler.headers["content-length"])
            [manifest] = parse_qs(handler.rfile.read(length).decode())["manifest"]
            code, back = hub.apps.register(f"{hub.base}{parts.path}", manifest)
            query |= {"code": code}
        elif parts.path.endswith("/installations/new"):
            app = max(hub.apps.apps.values(), key=lambda one: one.number)
            made = hub.apps.install(app, hub.path)
            back = app.manifest["setup_url"]
            query |= {"installation_id": str(made.number), "setup_action": "install"}
        else:
            hub.take(handler)
            return
        answer(status=302, location=f"{back}?{urlencode(query)}")(handler)

    with serve_any(take) as hub.base:
        yield hub


def test_github_makes_an_app_and_installs_it(
    signed_in: BrowserContext, axe: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    pictures = request.config.getoption("--pictures")
    assert signed_in.browser is not None
    with github() as hub, installation(tmp_path) as server, ExitStack() as stack:
        server.env["PUBLIC_URL"] = server.url
        server.start()
        server.bootstrap()
        signed = stack.enter_context(signed_in_as(signed_in.browser, server, server.email))
        page = signed.new_page()
        page.goto(publish_to(page, server, f"{hub.page}.git"))
        page.get_by_role("link", name="Set up").click()
        assert list(find_faults(page, "github-app-new", axe, pictures=pictures)) == []
        # GitHub is another site: the policy of the page has to let the form go there.
        page.get_by_role("button", name="Create in the organization acme").click()
        expect(page.get_by_text("Created the GitHub App")).to_be_visible()
        page.get_by_role("link", name="Install on GitHub").click()
        expect(page.get_by_text("Used for acme/till. Webhook")).to_be_visible()
        assert list(find_faults(page, "github-app", axe, pictures=pictures)) == []
        [issued] = hub.apps.issued
        assert issued.repositories == {"acme/till"}
        page.get_by_role("button", name="Check installation").click()
        expect(page.get_by_text("The GitHub App is used for acme/till.")).to_be_visible()
