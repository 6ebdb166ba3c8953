from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.messages import get_messages
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from sessions.actions import mcp_oauth
from sessions.config.effective import project_config
from sessions.jobs.mcp_grants import revoke_grants
from sessions.mcp.grants import digest_of_url, grant_of
from sessions.mcp.servers import digest_of
from sessions.models import McpServer, McpSignIn, McpSignInAttempt, Project
from teams.models import AuditEntry, Membership, Role, Team, User
from tests.sessions.api.conftest import bearer
from tests.tools.mcp.oauth_servers import GuardedShop, guarded_shop

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
HERE = "http://testserver"


@pytest.fixture(scope="module")
def shop() -> Iterator[GuardedShop]:
    with guarded_shop() as found:
        yield found


@pytest.fixture(autouse=True)
def reachable(settings: Settings) -> None:
    settings.PUBLIC_URL = HERE


def set_up(project: Project, url: str, **more: object) -> None:
    project.config = {"mcp": {"shop": {"type": "remote", "url": url, **more}}}  # type: ignore[dict-item]
    project.save()


def at(project: Project, act: str) -> str:
    return f"/t/acme/p/{project.pk}/mcp/s/shop/{act}"


def begin(browser: Client, project: Project) -> str:
    """Returns: where the page leads to."""
    page = browser.post(at(project, "sign-in")).content.decode()
    found = re.search(r'href="([^"]+response_type=[^"]+)"', page)
    assert found is not None, page
    return html.unescape(found[1])


def come_back(browser: Client, shop: GuardedShop, url: str, **other: str) -> Any:
    back = shop.visit(url).copy_merge_params(other)
    assert str(back).startswith(HERE + "/oauth/mcp?")
    return browser.get(str(back).removeprefix(HERE))


def said(answered: Any) -> str:
    """Returns: the last message: those before it have been shown on no page yet."""
    return [str(one) for one in get_messages(answered.wsgi_request)][-1]


def test_an_admin_signs_in_and_out(
    shop: GuardedShop, project: Project, adam: User, client_for: ClientFor
) -> None:
    """FEAT-0008 FR-03, NFR-02."""
    set_up(project, shop.url)
    McpServer.objects.create(project=project, name="shop", digest="", asked_at=timezone.now())
    browser = client_for(adam)
    url = begin(browser, project)
    asked = {name: one for name, (one,) in parse_qs(urlsplit(url).query).items()}
    assert asked["redirect_uri"] == HERE + "/oauth/mcp"
    assert (asked["code_challenge_method"], asked["resource"]) == ("S256", shop.url)
    answered = come_back(browser, shop, url)
    assert (answered["Location"], said(answered)) == (
        f"/t/acme/p/{project.pk}/mcp",
        "Signed in to shop.",
    )
    row = McpSignIn.objects.get()
    grant = grant_of(row)
    assert (row.name, row.url, row.signed_in_by) == ("shop", shop.url, adam)
    assert grant.access_token.startswith("at-")
    assert grant.access_token not in row.sealed
    # The next turn asks it again.
    assert not McpServer.objects.exists()
    page = browser.get(answered["Location"]).content.decode()
    assert at(project, "sign-out") in page
    assert at(project, "sign-in") not in page
    before = shop.tell("nothing")["revoked"]
    browser.post(at(project, "sign-out"))
    assert not McpSignIn.objects.live().exists()
    # The server is told by a worker, and then nothing is left.
    revoke_grants()
    assert not McpSignIn.objects.exists()
    assert shop.tell("nothing")["revoked"] == before + 2
    entries = AuditEntry.objects.filter(action__startswith="mcp.").order_by("pk")
    told = {"server": "shop", "host": "127.0.0.1"}
    assert [(one.action, one.actor, one.told) for one in entries] == [
        ("mcp.signed_in", adam, told),
        ("mcp.signed_out", adam, told),
    ]


def test_what_comes_back_counts_once_and_for_who_began_it(
    shop: GuardedShop, project: Project, adam: User, alice: User, client_for: ClientFor
) -> None:
    """FEAT-0008 NFR-02."""
    set_up(project, shop.url)
    url = begin(client_for(adam), project)
    for answered in (
        come_back(client_for(alice), shop, url),
        come_back(client_for(adam), shop, url, state="wrong"),
        client_for(adam).get("/oauth/mcp"),
    ):
        assert answered["Location"] == "/"
        assert "was not begun here" in said(answered)
    assert McpSignInAttempt.objects.count() == 1
    back = shop.visit(url)
    path = str(back).removeprefix(HERE)
    assert said(client_for(adam).get(path)) == "Signed in to shop."
    McpSignIn.objects.all().delete()
    assert "has been used" in said(client_for(adam).get(path))
    assert not McpSignIn.objects.exists()


