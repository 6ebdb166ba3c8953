from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from pytest_django import Settings

from opencode_web.checks import TAG, require_sound_settings


def ids() -> list[str | None]:
    return [message.id for message in run_checks(tags=[TAG])]


def test_the_settings_of_a_plain_start_are_sound() -> None:
    assert ids() == []
    require_sound_settings()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"SECRET_KEY": "insecure-no-secret-key-was-set-but-it-is-long"}, "opencode_web.E001"),
        ({"SECRET_KEY": "short"}, "opencode_web.E001"),
        ({"DEBUG": True, "ALLOWED_HOSTS": ["agents.example.com"]}, "opencode_web.E002"),
        ({"ALLOWED_HOSTS": ["localhost", "*"]}, "opencode_web.E003"),
        ({"PUBLIC_URL": "agents.example.com"}, "opencode_web.E004"),
        ({"PUBLIC_URL": "https://example.com?agents"}, "opencode_web.E004"),
        ({"PUBLIC_URL": "https://example.com/agents"}, "opencode_web.E024"),
        ({"BASE_PATH": "/agents/.."}, "opencode_web.E023"),
        ({"PUBLIC_URL": "http://agents.example.com"}, "opencode_web.W004"),
        ({"CORS_ORIGINS": ["*"]}, "opencode_web.E015"),
        ({"CORS_ORIGINS": ["https://ide.example.com/"]}, "opencode_web.E015"),
        ({"HOST_NAME": "a host"}, "opencode_web.E007"),
        ({"UNSAFE_SANDBOX": True}, "opencode_web.W008"),
        ({"TERMINAL_ENVIRONMENT": "nowhere.at.all"}, "opencode_web.E010"),
        ({"TERMINAL_ENVIRONMENT": "name"}, "opencode_web.E010"),
        ({"PREVIEW_HOST": "https://preview.example.net"}, "opencode_web.E016"),
        (
            {"PREVIEW_HOST": "preview.example.com", "PUBLIC_URL": "https://agents.example.com"},
            "opencode_web.W016",
        ),
        ({"TEAM_CREATION": "nobody"}, "opencode_web.E014"),
        ({"ALLOWED_PRIVATE_ADDRESSES": ["http://localhost"]}, "opencode_web.E012"),
        ({"REMOVED_SETTINGS": ["GIT_ALLOW_PRIVATE"]}, "opencode_web.W012"),
    ],
)
def test_it_finds_what_is_unsafe(
    settings: Settings, changes: dict[str, Any], expected: str
) -> None:
    for name, value in changes.items():
        setattr(settings, name, value)
    assert ids() == [expected]


@pytest.mark.parametrize(
    "changes",
    [
        {"DEBUG": True, "ALLOWED_HOSTS": ["localhost", "127.0.0.1"]},
        {"PUBLIC_URL": "https://agents.example.com"},
        {"PUBLIC_URL": "http://localhost:4096"},
        {"PUBLIC_URL": "https://example.com/agents", "BASE_PATH": "/agents"},
        {"PUBLIC_URL": "https://agents.example.com", "PREVIEW_HOST": "preview.example.net:8443"},
        {"CORS_ORIGINS": ["https://ide.example.com", "http://[::1]:3000", "tauri://localhost"]},
    ],
)
def test_it_lets_pass_what_is_fine(settings: Settings, changes: dict[str, Any]) -> None:
    for name, value in changes.items():
        setattr(settings, name, value)
    assert ids() == []


def test_what_a_running_server_finds_is_in_the_language_of_its_reader(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opencode_web.checks._", lambda text: f"~{text}")
    settings.UNSAFE_SANDBOX = True
    settings.PUBLIC_URL = "http://agents.example.com"
    settings.PREVIEW_HOST = "preview.example.com"
    settings.REMOVED_SETTINGS = ["GIT_ALLOW_PRIVATE"]
    settings.CONFIG_ENV, settings.CONFIG_VALUES = ["A_KEY"], {"A_KEY": ""}
    settings.WORKTREES_DIR = tmp_path / "disk"
    found = run_checks(tags=[TAG])
    assert len(found) == 6
    for message in found:
        assert (message.msg[0], str(message.hint)[0]) == ("~", "~")


def test_a_worktrees_folder_that_was_not_mounted_is_an_error(
    settings: Settings, tmp_path: Path
) -> None:
    settings.WORKTREES_DIR = tmp_path / "disk"
    assert ids() == ["opencode_web.E006"]
    settings.WORKTREES_DIR.mkdir()
    assert ids() == []
    (tmp_path / "file").write_text("")
    settings.WORKTREES_DIR = tmp_path / "file"
    assert ids() == ["opencode_web.E006"]


def test_a_worktrees_folder_inside_the_data_folder_is_made_later(
    settings: Settings, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    settings.WORKTREES_DIR = tmp_path / "a" / "worktrees"
    assert ids() == []


def test_errors_end_the_process_with_what_to_do_and_warnings_do_not(
    settings: Settings,
) -> None:
    settings.UNSAFE_SANDBOX = True
    require_sound_settings()
    settings.ALLOWED_HOSTS = ["*"]
    with pytest.raises(SystemExit, match=r"List the names people use.*opencode_web\.E003"):
        require_sound_settings()


@pytest.mark.parametrize(
    ("engine", "embedded", "expected"),
    [
        ("sqlite3", True, []),
        ("sqlite3", False, ["opencode_web.E005"]),
        ("postgresql", True, []),
        ("postgresql", False, []),
    ],
)
def test_separate_processes_need_postgresql(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    engine: str,
    embedded: bool,
    expected: list[str],
) -> None:
    settings.EMBEDDED = embedded
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", f"django.db.backends.{engine}")
    assert ids() == expected
