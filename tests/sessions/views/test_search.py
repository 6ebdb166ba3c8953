from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from sessions.config.model import parse_settings
from sessions.config.web_search import find_engine, with_search
from sessions.models import Project, TeamSearch
from teams.models import AuditEntry, Team, User
from tests.tools.search.engines import EngineServer, mcp
from tests.web_server import serve
from tools.features import Features
from tools.search.engine import ADDRESSES, EngineKind

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
URL = "/t/acme/settings/search"
KEY = "a-very-secret-key-1234"


def choose(browser: Client, kind: str, *, address: str = "", key: str = "") -> Any:
    return browser.post(URL, {"kind": kind, "address": address, "key": key})


def found(team: Team, **config: Any) -> Any:
    return find_engine(team.pk, parse_settings(config))


def features(team: Team, **config: Any) -> tuple[bool, bool]:
    searched = with_search(Features(), team.pk, parse_settings(config))
    return searched.websearch, searched.codesearch


def test_an_admin_sets_an_engine_up_and_switches_it_off(
    team: Team, adam: User, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    assert "No search engine is set up" in browser.get(URL).content.decode()
    assert choose(browser, "exa", key=KEY)["Location"] == URL
    page = browser.get(URL).content.decode()
    assert "•••• 1234" in page
    assert KEY not in page
    row = TeamSearch.objects.get(team=team)
    assert KEY not in row.secret
    engine = found(team)
    assert (engine.kind, engine.address, engine.key) == ("exa", ADDRESSES[EngineKind.EXA], KEY)
    assert features(team) == (True, True)
    assert browser.post(f"{URL}/off")["Location"] == URL
    assert found(team) is None
    assert features(team) == (False, False)
    entries = AuditEntry.objects.filter(action__startswith="search.").order_by("pk")
    assert [(one.action, one.told) for one in entries] == [
        ("search.set_up", {"engine": "exa", "address": "", "with_key": True}),
        ("search.switched_off", {}),
    ]


@pytest.mark.parametrize(
    ("kind", "address", "key", "why"),
    [
        ("searxng", "", "", "needs an address"),
        ("brave", "", "", "needs a key"),
        ("exa", "", "two\nlines", "A key must be printable"),
        ("searxng", "ftp://x.example", "", "http"),
        ("searxng", "http://169.254.169.254/", "", "metadata"),
        ("searxng", "http://u:p@x.example", "", "user name"),
        ("google", "", "", "valid choice"),
    ],
)
def test_what_cannot_work_is_said(
    team: Team, adam: User, client_for: ClientFor, kind: str, address: str, key: str, why: str
) -> None:
    answer = choose(client_for(adam), kind, address=address, key=key)
    assert answer.status_code == 422
    assert why in answer.content.decode()
    assert not TeamSearch.objects.exists()


def test_the_key_stays_with_its_engine_and_host(
    team: Team, adam: User, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    choose(browser, "exa", key=KEY)
    choose(browser, "exa")
    assert found(team).key == KEY
    choose(browser, "exa", address="https://gateway.example/mcp")
    assert (found(team).address, found(team).key) == ("https://gateway.example/mcp", "")
    choose(browser, "exa", address="https://gateway.example/mcp", key=KEY)
    choose(browser, "exa", address="https://gateway.example/other")
    assert found(team).key == KEY
    choose(browser, "parallel", address="https://gateway.example/other")
    assert found(team).key == ""


def test_private_addresses_need_the_operators_leave(
    team: Team, adam: User, client_for: ClientFor, settings: Settings
) -> None:
    settings.ALLOWED_PRIVATE_ADDRESSES = []
    answer = choose(client_for(adam), "searxng", address="http://127.0.0.1:8888")
    assert answer.status_code == 422
    settings.ALLOWED_PRIVATE_ADDRESSES = ["127.0.0.1:8888"]
    choose(client_for(adam), "searxng", address="http://127.0.0.1:8888/")
    assert found(team).address == "http://127.0.0.1:8888"


def test_settings_choose_without_the_key(team: Team, adam: User, client_for: ClientFor) -> None:
    assert found(team, websearch="brave") is None
    assert found(team, websearch="searxng") is None
    assert found(team, websearch={"provider": "searxng", "url": "https://s.example/"}).address == (
        "https://s.example"
    )
    assert features(team, websearch="parallel") == (True, False)
    choose(client_for(adam), "exa", key=KEY)
    assert found(team, websearch="exa").key == KEY
    other = found(team, websearch="parallel")
    assert (other.address, other.key) == (ADDRESSES[EngineKind.PARALLEL], "")
    # The key goes nowhere else by an address that settings name.
    assert found(team, websearch={"provider": "exa", "url": "https://evil.example"}).key == ""
    assert found(team, websearch=False) is None
    assert features(team, websearch={"enabled": False}) == (False, False)


def test_the_button_asks_the_engine(team: Team, adam: User, client_for: ClientFor) -> None:
    browser = client_for(adam)
    assert browser.post(f"{URL}/test").status_code == 409
    server = EngineServer(mcp("something"))
    with serve(server) as base:  # type: ignore[arg-type]
        choose(browser, "exa", address=f"{base}/mcp", key=KEY)
        assert "Exa responded." in browser.post(f"{URL}/test").content.decode()
        server.status, server.reply = 401, f"wrong {KEY}".encode()
        page = browser.post(f"{URL}/test").content.decode()
    assert "answered 401" in page
    assert KEY not in page


def test_members_see_which_and_no_form(
    team: Team, adam: User, bob: User, client_for: ClientFor
) -> None:
    choose(client_for(adam), "exa", key=KEY)
    page = client_for(bob).get(URL).content.decode()
    assert "Exa" in page
    assert "<select" not in page


def test_a_key_that_cannot_be_read_is_said(
    team: Team, adam: User, client_for: ClientFor, settings: Settings, project: Project
) -> None:
    browser = client_for(adam)
    choose(browser, "exa", key=KEY)
    TeamSearch.objects.update(secret="nothing")
    assert "Enter it again" in browser.post(f"{URL}/test").content.decode().replace("\n", " ")