def test_what_comes_back_too_late_counts_no_more(
    shop: GuardedShop, project: Project, adam: User, client_for: ClientFor
) -> None:
    set_up(project, shop.url)
    browser = client_for(adam)
    url = begin(browser, project)
    left = McpSignInAttempt.objects.get().expires_at - timezone.now()
    assert timedelta(minutes=5) < left <= timedelta(minutes=10)
    McpSignInAttempt.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert "longer than ten minutes" in said(come_back(browser, shop, url))
    assert not McpSignIn.objects.exists()


def test_what_comes_back_is_refused_where_something_has_changed(
    shop: GuardedShop, project: Project, adam: User, client_for: ClientFor
) -> None:
    """FEAT-0008 NFR-02."""
    browser = client_for(adam)
    set_up(project, shop.url)
    url = begin(browser, project)
    set_up(project, shop.url + "?other")
    assert "address of the server has changed" in said(come_back(browser, shop, url))
    set_up(project, shop.url)
    answered = come_back(browser, shop, begin(browser, project), iss="https://other.example")
    assert (
        said(answered)
        == "The response does not come from the server where the sign-in was started."
    )
    url = begin(browser, project)
    state = parse_qs(urlsplit(url).query)["state"][0]
    answered = browser.get(f"/oauth/mcp?error=access_denied&state={state}")
    assert said(answered) == "Access was not granted."
    answered = browser.get(f"/oauth/mcp?code=made-up&state={state}")
    assert "has been used" in said(answered)
    url = begin(browser, project)
    Membership.objects.filter(user=adam).update(role=Role.MEMBER)
    assert come_back(browser, shop, url)["Location"] == "/"
    assert not McpSignIn.objects.exists()


def test_a_code_that_was_made_up_is_refused(
    shop: GuardedShop, project: Project, adam: User, client_for: ClientFor
) -> None:
    set_up(project, shop.url)
    browser = client_for(adam)
    answered = come_back(browser, shop, begin(browser, project), code="made-up")
    assert said(answered) == "The sign-in was rejected with status 400 (invalid_grant)."


def test_it_is_registered_once(
    shop: GuardedShop, project: Project, adam: User, client_for: ClientFor
) -> None:
    set_up(project, shop.url)
    browser, before = client_for(adam), shop.tell("nothing")["registered"]
    for _ in range(2):
        come_back(browser, shop, begin(browser, project))
    assert shop.tell("nothing")["registered"] == before + 1
    assert McpSignIn.objects.get().url_digest == digest_of_url(shop.url)


def test_a_client_that_somebody_has_registered_is_used(
    project: Project, adam: User, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    with guarded_shop(registers=False) as shop:
        set_up(project, shop.url)
        answered = browser.post(at(project, "sign-in"))
        assert "registers no clients by itself" in said(answered)
        wants = {"clientId": "by-hand", "clientSecret": "{env:HAND}"}
        set_up(project, shop.url, oauth=wants)
        assert "wants the secret HAND" in said(browser.post(at(project, "sign-in")))
        set_up(project, shop.url, oauth={**wants, "clientSecret": "hand-secret"})
        url = begin(browser, project)
        assert said(come_back(browser, shop, url)) == "Signed in to shop."
        set_up(project, shop.url, oauth={**wants, "clientSecret": "wrong"})
        url = begin(browser, project)
        assert (
            said(come_back(browser, shop, url))
            == "The sign-in was rejected with status 401 (invalid_client)."
        )


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"oauth": False}, "does not use a sign-in"),
        ({"headers": {"authorization": "Bearer x"}}, "does not use a sign-in"),
    ],
)
def test_what_says_otherwise_who_asks_is_not_signed_in_to(
    shop: GuardedShop,
    project: Project,
    adam: User,
    client_for: ClientFor,
    more: dict[str, object],
    why: str,
) -> None:
    set_up(project, shop.url, **more)
    browser = client_for(adam)
    assert why in said(browser.post(at(project, "sign-in")))
    page = browser.get(f"/t/acme/p/{project.pk}/mcp").content.decode()
    assert at(project, "sign-in") not in page


