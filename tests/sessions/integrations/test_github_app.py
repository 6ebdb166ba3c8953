"""A team's GitHub App, from the form that makes it to the end of its installation."""

from __future__ import annotations

import html
import json
import logging
import re
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from opencode_web.lib.crypto import decrypt
from opencode_web.lib.loop import submit
from sessions.forges.adapter import ForgeError
from sessions.forges.github_app import FOR_API, FOR_FETCH, FOR_PUSH
from sessions.models import (
    GitHubApp,
    GitHubInstallation,
    InboundDelivery,
    Integration,
    ProjectForge,
)
from sessions.publish_settings import forge_of, git_credential, publishing_of
from teams.models import AuditEntry, User
from tests.sessions.factories import make_project
from tests.sessions.forges.servers import TOKEN
from tests.sessions.integrations.conftest import REPOSITORY, Forge, Shop, link_account
from tests.sessions.integrations.github_hub import Hub
from tests.sessions.integrations.test_publish import change, pulls
from tests.web_server import answer

pytestmark = [
    pytest.mark.deep,
    pytest.mark.django_db(transaction=True),
    pytest.mark.parametrize("outside", ["github"], indirect=True),
]


@pytest.fixture
def hub(outside: Forge, alice: User) -> Hub:
    ProjectForge.objects.update(remote_url=f"{outside.server.page}.git", token="")
    made = Hub(outside)
    made.browser.force_login(alice)
    return made


def read(outside: Forge) -> None:
    """Ask the forge something, as a worker does."""
    submit(forge_of(publishing_of(outside.project)).default_branch()).result(30)


def tokens(outside: Forge) -> list[str]:
    return [one[2].get("authorization", "") for one in outside.server.seen]


