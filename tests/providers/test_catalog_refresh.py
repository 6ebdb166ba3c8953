from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from providers import actions, catalog_file
from providers.catalog import catalog_models, known_provider
from providers.catalog_refresh import is_due, refresh_from_address
from providers.models import ProviderConfig
from providers.tasks import refresh_catalog
from teams.models import AuditEntry, User

pytestmark = pytest.mark.django_db


def provider(name: str, *models: str, **fields: Any) -> Any:
    price = {"input": 1, "output": 2}
    described = {key: {"name": key, "cost": {**price}, "limit": {}} for key in models}
    npm = "@ai-sdk/openai-compatible"
    api = f"https://{name}.example/v1"
    return {"name": name, "npm": npm, "api": api, "env": [], "models": described, **fields}


API = {key: provider(key, "m1", "m2") for key in ("a", "b", "c", "d")}


class ModelsDev(BaseHTTPRequestHandler):
    """Answers as models.dev's host does: with a tag, and with nothing to who has it."""

    api: Any = API
    status = 200
    tags: list[str | None]

    def do_GET(self) -> None:
        given = self.headers.get("if-none-match")
        type(self).tags.append(given)
        body = gzip.compress(
            self.api if isinstance(self.api, bytes) else json.dumps(self.api).encode(), mtime=0
        )
        tag = f'W/"{hash(body) & 0xFFFF:x}"'
        if given == tag:
            self.send_response(304)
            self.end_headers()
            return
        self.send_response(self.status)
        self.send_header("etag", tag)
        self.send_header("content-encoding", "gzip")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def in_use(api: Any) -> None:
    path = catalog_file.refreshed_path()
    catalog_file.write_catalog(path, api, source="first", date="2026-01-01")


@pytest.fixture
def source(tmp_path: Path, settings: Any) -> Iterator[type[ModelsDev]]:
    settings.DATA_DIR = tmp_path
    handler = type("Handler", (ModelsDev,), {"tags": [], "api": deepcopy(API)})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        settings.MODELS_URL = f"http://127.0.0.1:{server.server_port}/api.json"
        in_use(API)
        yield handler
        server.shutdown()


def audited() -> list[tuple[str, Any]]:
    rows = AuditEntry.objects.order_by("pk").values_list("action", "data", "team")
    assert all(team is None for _, _, team in rows)
    return [(action, data) for action, data, _ in rows]


def test_what_changed_is_in_the_audit(source: type[ModelsDev]) -> None:
    del source.api["a"]["models"]["m1"]
    source.api["a"]["models"]["m3"] = {"name": "m3"}
    source.api["b"]["models"]["m1"]["status"] = "deprecated"
    source.api["b"]["models"]["m2"]["cost"]["input"] = 5
    source.api["c"]["models"]["m1"]["name"] = "A new name is nothing to tell"
    source.api["e"] = provider("e", "m1")
    del source.api["d"]
    changes = refresh_from_address()
    assert changes is not None
    ((action, data),) = audited()
    assert action == "catalog.refreshed"
    assert {
        key: value for key, value in data.items() if value and key not in ("source", "date")
    } == {
        "providers_added": "1: e",
        "providers_removed": "1: d",
        "models_added": "2: a/m3, e/m1",
        "models_removed": "3: a/m1, d/m1, d/m2",
        "models_deprecated": "1: b/m1",
        "prices_changed": "1: b/m2",
    }
    assert "m3" in catalog_models("a")


def test_what_has_not_changed_is_not_sent_again(source: type[ModelsDev], settings: Any) -> None:
    source.api["a"]["models"]["m3"] = {"name": "m3"}
    assert refresh_from_address()
    path = catalog_file.refreshed_path()
    os.utime(path, (1, 1))
    assert is_due()
    assert refresh_from_address() is None
    assert source.tags[0] is None
    assert source.tags[1]
    assert not is_due()
    assert len(audited()) == 1


