from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from sessions.actions.team_plugins import add_team_plugin
from sessions.models import ChangeRequest, Project, TeamPlugin
from sessions.repository.trust import brought_by
from teams.access import access_team
from teams.models import AuditEntry, Team, User
from tests.factories import make_team, make_user
from tests.npm_registry import FakeRegistry, serving
from tests.sessions.team_plugins import pinned, publish, trusted

# Packages are pinned on another connection.
pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]
URL = "/t/acme/settings/plugins"


@pytest.fixture
def npm(settings: Any, tmp_path: Path) -> Iterator[FakeRegistry]:
    settings.ALLOWED_PRIVATE_ADDRESSES = ["127.0.0.1"]
    settings.DATA_DIR = tmp_path / "data"
    with serving() as registry:
        settings.NPM_REGISTRY = registry.address
        yield registry


def page(browser: Client, url: str = URL) -> str:
    return html.unescape(browser.get(url).content.decode())


def packages(project: Project) -> list[str]:
    return [one.path for one in brought_by(project).packages]


def test_nothing_is_loaded_before_an_admin_trusts_what_was_pinned(
    npm: FakeRegistry, project: Project, team: Team, adam: User, client_for: ClientFor
) -> None:
    publish(npm, {"tool.execute.before": "", "chat.headers": ""})
    browser = client_for(adam)
    assert "no plugins from npm" in page(browser)
    row = pinned(adam, team)
    assert row.hooks == ["chat.headers", "tool.execute.before"]
    shown = page(browser)
    assert "Not trusted" in shown
    assert row.packages[0]["integrity"] in shown
    assert "Headers could carry keys" in shown
    assert packages(project) == []
    assert browser.post(f"{URL}/{row.pk}/trust", {"digest": "0" * 64}).status_code == 409
    assert packages(project) == []
    assert browser.post(f"{URL}/{row.pk}/trust", {"digest": row.digest})["Location"] == URL
    assert packages(project) == ["one@1.0.0"]
    assert "Trusted by" in page(browser)
    assert "Loads in the next turn" in page(browser, f"/t/acme/p/{project.pk}/repository")
    before = brought_by(project).run_digest
    browser.post(f"{URL}/{row.pk}/reload")
    assert brought_by(project).run_digest != before
    browser.post(f"{URL}/{row.pk}/remove")
    assert packages(project) == []
    entries = AuditEntry.objects.filter(action__startswith="plugin.").order_by("pk")
    assert [(one.action, one.data["name"]) for one in entries] == [
        (f"plugin.{did}", "one@1.0.0") for did in ("added", "trusted", "reloaded", "removed")
    ]
    assert entries[1].data["digest"] == row.digest


def test_the_list_shows_by_itself_that_a_package_has_been_fetched(
    npm: FakeRegistry, team: Team, adam: User, client_for: ClientFor
) -> None:
    publish(npm, {"event": ""})
    browser = client_for(adam)
    row = add_team_plugin(access_team(adam, team.slug), package="one@1.0.0")
    shown = page(browser)
    assert "Being fetched" in shown
    assert f'hx-get="{URL}" hx-trigger="every 2s"' in shown
    assert pinned(adam, team).pk == row.pk
    swapped = browser.get(URL, headers={"HX-Request": "true"}).content.decode().strip()
    assert swapped.startswith('<section id="team-plugins"')
    assert swapped.endswith("</section>")
    assert "Not trusted" in swapped
    assert "every 2s" not in swapped


def test_an_upgrade_says_what_differs_and_replaces_the_old_version(
    npm: FakeRegistry, project: Project, team: Team, adam: User, client_for: ClientFor
) -> None:
    publish(npm, {"tool.execute.before": ""})
    old = trusted(adam, team)
    publish(npm, {"chat.params": ""}, "1.1.0")
    new = pinned(adam, team, "one@1.1.0")
    assert packages(project) == ["one@1.0.0"]
    shown = page(client_for(adam))
    for text in (
        "It replaces 1.0.0.",
        "New hooks: chat.params.",
        "Hooks no longer there: tool.execute.before.",
        "Packages: one 1.0.0 → 1.1.0.",
    ):
        assert text in shown
    client_for(adam).post(f"{URL}/{new.pk}/trust", {"digest": new.digest})
    assert packages(project) == ["one@1.1.0"]
    assert not TeamPlugin.objects.filter(pk=old.pk).exists()
    assert AuditEntry.objects.get(action="plugin.trusted", data__has_key="replaced").data[
        "replaced"
    ] == ["one@1.0.0"]


