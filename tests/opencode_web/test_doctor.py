from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django import Settings

from opencode_web.diagnosis import Finding
from opencode_web.preflight import hold_lock
from providers.models import Credential, ProviderConfig
from teams.models import Team
from tools.sandbox.process_cap import caps_processes

WALLS = (
    *(
        "files",
        "system",
        "environment",
        "namespaces",
        "network",
        "network list",
        "privileges",
        "seccomp",
    ),
    *("memory limit", "process limit", "file size limit"),
)


@pytest.fixture(autouse=True)
def tried_anew() -> Iterator[None]:
    # What was found while a test hid the programs of this host would stay.
    yield
    caps_processes.cache_clear()


@pytest.fixture(autouse=True)
def folders(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    settings.WORKTREES_DIR = tmp_path / "worktrees"
    settings.EMBEDDED = True


def doctor() -> tuple[bool, dict[str, dict[str, Any]]]:
    out = io.StringIO()
    code = 0
    try:
        call_command("doctor", "--json", stdout=out)
    except SystemExit as exc:
        code = int(str(exc.code))
    report = json.loads(out.getvalue())
    assert report["ok"] == (code == 0)
    return report["ok"], {row["name"]: row for row in report["findings"]}


@pytest.mark.django_db(transaction=True)
def test_a_host_that_has_everything_is_fine(tmp_path: Path) -> None:
    ok, found = doctor()
    assert ok
    assert {name for name, row in found.items() if not row["ok"]} <= {"ripgrep"}
    assert set(found) == {
        *("settings", "data", "worktrees", "static files", "database", "migrations"),
        *("credentials", "live messages", "worker", "git", "ripgrep", "sandbox", "rules"),
        *(f"sandbox: {wall}" for wall in WALLS),
    }
    assert found["data"]["detail"] == str(tmp_path)
    # Programs have the same name in every language.
    assert {name for name, row in found.items() if Finding(**row).label == name} == {
        *("git", "ripgrep")
    }


@pytest.mark.django_db(transaction=True)
def test_what_is_required_and_fails_ends_with_an_error(
    settings: Settings, tmp_path: Path, team: Team
) -> None:
    (tmp_path / "file").write_text("")
    settings.WORKTREES_DIR = tmp_path / "file"
    provider = ProviderConfig.objects.create(team=team, provider_id="acme-ai", kind="openai")
    Credential.objects.create(provider=provider, secret="sealed-under-another-key")
    ok, found = doctor()
    assert not ok
    assert not found["worktrees"]["ok"]
    assert not found["credentials"]["ok"]
    assert "acme/acme-ai" in found["credentials"]["detail"]
    assert "sealed" not in found["credentials"]["detail"]


@pytest.mark.django_db(transaction=True)
def test_a_missing_git_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    ok, found = doctor()
    assert not ok
    assert "git is not installed" in found["git"]["detail"]


@pytest.mark.django_db(transaction=True)
def test_separate_processes_need_a_worker(settings: Settings) -> None:
    settings.EMBEDDED = False
    ok, found = doctor()
    assert not ok
    assert found["worker"]["required"]
    assert "start one" in found["worker"]["detail"]


@pytest.mark.django_db(transaction=True)
def test_it_tells_whether_the_server_runs(tmp_path: Path) -> None:
    assert "starts with" in doctor()[1]["worker"]["detail"]
    lock = hold_lock(tmp_path)
    try:
        assert doctor()[1]["worker"]["detail"] == "runs inside the server"
    finally:
        os.close(lock)


@pytest.mark.django_db(transaction=True)
def test_the_table_names_every_finding(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("doctor")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 13 + len(WALLS)
    assert all(line.startswith(("ok ", "limited ")) for line in lines)