@pytest.mark.parametrize(
    ("api", "reason"),
    [
        ({"a": API["a"], "b": API["b"]}, "it has 2 providers, and the catalog in use has 4"),
        (
            {key: provider(key, "m1") for key in API},
            "it has 4 models, and the catalog in use has 8",
        ),
        ({"a": []}, "it is not the api.json of models.dev"),
        ({"a": {"name": "a", "models": {"m": 1}}}, "it is not the api.json of models.dev"),
        (b"<html>", "Expecting value"),
        (b"[" * 200_000, "it cannot be read"),
        (b'"' + b"x" * (65 * 1024 * 1024), "too large for a catalog"),
    ],
)
def test_a_catalog_that_cannot_be_right_is_refused_once(
    source: type[ModelsDev], api: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    source.api = api
    for _ in range(2):
        assert refresh_from_address() is None
    ((action, data),) = audited()
    assert action == "catalog.refused"
    assert reason in data["reason"]
    assert "catalog.refused" in caplog.text
    assert list(catalog_models("d")) == ["m1", "m2"]


def test_a_server_that_fails_changes_nothing(source: type[ModelsDev]) -> None:
    source.status = 503
    assert refresh_from_address() is None
    assert audited()[0][1]["reason"] == "the server answered 503"


def test_a_third_less_is_still_taken(source: type[ModelsDev]) -> None:
    del source.api["d"]
    assert refresh_from_address()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"npm": "@ai-sdk/openai", "api": None}, {"api": "https://evil.example/v1"}),
        ({"npm": "@ai-sdk/openai", "api": None}, {"npm": "@ai-sdk/groq"}),
        (
            {"api": "https://${ACCOUNT}.fine.example/v1"},
            {"api": "https://${ACCOUNT}.evil.example/v1"},
        ),
    ],
)
def test_a_refresh_cannot_send_keys_elsewhere(
    source: type[ModelsDev], before: Any, after: Any
) -> None:
    known = {**deepcopy(API), "a": {**API["a"], **before}}
    in_use(known)
    source.api = {**known, "a": {**known["a"], **after}}
    assert refresh_from_address()
    assert audited()[0][1]["addresses_kept"] == "1: a"
    kept = catalog_file.read_all()["a"]
    assert (kept["npm"], kept.get("api")) == (known["a"]["npm"], known["a"]["api"])
    # Until an operator says so.
    path = catalog_file.refreshed_path().with_name("api.json")
    path.write_text(json.dumps(source.api))
    call_command("refresh_catalog", str(path), "--force", verbosity=0)
    assert after.items() <= catalog_file.read_all()["a"].items()


def test_an_address_that_rows_have_of_their_own_may_change(source: type[ModelsDev]) -> None:
    source.api["a"]["api"] = "https://new.example/v1"
    assert not refresh_from_address()
    known = known_provider("a")
    assert known is not None
    assert known.base_url == "https://new.example/v1"


def test_a_persons_key_stays_at_the_address_that_it_was_given_for(
    source: type[ModelsDev], alice: User
) -> None:
    actions.set_own_key(alice, "a", key="sk-own-abcdefghijklmnop")
    # As they were stored before.
    actions.set_own_key(alice, "b", key="sk-own-abcdefghijklmnop")
    ProviderConfig.objects.filter(provider_id="b").update(base_url="")
    for key in ("a", "b"):
        source.api[key]["api"] = "https://evil.example/v1"
    refresh_from_address()
    addresses = dict(ProviderConfig.objects.values_list("provider_id", "base_url"))
    assert addresses == {"a": "https://a.example/v1", "b": "https://b.example/v1"}


def test_a_file_is_checked_too_and_says_what_it_changed(
    source: type[ModelsDev], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "api.json"
    path.write_text(json.dumps({"a": API["a"]}))
    with pytest.raises(CommandError, match="it has 1 providers"):
        call_command("refresh_catalog", str(path))
    path.write_text(json.dumps({**API, "e": provider("e", "m1")}))
    call_command("refresh_catalog", str(path))
    assert "providers added: 1: e" in capsys.readouterr().out
    assert catalog_file.read_head()["source"] == str(path)


@pytest.mark.parametrize(
    ("address", "hours", "asks"), [("", 24, 0), ("given", 0, 0), ("given", 24, 1)]
)
def test_the_periodic_task_asks_where_it_may(
    source: type[ModelsDev], settings: Any, address: str, hours: int, asks: int
) -> None:
    settings.MODELS_URL = settings.MODELS_URL if address else ""
    settings.MODELS_REFRESH_HOURS = hours
    os.utime(catalog_file.refreshed_path(), (1, 1))
    refresh_catalog()
    assert len(source.tags) == asks


def test_it_is_asked_no_more_often_than_is_set(source: type[ModelsDev]) -> None:
    refresh_catalog()
    assert source.tags == []


def test_other_processes_see_a_refresh_without_a_restart(
    source: type[ModelsDev], tmp_path: Path
) -> None:
    code = (
        "import sys, django; django.setup()\n"
        "from providers.catalog import catalog_models\n"
        "for _ in sys.stdin: print(len(catalog_models('a')), flush=True)\n"
    )
    environment = {**os.environ, "OPENCODE_WEB_DATA": str(tmp_path)}
    environment["DJANGO_SETTINGS_MODULE"] = "opencode_web.settings"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as other:
        assert other.stdin
        assert other.stdout
        counts = []
        for refresh in (False, True):
            if refresh:
                source.api["a"]["models"]["m3"] = {"name": "m3"}
                assert refresh_from_address()
            other.stdin.write("\n")
            other.stdin.flush()
            counts.append(int(other.stdout.readline()))
        other.stdin.close()
    assert counts == [2, 3]