def test_what_cannot_be_pinned_says_why_and_can_be_tried_again(
    npm: FakeRegistry, team: Team, adam: User, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    row = pinned(adam, team)
    assert "one could not be looked up: the registry answered 404" in page(browser)
    assert browser.post(f"{URL}/{row.pk}/trust", {"digest": ""}).status_code == 409
    publish(npm, {"event": ""})
    assert pinned(adam, team).pk == row.pk
    assert browser.post(URL, {"package": "one@1.0.0"}).status_code == 422
    shown = page(browser)
    assert "could not be looked up" not in shown
    assert "Not trusted" in shown


@pytest.mark.parametrize("text", ["", "one", "one@latest", "../one@1.0.0", "one@^1.0.0"])
def test_only_an_exact_version_is_added(
    npm: FakeRegistry, adam: User, client_for: ClientFor, text: str
) -> None:
    assert client_for(adam).post(URL, {"package": text}).status_code == 422
    assert not TeamPlugin.objects.exists()
    assert npm.asked == []


def test_without_a_registry_nothing_is_added(
    settings: Any, team: Team, adam: User, client_for: ClientFor
) -> None:
    settings.NPM_REGISTRY = ""
    browser = client_for(adam)
    assert "NPM_REGISTRY" in page(browser)
    browser.post(URL, {"package": "one@1.0.0"})
    assert not TeamPlugin.objects.exists()


def test_another_team_and_members_change_nothing(
    npm: FakeRegistry, project: Project, team: Team, adam: User, bob: User, client_for: ClientFor
) -> None:
    publish(npm, {"event": ""})
    row = pinned(adam, team)
    assert "one@1.0.0" in page(client_for(bob))
    make_team(adam, slug="other")
    given = {"digest": row.digest, "package": "two@1.0.0"}
    for act in ("trust", "reload", "remove"):
        assert client_for(bob).post(f"{URL}/{row.pk}/{act}", given).status_code == 403
        theirs = f"/t/other/settings/plugins/{row.pk}/{act}"
        assert client_for(adam).post(theirs, given).status_code == 404
    assert client_for(bob).post(URL, given).status_code == 403
    assert packages(project) == []
    assert TeamPlugin.objects.count() == 1


def test_a_second_person_approves_trust_where_rules_need_it(
    npm: FakeRegistry,
    project: Project,
    team: Team,
    adam: User,
    alice: User,
    client_for: ClientFor,
) -> None:
    publish(npm, {"event": ""})
    row = pinned(adam, team)
    Team.objects.update(needs_approval=["rules"])
    client_for(adam).post(f"{URL}/{row.pk}/trust", {"digest": row.digest})
    asked = ChangeRequest.objects.get()
    assert asked.what == "trust.plugin"
    assert packages(project) == []
    assert "Trust the plugin one@1.0.0" in page(client_for(alice), "/t/acme/settings/approvals")
    client_for(alice).post(f"/t/acme/settings/approvals/{asked.pk}", {"act": "approve"})
    assert packages(project) == ["one@1.0.0"]


@pytest.fixture
def root() -> User:
    return make_user("root@example.com", operator=True)


def test_operators_bring_packages_to_all_teams_as_admins_do_to_one(
    npm: FakeRegistry, project: Project, adam: User, root: User, client_for: ClientFor
) -> None:
    publish(npm, {"event": ""})
    browser = client_for(root)
    assert browser.post("/ops/plugins", {"package": "one"}).status_code == 422
    row = pinned(root, None)
    assert row.packages[0]["integrity"] in page(browser, "/ops/plugins")
    assert "one@1.0.0" not in page(client_for(adam))
    assert packages(project) == []
    assert browser.post(f"/ops/plugins/{row.pk}/trust", {"digest": "0" * 64}).status_code == 409
    browser.post(f"/ops/plugins/{row.pk}/trust", {"digest": row.digest})
    assert packages(project) == ["one@1.0.0"]
    assert "Trusted by" in page(browser, "/ops/plugins")
    publish(npm, {"chat.params": ""}, "1.1.0")
    new = pinned(root, None, "one@1.1.0")
    assert "It replaces 1.0.0." in page(browser, "/ops/plugins")
    before = brought_by(project).run_digest
    browser.post(f"/ops/plugins/{row.pk}/reload")
    assert brought_by(project).run_digest != before
    browser.post(f"/ops/plugins/{new.pk}/trust", {"digest": new.digest})
    assert packages(project) == ["one@1.1.0"]
    browser.post(f"/ops/plugins/{new.pk}/remove")
    assert packages(project) == []
    entries = AuditEntry.objects.filter(action__startswith="plugin.").order_by("pk")
    assert {(one.team, one.actor_kind) for one in entries} == {(None, "operator")}
    assert [(one.action, one.data["name"]) for one in entries] == [
        ("plugin.added", "one@1.0.0"),
        ("plugin.trusted", "one@1.0.0"),
        ("plugin.added", "one@1.1.0"),
        ("plugin.reloaded", "one@1.0.0"),
        ("plugin.trusted", "one@1.1.0"),
        ("plugin.removed", "one@1.1.0"),
    ]


def test_a_team_sees_what_the_server_brings_and_cannot_remove_or_replace_it(
    npm: FakeRegistry, project: Project, team: Team, adam: User, root: User, client_for: ClientFor
) -> None:
    publish(npm, {"event": ""})
    publish(npm, {"event": ""}, "1.1.0")
    npm.put("first", "1.0.0", {"index.js": "export const First = async () => ({})"})
    early = trusted(adam, team, "one@1.1.0")
    trusted(adam, team, "first@1.0.0")
    row = trusted(root, None)
    assert packages(project) == ["one@1.0.0", "first@1.0.0"]
    browser = client_for(adam)
    shown = page(browser)
    assert "From this server" in shown
    assert "Not loaded: this server brings one@1.0.0 to all teams." in shown
    for act in ("trust", "reload", "remove"):
        given = {"digest": row.digest}
        assert f"/{row.pk}/{act}" not in shown
        assert browser.post(f"{URL}/{row.pk}/{act}", given).status_code == 404
        assert browser.post(f"/ops/plugins/{row.pk}/{act}", given).status_code == 404
        # Nor is a team's package one that operators change.
        of_team = f"/ops/plugins/{early.pk}/{act}"
        assert client_for(root).post(of_team, given).status_code == 404
    publish(npm, {"event": ""}, "1.2.0")
    late = pinned(adam, team, "one@1.2.0")
    assert browser.post(f"{URL}/{late.pk}/trust", {"digest": late.digest}).status_code == 409
    assert packages(project) == ["one@1.0.0", "first@1.0.0"]
    client_for(root).post(f"/ops/plugins/{row.pk}/remove")
    assert packages(project) == ["first@1.0.0", "one@1.1.0"]


SETTINGS = """{"plugin": ["one@2.0.0", "two", ["three@1.0.0", {}], "./own.js", 7]}"""


def test_the_page_says_what_the_settings_of_a_repository_name_in_vain(
    npm: FakeRegistry, project: Project, team: Team, adam: User, client_for: ClientFor
) -> None:
    publish(npm, {"event": ""})
    trusted(adam, team)
    Path(project.directory, "opencode.json").write_text(SETTINGS)
    shown = page(client_for(adam), f"/t/acme/p/{project.pk}/repository")
    assert "one@2.0.0 is not installed. one@1.0.0 is loaded in its place." in shown
    assert "The plugin two is not installed." in shown
    assert "The plugin three is not installed." in shown
    assert "'./own.js' in plugin is not loaded" in shown
    Path(project.directory, "opencode.json").write_text('{"plugin": ["one", "one@1.0.0"]}')
    shown = page(client_for(adam), f"/t/acme/p/{project.pk}/repository")
    assert "is not installed" not in shown