def test_it_is_offered_where_it_can_be_wanted(
    project: Project, adam: User, bob: User, client_for: ClientFor
) -> None:
    set_up(project, "https://mcp.example.com/")
    digest = digest_of(project_config(project).mcp["shop"])
    row = McpServer(project=project, name="shop", digest=digest, asked_at=timezone.now())
    list_url = f"/t/acme/p/{project.pk}/mcp"

    def is_offered(person: User) -> bool:
        return at(project, "sign-in") in client_for(person).get(list_url).content.decode()

    assert is_offered(adam)
    row.save()
    assert not is_offered(adam)
    McpServer.objects.update(state="needs_auth", error="It wants a sign-in.")
    assert is_offered(adam)
    assert not is_offered(bob)
    assert "Sign-in needed" in client_for(bob).get(list_url).content.decode()
    McpServer.objects.update(state="needs_client_registration", error="Register one.")
    assert "Register one." in client_for(adam).get(list_url).content.decode()


def test_what_was_granted_goes_with_its_server(
    shop: GuardedShop, team: Team, project: Project, adam: User, client_for: ClientFor
) -> None:
    """FEAT-0008 NFR-02."""
    set_up(project, shop.url)
    come_back(browser := client_for(adam), shop, begin(browser, project))
    client, here = Client(headers=bearer(adam, team)), f"/config?directory={project.directory}"

    def change(**server: object) -> None:
        sent = {"mcp": {"shop": server}}
        assert client.patch(here, sent, "application/json").status_code == 200

    change(enabled=False)
    assert McpSignIn.objects.exists()
    change(url=shop.url + "?other")
    assert not McpSignIn.objects.live().exists()


@pytest.mark.django_db(transaction=True)
def test_the_api_signs_in_by_a_code(
    shop: GuardedShop, team: Team, project: Project, alice: User, bob: User
) -> None:
    """FEAT-0008 FR-03."""
    set_up(project, shop.url)
    client, here = Client(headers=bearer(alice, team)), f"?directory={project.directory}"
    member = Client(headers=bearer(bob, team))
    asked: Any = {"path": f"/mcp/shop/auth{here}", "content_type": "application/json"}
    assert member.post(**asked).status_code == 403
    begun = client.post(**asked).json()
    back = shop.visit(begun["authorizationUrl"])
    assert back.params["state"] == begun["oauthState"]
    end = f"/mcp/shop/auth/callback{here}"
    code = {"code": back.params["code"]}
    assert member.post(end, code, "application/json").status_code == 403
    assert client.post(end, code, "application/json").json() == {"status": "connected"}
    again = client.post(end, code, "application/json")
    assert (again.status_code, "has been used" in again.content.decode()) == (400, True)
    assert McpSignIn.objects.get().signed_in_by == alice
    assert client.delete(f"/mcp/shop/auth{here}").json() == {"success": True}
    assert not McpSignIn.objects.live().exists()


@pytest.mark.django_db(transaction=True)
def test_no_transaction_waits_for_a_server_although_a_key_is_sent(
    shop: GuardedShop,
    team: Team,
    project: Project,
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_up(project, shop.url)
    asked_in: list[bool] = []
    run = mcp_oauth._run

    def watched(work: Any) -> Any:
        asked_in.append(connection.in_atomic_block)
        return run(work)

    monkeypatch.setattr(mcp_oauth, "_run", watched)
    client = Client(headers=bearer(alice, team))
    begun = client.post(
        f"/mcp/shop/auth?directory={project.directory}",
        content_type="application/json",
        headers={"Idempotency-Key": "one"},
    )
    assert (begun.status_code, asked_in) == (200, [False])


def test_no_page_and_no_entry_has_what_was_granted(
    shop: GuardedShop, project: Project, adam: User, client_for: ClientFor
) -> None:
    """FEAT-0008 NFR-02."""
    set_up(project, shop.url)
    browser = client_for(adam)
    come_back(browser, shop, begin(browser, project))
    grant = grant_of(McpSignIn.objects.get())
    pages = (f"/t/acme/p/{project.pk}/mcp", "/t/acme/settings/mcp/", "/t/acme/settings/audit")
    shown = [browser.get(page).content.decode() for page in pages]
    shown += [str(list(AuditEntry.objects.values_list("data", flat=True))), repr(grant)]
    for secret in (grant.access_token, grant.refresh_token):
        assert not any(secret in one for one in shown)
