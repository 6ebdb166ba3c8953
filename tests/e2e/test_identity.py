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
from tests.e2e.installation import PASSWORD, Installation, free_port, installation
from tests.e2e.nginx import below_agents, needs_nginx
from tests.teams.identity.idp import make_key

pytestmark = [*in_chromium, pytest.mark.deep]
VERSION, SAMLP_VERSION, EXPRESS_VERSION = "9.13.3", "8.0.0", "4.21.2"
_RULE = """
from teams.models import IdentityProvider, IdentityRule, Team
IdentityRule.objects.create(
    provider=IdentityProvider.objects.get(slug={slug!r}), claim={claim!r}, value="developers",
    team=Team.objects.get(memberships__user__email={owner!r}), role="member",
)
"""

_REQUIRE = """
from teams.models import Team
Team.objects.filter(memberships__user__email={owner!r}).update(requires_mfa={on})
"""


@contextmanager
def oidc_provider(redirect: str) -> Iterator[str]:
    folder = installed("oidc-provider", VERSION)
    with running("idp.mjs", str(folder / "node_modules" / "oidc-provider"), redirect) as issuer:
        yield issuer


@contextmanager
def saml_provider(answers: str, folder: Path) -> Iterator[str]:
    for name, text in zip(("key", "cert"), make_key(), strict=True):
        (folder / name).write_text(text)
    files = str(folder / "key"), str(folder / "cert")
    package = installed("samlp", SAMLP_VERSION, f"express@{EXPRESS_VERSION}")
    with running("saml_idp.mjs", str(package), answers, *files) as issuer:
        yield issuer


def installed(name: str, version: str, *others: str) -> Path:
    folder = npm.cache(name, version)
    try:
        npm.install(
            [f"{name}@{version}", *others], folder / "node_modules" / name / "package.json", folder
        )
    except npm.Unavailable as exc:
        pytest.skip(f"{name}: {exc}")
    return folder


@contextmanager
def running(script: str, package: str, *arguments: str) -> Iterator[str]:
    port = free_port()
    command = ["node", str(Path(__file__).with_name(script)), package, str(port), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().strip() == "listening"
            yield f"http://localhost:{port}"
        finally:
            process.kill()


@pytest.fixture(scope="module")
def below(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("agents")
    with installation(folder) as made, below_agents(made, folder, "localhost") as proxied:
        yield proxied


@pytest.fixture(params=["shared", pytest.param("below", marks=needs_nginx)])
def site(request: pytest.FixtureRequest) -> Installation:
    """At the root of a host, or below `/agents`, with a new person: a key of theirs asks for a
    second step."""
    found: Installation = request.getfixturevalue(request.param)
    found.bootstrap()
    return found


def base_of(site: Installation) -> str:
    # Keys belong to names, and 127.0.0.1 is none.
    return site.url.replace("127.0.0.1", "localhost")


def sign_in(page: Page, site: Installation) -> None:
    page.goto(f"{base_of(site)}/login")
    page.get_by_label("E-mail", exact=True).fill(site.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("navigation").first).to_be_visible()


def test_a_person_signs_in_with_the_genuine_oidc_provider(site: Installation) -> None:
    base = base_of(site)
    with oidc_provider(f"{base}/sso/corp/return") as issuer, chromium() as browser:
        with browser.new_context() as context:
            page = context.new_page()
            sign_in(page, site)
            page.goto(f"{base}/ops/identity/new/oidc")
            page.get_by_label("Name").fill("Corp")
            page.get_by_label("Issuer").fill(issuer)
            page.get_by_label("Client ID").fill("web")
            page.get_by_label("Client secret").fill("a-secret-of-tests")
            page.get_by_label("E-mail domains").fill("corp.example")
            page.get_by_label("Create accounts").check()
            page.get_by_role("button", name="Save").click()
            expect(page.get_by_text(f"{base}/sso/corp/return")).to_be_visible()
        site.run(_RULE.format(slug="corp", claim="groups", owner=site.email))
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


def test_a_person_signs_in_with_a_genuine_saml_provider(site: Installation, tmp_path: Path) -> None:
    base = base_of(site)
    with (
        saml_provider(f"{base}/sso/partner/acs", tmp_path) as issuer,
        chromium() as browser,
        browser.new_context() as context,
    ):
        page = context.new_page()
        sign_in(page, site)
        page.goto(f"{base}/ops/identity/new/saml")
        page.get_by_label("Name").fill("Partner")
        page.get_by_label("Metadata").fill(f"{issuer}/metadata")
        page.get_by_label("E-mail domains").fill("partner.example")
        page.get_by_label("Treat addresses").check()
        page.get_by_label("Create accounts").check()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text(f"{base}/sso/partner/acs")).to_be_visible()
        claim = "http://schemas.passportjs.com/groups"
        site.run(_RULE.format(slug="partner", claim=claim, owner=site.email))
        context.clear_cookies()
        page.goto(f"{base}/me/tokens")
        page.get_by_role("button", name="Sign in with Partner").click()
        expect(page).to_have_url(f"{base}/me/tokens")
        page.goto(f"{base}/me/profile")
        expect(page.get_by_role("main").get_by_text("grace@partner.example")).to_be_visible()
        expect(page.get_by_role("link", name="Member", exact=True)).to_be_visible()


def test_a_passkey_is_added_and_signs_in_without_a_password(site: Installation) -> None:
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
        sign_in(page, site)
        page.goto(f"{base_of(site)}/me/security")
        page.get_by_role("link", name="Add key").click()
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Confirm").click()
        page.get_by_label("Passwordless").check()
        page.get_by_role("button", name="Add key").click()
        expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
        page.get_by_role("link", name="I have saved them").click()
        expect(page.get_by_text("Passkey", exact=True)).to_be_visible()
        context.clear_cookies()
        page.goto(f"{base_of(site)}/me/tokens")
        page.get_by_role("button", name="Sign in with a passkey").click()
        expect(page).to_have_url(f"{base_of(site)}/me/tokens")
        # With the password alone it is half a sign-in now; the key is the other half.
        context.clear_cookies()
        page.goto(f"{base_of(site)}/login")
        page.get_by_label("E-mail", exact=True).fill(site.email)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.get_by_role("button", name="Use a passkey or security key").click()
        expect(page.get_by_role("navigation").first).to_be_visible()
        # A browser without it is led to where it can be added, and back.
        site.run(_REQUIRE.format(owner=site.email, on=True))
        context.clear_cookies()
        key = site.sign_in(site.email)
        context.add_cookies([{"name": "sessionid", "value": key, "url": base_of(site)}])
        page.goto(base_of(site))
        expect(page).to_have_url(f"{base_of(site)}/me/security")
        expect(page.get_by_text("requires multi-factor authentication")).to_be_visible()
        expect(page.get_by_role("link", name="Continue")).to_be_visible()
        site.run(_REQUIRE.format(owner=site.email, on=False))
