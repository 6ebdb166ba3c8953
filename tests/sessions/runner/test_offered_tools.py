from __future__ import annotations

import json
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from sessions.models import Project, Session
from tests.sessions.runner.test_prefix import Ask, ask, server

pytestmark = pytest.mark.any_database

__all__ = ["ask", "server"]
EDITS, PATCHES = {"edit", "write"}, {"apply_patch"}


def offered(request: Any) -> list[dict[str, Any]]:
    """As they went over the wire, without the marks of the cache."""
    return [
        {key: value for key, value in tool.items() if key != "cache_control"}
        for tool in request.json["tools"]
    ]


def names(request: Any) -> set[str]:
    return {tool.get("name") or tool["function"]["name"] for tool in offered(request)}


async def test_feat2_fr_02_the_offered_tools_are_the_same_bytes_until_something_changes(
    ask: Ask, server: Any, project: Project
) -> None:
    await ask("first")
    await ask("second")
    assert len({json.dumps(offered(request)) for request in server.requests}) == 1
    assert {"read", "glob", "grep", "bash", "task", "todowrite"} <= names(server.requests[0])
    assert "batch" not in names(server.requests[0])
    project.config = {**project.config, "experimental": {"batch_tool": True}}
    await in_db(project.save)
    await ask("third")
    assert "batch" in names(server.requests[-1])
    assert len({json.dumps(offered(request)) for request in server.requests[-2:]}) == 1


@pytest.mark.parametrize(
    ("model", "patches"), [("own-gpt-5", True), ("gpt-oss", False), ("claude-a", False)]
)
async def test_feat2_fr_06_what_changes_files_is_chosen_with_the_model_of_the_turn(
    ask: Ask, server: Any, project: Project, session: Session, *, model: str, patches: bool
) -> None:
    await ask("first")
    models = project.config["provider"]["own"]["models"]
    project.config["provider"]["own"]["models"] = {**models, model: {"name": model}}
    await in_db(project.save)
    await ask("second", model=model)
    assert names(server.requests[0]) >= EDITS
    # Until apply_patch is there, nobody is left without a way to change files.
    there = PATCHES if patches and "apply_patch" in names(server.requests[-1]) else EDITS
    assert names(server.requests[-1]) & (EDITS | PATCHES) == there
