"""Every page and state in a real browser: axe finds nothing, nothing scrolls sideways."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import pytest
from django.urls import resolve
from playwright.sync_api import BrowserContext, Page, expect
from playwright.sync_api import Error as PlaywrightError

from bench.npm import Unavailable
from tests.architecture.access_automation import PAGES
from tests.e2e.axe import find_faults, install_axe
from tests.e2e.browser import of_page, watched
from tests.e2e.installation import Installation
from tests.e2e.world import Names, make_belongings, make_world, share
from tests.teams.test_page_access import TABLE


@dataclass(frozen=True)
class Stop:
    """A page, or one in the state that `act` brings it to. `signed_in`: as its member."""

    name: str
    path: str
    act: Callable[[Page], None] | None = None
    signed_in: bool = True


def _open(selector: str, shown: str) -> Callable[[Page], None]:
    def act(page: Page) -> None:
        page.locator(selector).first.click()
        expect(page.locator(shown).first).to_be_visible()

    return act


def _press(keys: str, shown: str) -> Callable[[Page], None]:
    def act(page: Page) -> None:
        page.keyboard.press(keys)
        expect(page.locator(shown).first).to_be_visible()

    return act


_S, _T, _P = "/t/{team}/s/", "/t/{team}/", "/t/{team}/p/{project}/"
_SET = _T + "settings/"
_CONNECT = (
    "/oauth/authorize?response_type=code&client_id={mcp_client}"
    f"&code_challenge_method=S256&code_challenge={'x' * 43}"
)
STOPS = [
    Stop("home", _T, _open(".start-options > summary", "#place")),
    Stop("home-waiting", _T, _open(".waiting-summary", ".waiting-card .permission")),
    Stop("board", _T + "board"),
    Stop("inbox", _T + "inbox"),
    Stop("usage", _T + "usage"),
    Stop("usage-filtered", _T + "usage?range=7&model=demo/inline"),
    Stop("usage-nothing", _T + "usage?since=2020-01-01&until=2020-01-31"),
    Stop("find", _T + "search?q=till"),
    Stop("find-nothing", _T + "search?q=zebra"),
    *(
        Stop(f"session-{state}", _S + f"{{{state}}}")
        for state in (
            "done",
            "empty",
            "asking",
            "questioned",
            "failed",
            "retrying",
            "running",
            "parent",
            "reverted",
        )
    ),
    *(
        Stop(f"panel-{panel}", _S + f"{{done}}?panel={panel}")
        for panel in ("changes", "files", "terminal", "context")
    ),
    Stop("panel-changes-full", _S + "{done}?panel=changes&full=1"),
    Stop(
        "panel-changes-revert",
        _S + "{done}?panel=changes",
        _open(".file-revert > summary", ".file-revert .menu-form"),
    ),
    Stop("panel-changes-empty", _S + "{empty}?panel=changes"),
    Stop("panel-file", _S + "{done}?panel=files&file=till.py"),
    Stop(
        "permission-always",
        _S + "{asking}",
        _open('[data-answer="always"]', "[name=scope]"),
    ),
    Stop("edit-opened", _S + "{done}", _open("[data-tool=edit] > summary", ".diff-gap")),
    Stop("edit-lines", _S + "{done}/part/{edit}/lines?file=0"),
    Stop("palette", _S + "{done}", _press("Control+k", "dialog[open]")),
    Stop("help", _S + "{done}", _press("?", "dialog[open]")),
    Stop("share-form", _S + "{done}/share"),
    Stop("publish", _S + "{done}/publish"),
    Stop("sub-agent", _S + "{parent}/sub/{child}"),
    Stop("row-menu", _S + "{done}/menu"),
    Stop("row-menu-opened", _P, _open("[data-row-menu]:visible", "dialog[open]")),
    Stop("title-form", _S + "{done}/rename"),
    Stop("find-here", _S + "{done}/find?q=till"),
    Stop("find-here-bar", _S + "{done}?find=till", _open("#log", "[data-find]")),
    Stop("project", _P),
    Stop("project-settings", _P + "settings"),
    Stop("project-new", _T + "p/new"),
    *(Stop(f"project-mcp-{act}", f"{_P}mcp/{act}") for act in ("new", "catalog")),
    Stop("project-mcp-tools", _P + "mcp/s/shop/tools"),
    Stop("project-mcp", _P + "mcp"),
    Stop("project-mcp-server", _P + "mcp/s/shop"),
    Stop("project-mcp-delete", _P + "mcp/s/shop/delete"),
    *(Stop(f"project-{one}", _P + one) for one in ("commands", "network", "repository")),
    *(Stop(f"project-{one}", _P + one) for one in ("secrets", "publishing", "integration")),
    Stop("project-tracker", _P + "trackers/linear"),
    *(Stop(f"integration-{one}", f"{_P}integration/{one}") for one in ("rules", "app", "remove")),
    Stop("integration-rule", _P + "integration/rules/{forge_rule}"),
    Stop("integration-rule-remove", _P + "integration/rules/{forge_rule}/remove"),
    Stop("project-schedules", _P + "schedules"),
    Stop("project-schedule", _P + "schedules/{schedule}"),
    Stop("project-schedule-delete", _P + "schedules/{schedule}/delete"),
    Stop("settings-general", _SET + "general"),
    Stop("settings-leave", _SET + "leave"),
    Stop("settings-members", _SET + "members"),
    Stop("settings-roles", _SET + "roles"),
    Stop("settings-groups", _SET + "groups"),
    Stop("settings-group", _SET + "groups/{group}"),
    Stop("settings-group-delete", _SET + "groups/{group}/delete"),
    Stop("settings-services", _SET + "services"),
    Stop("settings-service", _SET + "services/{service}"),
    Stop("settings-service-delete", _SET + "services/{service}/delete"),
    Stop("settings-audit", _SET + "audit"),
    Stop("settings-audit-nothing", _SET + "audit?text=zebra"),
    Stop("settings-retention", _SET + "retention"),
    Stop("settings-export", _SET + "export"),
    Stop("settings-erase", _SET + "erase"),
    Stop("settings-approvals", _SET + "approvals"),
    Stop("settings-budgets", _SET + "budgets"),
    Stop("settings-budgets-ask", _SET + "budgets/ask"),
    Stop("settings-models", _SET + "models/"),
    Stop("settings-models-nothing", _SET + "models/?q=zebra"),
    Stop("settings-choose", _SET + "models/new"),
    Stop("settings-choose-nothing", _SET + "models/new?q=zebra"),
    Stop("settings-account", _SET + "models/new/openai"),
    Stop("settings-account-cloud", _SET + "models/new/amazon-bedrock"),
    Stop("settings-account-asked", _SET + "models/new/github-copilot"),
    Stop(
        "settings-sign-in",
        _SET + "models/new/openai",
        _open('main button:text-is("Sign in")', "#sign-in"),
    ),
    Stop("settings-server", _SET + "models/server"),
    Stop("settings-model", _SET + "models/p/{provider}/m/tour"),
    Stop("settings-model-uses", _SET + "models/uses?model=demo/tour"),
    Stop("settings-default-model", _SET + "models/default"),
    Stop("settings-keys", _SET + "keys"),
    Stop("settings-provider", _SET + "models/p/{provider}"),
    Stop("settings-provider-delete", _SET + "models/p/{provider}/delete"),
    Stop("settings-config", _SET + "config"),
    Stop(
        "settings-permissions", _SET + "permissions?project={project}&tool=bash&agent=build&text=ls"
    ),
    Stop("settings-commands", _SET + "commands/"),
    Stop("settings-command-new", _SET + "commands/new"),
    Stop("settings-command", _SET + "commands/i/review"),
    Stop("settings-agents", _SET + "agents/"),
    Stop("settings-agent-new", _SET + "agents/new"),
    Stop("settings-agent", _SET + "agents/i/build"),
    Stop("settings-mcp", _SET + "mcp/"),
    Stop("settings-mcp-new", _SET + "mcp/new"),
    Stop("settings-mcp-catalog", _SET + "mcp/catalog"),
    Stop("settings-mcp-server", _SET + "mcp/s/files"),
    Stop("settings-network", _SET + "network"),
    Stop("settings-search", _SET + "search"),
    Stop("settings-secrets", _SET + "secrets"),
    Stop("settings-sharing", _SET + "sharing"),
    *(Stop(f"settings-{page}", _SET + page) for page in ("plugins", "slack")),
    Stop("settings-skills", _SET + "skills/"),
    Stop("settings-skill-new", _SET + "skills/new"),
    Stop("settings-skill", _SET + "skills/s/{skill}"),
    Stop("settings-skill-delete", _SET + "skills/s/{skill}/delete"),
    Stop("settings-webhooks", _SET + "webhooks/"),
    Stop("settings-webhook", _SET + "webhooks/w/{webhook}"),
    Stop("settings-webhook-delete", _SET + "webhooks/w/{webhook}/delete"),
    Stop("team-new", "/teams/new"),
    *(Stop(f"me-{page}", f"/me/{page}") for page in ("profile", "appearance", "shortcuts")),
    *(Stop(f"me-{page}", f"/me/{page}") for page in ("notifications", "devices", "tokens")),
    *(Stop(f"me-{page}", f"/me/{page}") for page in ("security", "mcp")),
    Stop("me-again", "/me/security/again"),
    Stop("me-models", "/me/models/"),
    Stop("me-choose", "/me/models/new"),
    Stop("me-account", "/me/models/new/anthropic"),
    Stop("me-keys", "/me/models/keys"),
    Stop("me-data", "/me/data"),
    Stop("docs", "/docs"),
    Stop("docs-page", "/docs/configuration"),
    Stop("docs-found", "/docs?q=sandbox"),
    Stop("docs-nothing", "/docs?q=zebra"),
    Stop("docs-empty", "/docs?q="),
    Stop("docs-missing", "/docs/none"),
    Stop("ops", "/ops/"),
    *(
        Stop(f"ops-{page}", f"/ops/{page}")
        for page in (
            *("workers", "turns", "queues", "events", "health", "backups", "emergency"),
            *("retention", "erasures", "audit", "budgets", "limits", "people", "directory"),
            *("plugins", "history", "announcements"),
        )
    ),
    Stop("ops-models", "/ops/models/"),
    Stop("ops-choose", "/ops/models/new"),
    Stop("ops-server", "/ops/models/server"),
    Stop("ops-identity", "/ops/identity"),
    Stop("ops-provider", "/ops/identity/new/oidc"),
    Stop("ops-person", "/ops/people/1"),
    Stop("ops-people-none", "/ops/people?q=zebra"),
    Stop("ops-turn", "/ops/turns/{running}"),
    Stop("ops-turn-opened", "/ops/turns", _open("[data-row-menu]", "dialog[open]")),
    Stop("ops-findings", "/ops/health/findings"),
    Stop("ops-events-none", "/ops/events?type=zebra"),
    Stop("ops-turns-none", "/ops/turns?state=stuck"),
    Stop("connect-client", _CONNECT),
    Stop("logout", "/logout"),
    Stop("inactive", "/inactive"),
    Stop("offline", "/offline"),
    Stop("not-found", _T + "p/none/"),
    Stop("login", "/login", signed_in=False),
    Stop("invite", "/invite/{invite}", signed_in=False),
    Stop("invite-gone", "/invite/none", signed_in=False),
    Stop("share", "/share/{share}", signed_in=False),
    Stop("share-gone", "/share/none", signed_in=False),
]

# One of each frame, and what is in the frame of a session.
FRAMES = {
    *("home", "session-asking", "session-running", "panel-changes", "panel-files"),
    *("panel-terminal", "panel-context", "project", "settings-models", "ops-turns-none"),
    *("me-profile", "docs-page", "login", "share", "usage", "palette", "row-menu-opened"),
}

# What is read, but is no page: parts of one, what is not HTML, and confirmations like others.
_SESSION, _PROJECT = "t/<slug:team>/s/<str:session>", "t/<slug:team>/p/<str:project>/"
_OWN = ["remove", *(f"rules{one}" for one in ("", "/<str:forge_rule>", "/<str:forge_rule>/remove"))]
NO_PAGE = {
    "me/shortcuts/list",
    "me/data.json",
    "me/theme.css",
    *(f".well-known/oauth-{one}" for one in ("authorization-server", "protected-resource")),
    ".well-known/oauth-protected-resource/mcp",
    *("manifest.webmanifest", "sw.js", _PROJECT + "mentions"),
    "t/<slug:team>/rail",
    "share/<str:token>/part/<str:part>",
    *(f"{_PROJECT}trackers/<str:tracker>/{one}" for one in _OWN),
    _PROJECT + "integration/app/remove",
    _SESSION + "/turns",
    _SESSION + "/window",
    _SESSION + "/part/<str:part>",
    _SESSION + "/part/<str:part>/body",
    _SESSION + "/queue/<str:prompt>/edit",
    _SESSION + "/turn/<str:turn>/menu",
    _SESSION + "/menu",
    "t/<slug:team>/choices",
    "t/<slug:team>/start/place",
    "t/<slug:team>/live",
    _SESSION + "/live",
    *(f"t/<slug:team>/settings/{one}" for one in ("audit.csv", "slack/remove")),
    "t/<slug:team>/usage.csv",
    "t/<slug:team>/settings/invites/<str:invite>/revoke",
    "t/<slug:team>/settings/members/<int:member>/remove",
    "t/<slug:team>/settings/members/tokens/<str:token>/revoke",
}


@pytest.fixture(scope="module")
def axe() -> str:
    try:
        return install_axe()
    except Unavailable as exc:
        pytest.skip(f"axe-core: {exc}")


@pytest.fixture(scope="module")
def names(server: Installation, signed_in: BrowserContext) -> Iterator[Names]:
    with server.client() as client:
        made = make_world(server, client) | make_belongings(server, client, signed_in)
        made["share"] = share(client, made["done"])
        yield made
        # Others come to the same server.
        for state in ("running", "retrying"):
            client.post(f"/session/{made[state]}/abort")


@pytest.fixture(scope="module")
def member_page(signed_in: BrowserContext) -> Page:
    return signed_in.new_page()


@pytest.fixture(scope="module")
def stranger_page(signed_in: BrowserContext) -> Iterator[Page]:
    assert signed_in.browser is not None
    with signed_in.browser.new_context() as context:
        yield context.new_page()


def _marks_of(stop: Stop) -> list[pytest.MarkDecorator]:
    return of_page if stop.name in FRAMES else [*of_page, pytest.mark.deep]


@pytest.mark.parametrize(
    "stop", [pytest.param(stop, marks=_marks_of(stop), id=stop.name) for stop in STOPS]
)
def test_fr_01_axe_finds_nothing_on_it(
    server: Installation,
    names: Names,
    member_page: Page,
    stranger_page: Page,
    axe: str,
    stop: Stop,
    request: pytest.FixtureRequest,
) -> None:
    # One page for all of them: a new one costs more than what it shows.
    page = member_page if stop.signed_in else stranger_page
    page.goto(server.url + stop.path.format(**names))
    if stop.act:
        stop.act(page)
    pictures = request.config.getoption("--pictures")
    # Both themes at both widths take CI's time, and nobody else's.
    is_frame = stop.name in FRAMES and request.config.getoption("markexpr") != "not deep"
    assert list(find_faults(page, stop.name, axe, is_frame=is_frame, pictures=pictures)) == []


# One of each kind, and keys that change nothing for the other tests.
KEYED = {"home", "inbox", "session-done", "panel-changes-full", "settings-models", "docs", "share"}
SKIPPED = {"allow-once", "allow-always", "stop", "stage-change", "revert-change", "viewed"}


@pytest.mark.parametrize(
    "stop",
    [
        pytest.param(stop, marks=[*of_page, pytest.mark.deep], id=stop.name)
        for stop in STOPS
        if stop.name in KEYED
    ],
)
def test_no_key_fails_on_any_kind_of_page(
    server: Installation, names: Names, signed_in: BrowserContext, stop: Stop
) -> None:
    url = server.url + stop.path.format(**names)
    with watched(signed_in) as page:
        page.goto(url)
        bound = page.evaluate("JSON.parse(document.body.dataset.shortcuts || '{}')")
        for keys in (keys for action, keys in bound.items() if action not in SKIPPED):
            for key in keys.replace("Mod", "Control").split():
                page.keyboard.press(key)
            page.keyboard.press("Escape")
            page.wait_for_load_state()
            if page.url.split("?")[0] != url.split("?")[0]:
                _go(page, url)
        # Chromium may never close a page that is on its way to another one.
        page.wait_for_load_state("networkidle")


def _go(page: Page, url: str) -> None:
    # Where a key leads may still be on its way, and cut this off.
    for wait_ms in (0, 500, 1000):
        with suppress(PlaywrightError):
            page.wait_for_timeout(wait_ms)
            page.goto(url)
            return
    page.goto(url)


def _route(path: str) -> str:
    return resolve(re.sub(r"\{\w+\}", "1", path).split("?")[0]).route


def test_every_page_is_walked() -> None:
    read = {row.route for row in PAGES if row.method == "get" and row.codes[0] == 200}
    read |= {_route(page.path) for page in TABLE if page.method == "get" and page.codes[0] == 200}

    assert read - NO_PAGE - {_route(stop.path) for stop in STOPS} == set()