def test_an_admin_makes_one_and_a_comment_comes_and_is_answered_through_it(
    hub: Hub, bob: User, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    shown = hub.browser.get(hub.url)
    assert hub.outside.server.base in shown["Content-Security-Policy"]
    organization, own = hub.forms()
    base = hub.outside.server.base
    assert organization[0].startswith(f"{base}/organizations/acme/settings/apps/new?state=")
    assert own[0].startswith(f"{base}/settings/apps/new?state=")

    app = hub.create()
    row = GitHubApp.objects.get()
    assert (row.number, row.page) == (app.number, app.page)
    assert decrypt(row.webhook_secret) == app.webhook_secret
    said = app.wire()
    for name in ("private_key", "webhook_secret", "client_secret"):
        sealed = getattr(row, name)
        assert decrypt(sealed) in said.values()
        assert sealed not in hub.page
        assert decrypt(sealed) not in hub.page
    assert "Install on GitHub" in hub.page

    made = hub.install(app)
    assert "Used for acme/till" in hub.page
    [issued] = hub.apps.issued
    assert issued.permissions == FOR_API
    assert issued.repositories == {REPOSITORY}
    for claims in hub.apps.claims:
        assert claims["iss"] == str(app.number)
        assert 0 < claims["exp"] - claims["iat"] <= 600
    kept = GitHubInstallation.objects.get()
    assert kept.number == made.number
    assert issued.token not in kept.token

    link_account(hub.outside, bob)
    sent = {**hub.outside.payload("/oc hello"), "installation": {"id": made.number}}
    answered = hub.deliver(app, "issue_comment", sent)
    assert answered.status_code == 202
    hub.outside.work()
    [delivery] = InboundDelivery.objects.all()
    assert answered.json() == {"deliveries": [delivery.pk]}
    assert delivery.state == "handled"
    assert len(hub.outside.answers) == 1
    assert f"Bearer {issued.token}" in tokens(hub.outside)
    assert len(hub.apps.issued) == 1
    changes = AuditEntry.objects.filter(action="integration.updated").order_by("pk")
    told = [one.data["change"] for one in changes]
    assert told == ["GitHub App created", "GitHub App connected"]
    for secret in (issued.token, said["pem"], app.webhook_secret, said["client_secret"]):
        assert secret not in caplog.text
        assert secret not in json.dumps([one.data for one in changes])


def test_the_page_of_the_integration_needs_no_webhook_then(hub: Hub) -> None:
    url = hub.url.removesuffix("/app")
    assert "Webhook on GitHub" in hub.browser.get(url).content.decode()
    hub.install(hub.create())
    shown = hub.browser.get(url).content.decode()
    assert "Webhook on GitHub" not in shown
    assert "no access token" not in shown


def test_only_who_began_comes_back(
    hub: Hub, alice: User, bob: User, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    back, team = hub.register(), hub.outside.project.team
    bob.memberships.update(role="admin")
    other = make_project(team, tmp_path / "bar", name="bar")
    elsewhere, colleague = Client(), Client()
    elsewhere.force_login(alice)
    colleague.force_login(bob)
    cases = {
        "another session": (elsewhere, back),
        "another admin": (colleague, back),
        "another project": (hub.browser, back.replace(hub.outside.project.pk, other.pk)),
        "forged": (hub.browser, re.sub(r"state=[^&]+", "state=eyJhcHAiOiAiZ2hhIn0", back)),
        "nothing": (hub.browser, f"{hub.url}/created"),
    }
    # The next one asks for the page of its own project, which has no forge.
    ProjectForge.objects.create(
        project=other, remote_url=f"{hub.outside.server.page}.git", updated_at=timezone.now()
    )
    for case, (browser, address) in cases.items():
        with subtests.test(case):
            shown = browser.get(address, follow=True).content.decode()
            assert "not valid any more" in shown
    with subtests.test("an hour later"), pytest.MonkeyPatch.context() as patch:
        now = time.time()
        patch.setattr("django.core.signing.time.time", lambda: now + 3700)
        hub.browser.get(back)
    assert not GitHubApp.objects.exists()
    # The code was not used up for nothing.
    assert len(hub.apps.codes) == 1


def test_a_code_is_used_once(hub: Hub) -> None:
    back = hub.register()
    hub.browser.get(back)
    GitHubApp.objects.all().delete()
    shown = html.unescape(hub.browser.get(back, follow=True).content.decode())
    assert "GitHub does not take the code" in shown
    assert not GitHubApp.objects.exists()


def test_a_second_app_is_not_kept(hub: Hub) -> None:
    first, second = hub.register(), hub.register()
    hub.browser.get(first)
    kept = GitHubApp.objects.get().number
    assert "has a GitHub App already" in hub.browser.get(second, follow=True).content.decode()
    assert GitHubApp.objects.get().number == kept
    # What an installation comes back with makes none.
    [state] = [one for one in hub.back().split("?")[1].split("&") if one.startswith("state=")]
    shown = hub.browser.get(f"{hub.url}/created?code=x&{state}", follow=True).content.decode()
    assert "not valid any more" in shown


def test_the_number_that_a_browser_brings_is_worth_nothing(hub: Hub) -> None:
    app = hub.create()
    other = hub.apps.install(app, "acme/other")
    shown = html.unescape(hub.browser.get(hub.back(other.number), follow=True).content.decode())
    assert "not installed for the project's repository" in shown
    assert not GitHubInstallation.objects.exists()
    # Without what was sent along, nothing is asked of GitHub.
    hub.apps.install(app, REPOSITORY)
    asked = len(hub.apps.claims)
    hub.browser.get(f"{hub.url}/installed?installation_id={other.number}")
    assert len(hub.apps.claims) == asked
    assert not GitHubInstallation.objects.exists()


def test_a_token_is_kept_until_shortly_before_it_ends(hub: Hub) -> None:
    hub.install(hub.create())
    read(hub.outside)
    read(hub.outside)
    assert len(hub.apps.issued) == 1
    row = GitHubInstallation.objects.get()
    assert row.token_until is not None
    left = timedelta(seconds=hub.apps.issued[0].until) - timedelta(
        seconds=row.token_until.timestamp()
    )
    assert left == timedelta(minutes=5)
    GitHubInstallation.objects.update(token_until=timezone.now())
    read(hub.outside)
    assert len(hub.apps.issued) == 2


def test_a_token_that_is_refused_is_renewed_once(hub: Hub) -> None:
    hub.install(hub.create())
    hub.apps.issued[0].until = 0
    read(hub.outside)
    assert tokens(hub.outside)[-1] == f"Bearer {hub.apps.issued[1].token}"
    # The second of these answers the request for another token.
    hub.outside.server.then += [answer(b"{}", status=401), answer(b"{}", status=401)]
    with pytest.raises(ForgeError, match="does not accept the key"):
        read(hub.outside)


ENDS = {
    "uninstalled": "not installed for the project's repository",
    "suspended": "is suspended",
    "permissions": "does not have the permissions",
    "repository": "does not have the permissions",
    "deleted": "not installed for the project's repository",
    "key": "does not accept the key",
    "clock": "does not accept the key",
}


def test_what_ends_it_is_said_on_the_page_and_passes_when_it_is_mended(
    hub: Hub, subtests: pytest.Subtests
) -> None:
    app = hub.create()
    made = hub.install(app)
    before = dict(made.permissions)
    for case, says in ENDS.items():
        GitHubInstallation.objects.update(token_until=timezone.now())
        match case:
            case "uninstalled":
                del hub.apps.installations[made.number]
            case "suspended":
                made.is_suspended = True
            case "permissions":
                del made.permissions["checks"]
            case "repository":
                made.repositories = {"acme/other"}
            case "deleted":
                app.is_deleted = True
            case "key":
                app.key = "second"
            case "clock":
                hub.apps.ahead_s = -700
        with subtests.test(case):
            with pytest.raises(ForgeError, match=says):
                read(hub.outside)
            assert says in hub.page
            if case == "repository":
                says = "not installed for"
            shown = hub.browser.post(f"{hub.url}/connect", follow=True).content.decode()
            assert says in html.unescape(shown)
            integration = hub.browser.get(hub.url.removesuffix("/app")).content.decode()
            assert says in html.unescape(integration)
        hub.apps.installations[made.number] = made
        made.is_suspended, made.permissions = False, dict(before)
        made.repositories = {REPOSITORY}
        app.is_deleted, app.key, hub.apps.ahead_s = False, "first", 0
        read(hub.outside)
        assert says not in hub.page


def test_github_says_that_it_has_ended(hub: Hub, subtests: pytest.Subtests) -> None:
    app = hub.create()
    made = hub.install(app)
    removed = {"repositories_removed": [{"full_name": "Acme/Till"}]}
    cases: list[tuple[str, str, Any, str]] = [
        ("installation", "deleted", {}, "not installed for"),
        ("installation", "suspend", {}, "is suspended"),
        ("installation_repositories", "removed", removed, "not installed for"),
    ]
    for event, action, more, says in cases:
        with subtests.test(action):
            sent = {"action": action, "installation": {"id": made.number}, **more}
            other = {**sent, "installation": {"id": 5}}
            assert hub.deliver(app, event, other).status_code == 202
            assert says not in hub.page
            assert hub.deliver(app, event, sent).status_code == 202
            assert says in hub.page
            assert GitHubInstallation.objects.get().token == ""
            # Sent in the wrong order, or by whoever had kept it: the next token shows how it is.
            read(hub.outside)
            assert says not in hub.page


def test_another_repository_or_installation_starts_nothing(hub: Hub, bob: User) -> None:
    app = hub.create()
    made = hub.install(app)
    link_account(hub.outside, bob)
    sent = {**hub.outside.payload("/oc hello"), "installation": {"id": made.number}}
    for changed in (
        {"installation": {"id": made.number + 1}},
        {"installation": None},
        {"repository": {"full_name": "acme/other"}},
        {"repository": None},
    ):
        answered = hub.deliver(app, "issue_comment", {**sent, **changed})
        assert (answered.status_code, answered.json()) == (202, {"deliveries": []})
    assert not InboundDelivery.objects.exists()


def test_a_wrong_signature_is_refused_and_said(hub: Hub) -> None:
    app = hub.create()
    made = hub.install(app)
    sent = {**hub.outside.payload("/oc hello"), "installation": {"id": made.number}}
    wrong = {"X-Hub-Signature-256": f"sha256={'0' * 64}"}
    assert hub.deliver(app, "issue_comment", sent, **wrong).status_code == 401
    assert hub.deliver(app, "installation", sent, **wrong).status_code == 401
    assert not InboundDelivery.objects.exists()
    assert GitHubApp.objects.get().refused == 2
    assert "signature is wrong" in hub.page
    assert hub.deliver(app, "ping", {"zen": "Keep it simple"}).status_code == 202
    assert "signature is wrong" not in hub.page


def test_its_tokens_go_to_no_other_place(hub: Hub, subtests: pytest.Subtests) -> None:
    hub.install(hub.create())
    row = ProjectForge.objects.get()
    for changed in (
        {"remote_url": "https://evil.example.com/acme/till.git"},
        {"remote_url": "https://github.com/acme/other.git", "api_url": ""},
        {"api_url": "https://evil.example.com/api/v3"},
        {"kind": "gitea"},
    ):
        with subtests.test(str(changed)):
            ProjectForge.objects.update(**changed)
            chosen = publishing_of(hub.outside.project)
            with pytest.raises(ForgeError, match="no access token"):
                forge_of(chosen)
            assert submit(git_credential(chosen, chosen.url, push=True)).result(30) == ""
        row.save()


def test_an_api_on_another_host_is_given_no_app(hub: Hub) -> None:
    ProjectForge.objects.update(remote_url="https://github.com/acme/till.git")
    shown = hub.browser.get(hub.url, follow=True).content.decode()
    assert "is on another host than" in html.unescape(shown)


def test_the_access_token_is_used_again(hub: Hub) -> None:
    app = hub.create()
    hub.install(app)
    hub.browser.post(f"{hub.url}/disconnect")
    with pytest.raises(ForgeError, match="no access token"):
        forge_of(publishing_of(hub.outside.project))
    hub.browser.post(f"{hub.url}/connect")
    read(hub.outside)
    assert "affects" in hub.page
    hub.browser.post(f"{hub.url}/remove")
    assert not GitHubApp.objects.exists()
    assert not GitHubInstallation.objects.exists()
    assert len(hub.forms()) == 2
    assert hub.deliver(app, "ping", {}).status_code == 404


def test_what_was_changed_is_fetched_and_pushed_with_tokens_of_their_own(
    hub: Hub, shop: Shop
) -> None:
    # The repository is on a server of its own here.
    Integration.objects.update(pulls=True)
    hub.install(hub.create())
    change(shop, "echo 1 >new.py", number=7)
    assert len(pulls(shop)) == 1
    change(shop, "true", number=3, is_pull=True)
    asked = [one.permissions for one in hub.apps.issued]
    assert FOR_PUSH in asked
    assert FOR_FETCH in asked
    assert all(one.repositories == {REPOSITORY} for one in hub.apps.issued)
    assert not any(TOKEN in one for one in tokens(shop.outside))
