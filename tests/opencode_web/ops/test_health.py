from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from django.test import Client

from opencode_web.diagnosis import Finding
from opencode_web.ops import health
from opencode_web.ops.health import Disk, Examination, Provider, Service
from providers.tally import Hour
from tests.installed_plugins import loaded, write_package
from tests.opencode_web.ops.conftest import make_process

pytestmark = pytest.mark.django_db


def found(client: Client) -> health.Health:
    page = client.get("/ops/health").context["health"]
    assert isinstance(page, health.Health)
    return page


def test_database_and_disks_are_looked_at(console: Client) -> None:
    shown = found(console)
    database = shown.services[0]
    assert (database.problem, database.size_bytes is not None) == ("", True)
    assert (database.size_bytes or 0) > 100_000
    data = shown.disks[0]
    assert data.folder == str(configured.DATA_DIR)
    assert 0 < data.free_bytes <= data.total_bytes


def test_a_redis_that_is_away_is_named_without_its_address(console: Client, settings: Any) -> None:
    settings.EMBEDDED = False
    settings.REDIS_URL = "redis://:hunter2@127.0.0.1:9"
    answer = console.get("/ops/health")
    (service,) = [one for one in answer.context["health"].services if one.name == "Redis"]
    assert service.problem == "ConnectionError"
    text = answer.content.decode()
    assert "No response" in text
    assert "hunter2" not in text


def test_what_is_slow_or_full_is_marked() -> None:
    assert Service("x", "", 101).is_slow
    assert not Service("x", "", 99).is_slow
    assert Disk("x", "/", 9, 100).is_low
    assert not Disk("x", "/", 10, 100).is_low


def test_the_calls_of_all_living_workers_are_added_up(console: Client) -> None:
    for name, seen_s, counts in (
        ("a:1", 0, {"demo": {"": 6, "RateLimited": 2}}),
        ("b:1", 0, {"demo": {"": 1, "RateLimited": 1, "NetworkError": 1}, "own": {"": 1}}),
        ("c:1", 60, {"demo": {"": 100}}),
    ):
        row = make_process(name, seen_s=seen_s)
        row.providers = counts
        row.save()
    demo, own = found(console).providers
    assert demo == Provider("demo", Hour(11, (("RateLimited", 3), ("NetworkError", 1))))
    assert (demo.percent, demo.is_bad, own.percent, own.is_bad) == (36, True, 0, False)
    assert "RateLimited: 3" in console.get("/ops/health").content.decode()


def test_findings_are_kept_for_a_while() -> None:
    asked: list[int] = []

    def examine() -> list[Finding]:
        asked.append(1)
        return [Finding("git", True, True, f"try {len(asked)}")]

    examination = Examination(examine)
    threads = [
        threading.Thread(target=examination.findings, kwargs={"at_most_s": 60}) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert examination.findings(at_most_s=60).findings[0].detail == "try 1"
    assert examination.findings(at_most_s=-1).findings[0].detail == "try 2"


def test_a_rule_that_cannot_be_read_is_not_quoted() -> None:
    finding = Finding("rules", False, False, "acme/shop: what a team has written")
    (shown,) = Examination(lambda: [finding]).findings(at_most_s=0).findings
    assert "acme" not in shown.detail
    assert not shown.ok


@pytest.mark.django_db(transaction=True)
def test_the_doctor_is_asked_for_real(
    console: Client, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR, settings.WORKTREES_DIR = tmp_path, tmp_path / "worktrees"
    monkeypatch.setattr("opencode_web.ops.views.examination", Examination())
    answer = console.get("/ops/health/findings", headers={"HX-Request": "true"})
    names = {one.name: one.ok for one in answer.context["diagnosis"].findings}
    assert names["git"]
    assert names["database"]
    assert "live messages" in names
    assert "Try again" in answer.content.decode()


def test_the_worst_that_a_living_process_tells_of_an_installed_plugin_is_shown(
    console: Client, tmp_path: Path
) -> None:
    def told(state: str, why: str = "") -> dict[str, Any]:
        return {"acme": {"version": "1.0", "state": state, "hooks": "tools", "why": why}}

    for name, seen_s, plugins in (
        ("a:1", 0, told("loaded")),
        ("b:1", 0, told("resting", "before_tool: KeyError in acme.py:3")),
        ("c:1", 60, told("failed", "of a process that is gone")),
    ):
        row = make_process(name, seen_s=seen_s)
        row.plugins = plugins
        row.save()
    write_package(tmp_path, "acme", "@hookimpl\ndef tools(): return []")
    write_package(tmp_path, "own", "raise ValueError('<b>broken</b>')")
    with loaded(tmp_path):
        page = console.get("/ops/health")
    acme, own = page.context["health"].installed
    assert (acme.state, acme.why) == (
        "Switched off for ten minutes",
        "before_tool: KeyError in acme.py:3",
    )
    assert (own.state, own.chip) == ("Failed", "chip-fail")
    assert "ValueError: &lt;b&gt;broken" in page.content.decode()
