from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from pytest_django import Settings

from opencode_web.lib.instance_config import _load
from sessions.config.known_keys import say_unknown, split_unknown

# What a file of OpenCode may have, from every part of its schema.
WHOLE: dict[str, Any] = {
    "$schema": "https://opencode.ai/config.json",
    "shell": "bash",
    "logLevel": "INFO",
    "server": {"port": 1, "hostname": "x", "cors": ["y"]},
    "command": {"fix": {"template": "t", "description": "d", "agent": "build", "subtask": True}},
    "skills": {"paths": ["a"], "urls": []},
    "references": {"docs": {"path": "x", "hidden": True}},
    "watcher": {"ignore": ["x"]},
    "snapshot": True,
    "plugin": ["x"],
    "share": "manual",
    "autoupdate": "notify",
    "disabled_providers": ["x"],
    "username": "u",
    "mode": {"build": {"anything": 1}},
    "agent": {"build": {"maxSteps": 3, "top_p": 0.5, "reasoningEffort": "high"}},
    "provider": {"x": {"npm": "y", "options": {"baseURL": "z", "own": 1}, "models": {"m": {}}}},
    "mcp": {
        "a": {"type": "local", "command": ["x"], "cwd": "", "environment": {"ANY": "x"}},
        "b": {
            "type": "remote",
            "url": "https://x.example",
            "headers": {"X-Any": "x"},
            "oauth": {"clientId": "x", "clientSecret": "y", "scope": "z", "callbackPort": 1},
        },
        "c": {"enabled": False, "timeout": 1},
        "d": {"oauth": False},
    },
    "formatter": {"own": {"command": ["x"], "extensions": [".x"], "environment": {"ANY": "x"}}},
    "lsp": {"own": {"command": ["x"], "extensions": [".x"], "env": {}, "initialization": {"a": 1}}},
    "instructions": ["x"],
    "layout": "auto",
    "permission": {"any_tool": {"any pattern": "ask"}},
    "tools": {"any": False},
    "attachment": {"image": {"auto_resize": True, "max_width": 1}},
    "enterprise": {"url": "x"},
    "tool_output": {"max_lines": 1, "max_bytes": 1},
    "compaction": {"auto": True, "prune": True, "tail_turns": 1, "reserved": 1},
    "experimental": {
        "batch_tool": True,
        "openTelemetry": True,
        "primary_tools": ["x"],
        "continue_loop_on_deny": True,
        "mcp_timeout": 1,
    },
    "limits": {"session_cost": "1"},
}


def test_what_opencode_knows_is_kept_as_it_is() -> None:
    assert split_unknown(WHOLE) == (WHOLE, ())
    assert split_unknown({"lsp": True, "websearch": "exa", "skills": ["x"], "mcp": 3})[1] == ()


def test_what_nobody_knows_is_named_where_it_stands_and_left_out() -> None:
    data: dict[str, Any] = {
        "modle": "a/b",
        "model": "a/b",
        "compaction": {"auto": False, "atuo": True},
        "mcp": {"modle": {"urll": "x", "url": "y", "oauth": {"clientID": "z"}}},
        "attachment": {"image": {"width": 1}, "video": {}},
        "gone": None,
    }
    kept, unknown = split_unknown(data)
    assert kept == {
        "model": "a/b",
        "compaction": {"auto": False},
        "mcp": {"modle": {"url": "y", "oauth": {}}},
        "attachment": {"image": {}},
    }
    assert {".".join(path) for path in unknown} == {
        *("modle", "compaction.atuo", "mcp.modle.urll", "mcp.modle.oauth.clientID"),
        *("attachment.image.width", "attachment.video"),
    }
    (said,) = say_unknown(data)
    assert said.startswith("Unknown keys were ignored: attachment.image.width, ")
    assert "modle (did you mean mode?)" in said or "modle (did you mean model?)" in said
    assert say_unknown({"model": "a/b"}) == []


def test_many_and_odd_names_are_said_in_one_short_line() -> None:
    (said,) = say_unknown({f"{n}\n{'x' * 500}": 1 for n in range(5000)})
    assert len(said) < 2000
    assert "\n" not in said
    assert said.endswith(", ….")


@pytest.fixture
def instance(settings: Settings, tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "of-this-server.json"
    settings.INSTANCE_CONFIG = str(file)
    yield file
    _load.cache_clear()


def test_the_server_starts_and_names_them(instance: Path) -> None:
    instance.write_text('{"modle": 1, "model": "a/b"}')
    found = [
        one for one in run_checks(tags=["opencode_web"]) if "settings of this server" in one.msg
    ]
    assert [one.id for one in found] == ["opencode_web.W013"]
    assert found[0].msg.endswith(": modle")
