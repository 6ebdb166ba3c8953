"""Sign-in with a genuine identity provider, and with a passkey of the browser's."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from bench import npm
from tests.e2e.browser import chromium, in_chromium
from tests.e2e.installation import PASSWORD, Installation, free_port

pytestmark = in_chromium
VERSION = "9.13.3"
_RULE = """
from teams.models import IdentityProvider, IdentityRule, Team
IdentityRule.objects.create(
    provider=IdentityProvider.objects.get(slug={slug!r}), claim="groups", value="developers",
    team=Team.objects.get(memberships__user__email={owner!r}), role="member",
)
"""

_REQUIRE = """
from teams.models import Team
Team.objects.filter(memberships__user__email={owner!r}).update(requires_mfa={on})
"""


@contextmanager
def oidc_provider(redirect: str) -> Iterator[str]:
    folder = npm.cache("oidc-provider", VERSION)
    package = folder / "node_modules" / "oidc-provider"
    try:
        npm.install([f"oidc-provider@{VERSION}"], package / "lib" / "index.js", folder)
    except npm.Unavailable as exc:
        pytest.skip(f"oidc-provider: {exc}")
    script, port = Path(__file__).with_name("idp.mjs"), free_port()
    command = ["node", str(script), str(package), str(port), redirect]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().strip() == "listening"
            yield f"http://localhost:{port}"
        finally:
            process.kill()


@pytest.fixture(autouse=True)
def person(server: Installation) -> None:
    """The person of `server.email` is a new one: a key of theirs asks for a second step."""
    server.bootstrap()


def base_of(server: Installation) -> str:
    # Keys belong to names, and 127.0.0.1 is none.
    return server.url.replace("127.0.0.1", "localhost")


def sign_in(page: Page, server: Installation) -> None:
    page.goto(f"{base_of(server)}/login")
    page.get_by_label("E-mail", exact=True).fill(server.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("navigation").first).to_be_visible()


@pytest.mark.deep
def test_a_person_signs_in_with_the_genuine_oidc_provider(server: Installation) -> None:
    base = base_of(server)
    with oidc_provider(f"{base}/sso/corp/return") as issuer, chromium() as browser:
        with browser.new_context() as context:
            page = context.new_page()
            sign_in(page, server)
            page.goto(f"{base}/ops/identity/new/oidc")
            page.get_by_label("Name").fill("Corp")
            page.get_by_label("Issuer").fill(issuer)
            page.get_by_label("Client ID").fill("web")
            page.get_by_label("Client secret").fill("a-secret-of-tests")
            page.get_by_label("E-mail domains").fill("corp.example")
            page.get_by_label("Create accounts").check()
            page.get_by_role("button", name="Save").click()
            expect(page.get_by_text(f"{base}/sso/corp/return")).to_be_visible()
        server.run(_RULE.format(slug="corp", owner=server.email))
        with browser.new_context() as context:
            page = context.new_page()
            page.goto(f"{base}/me/tokens")
            page.get_by_role("button", name="Sign in with Corp").click()
            page.get_by_placeholder("Enter any login").fill("grace")
            page.get_by_placeholder("and password").fill("any")
            page.get_by_role("button", name="Sign-in").click()
            page.get_by_role("button", name="Continue").click()
            expect(page).to_have_url(f"{base}/me/tokens")
            page.goto(f"{base}/me/profile")
            expect(page.get_by_role("main").get_by_text("grace@corp.example")).to_be_visible()
            expect(page.get_by_role("link", name="Member", exact=True)).to_be_visible()


def test_a_passkey_is_added_and_signs_in_without_a_password(server: Installation) -> None:
    with chromium() as browser, browser.new_context() as context:
        page = context.new_page()
        devices = context.new_cdp_session(page)
        devices.send("WebAuthn.enable")
        options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True}
        options |= {"hasUserVerification": True, "isUserVerified": True}
        devices.send(
            "WebAuthn.addVirtualAuthenticator",
            {"options": {**options, "automaticPresenceSimulation": True}},
        )
        sign_in(page, server)
        page.goto(f"{base_of(server)}/me/security")
        page.get_by_role("link", name="Add key").click()
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Confirm").click()
        page.get_by_label("Passwordless").check()
        page.get_by_role("button", name="Add key").click()
        expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
        page.get_by_role("link", name="I have saved them").click()
        expect(page.get_by_text("Passkey", exact=True)).to_be_visible()
        context.clear_cookies()
        page.goto(f"{base_of(server)}/me/tokens")
        page.get_by_role("button", name="Sign in with a passkey").click()
        expect(page).to_have_url(f"{base_of(server)}/me/tokens")
        # With the password alone it is half a sign-in now; the key is the other half.
        context.clear_cookies()
        page.goto(f"{base_of(server)}/login")
        page.get_by_label("E-mail", exact=True).fill(server.email)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.get_by_role("button", name="Use a passkey or security key").click()
        expect(page.get_by_role("navigation").first).to_be_visible()
        # A browser without it is led to where it can be added, and back.
        server.run(_REQUIRE.format(owner=server.email, on=True))
        context.clear_cookies()
        key = server.sign_in(server.email)
        context.add_cookies([{"name": "sessionid", "value": key, "url": base_of(server)}])
        page.goto(base_of(server))
        expect(page).to_have_url(f"{base_of(server)}/me/security")
        expect(page.get_by_text("requires multi-factor authentication")).to_be_visible()
        expect(page.get_by_role("link", name="Continue")).to_be_visible()
        server.run(_REQUIRE.format(owner=server.email, on=False))
