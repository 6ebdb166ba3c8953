from __future__ import annotations

import ast
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from teams.models import Team, User
from tests.contract.behaviour import decisions, differing_facts, read_declared
from tests.contract.genuine_program import GenuineProgram
from tests.sessions.api.conftest import bearer
from tests.sessions.factories import make_project
from tools.registry import all_tools

ROOT = Path(__file__).parents[2]


def test_every_difference_names_a_test_that_is_there() -> None:
    for entry in read_declared():
        file, _, name = entry.test.partition("::")
        tree = ast.parse((ROOT / file).read_text())
        names = {
            node.name
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        assert name in names, entry.test


def test_every_difference_is_told_once_and_whole() -> None:
    entries = read_declared()
    assert len({(entry.area, entry.genuine) for entry in entries}) == len(entries)
    for entry in entries:
        assert entry.area
        for text in (entry.genuine, entry.ours, entry.why):
            assert text.endswith(".")
            assert len(text) > 12


@pytest.mark.deep
@pytest.mark.e2e
@pytest.mark.timeout(300)
@pytest.mark.django_db
def test_what_can_be_compared_differs_as_declared(
    program: GenuineProgram, alice: User, team: Team, tmp_path: Path
) -> None:
    project = make_project(team, tmp_path / "shop")
    client = Client(headers=bearer(alice, team))

    def get(path: str) -> Any:
        return client.get(path, {"directory": project.directory}).json()

    found = set(differing_facts(_facts(program.get), _facts(get, tools=list(all_tools()))))
    entries = read_declared()
    declared = {fact for entry in entries for fact in found if entry.covers(fact)}
    assert "\n".join(sorted(found - declared)) == ""
    for entry in entries:
        for pattern in entry.facts:
            assert any(fnmatchcase(fact, pattern) for fact in found), f"{pattern} is over"


def _facts(get: Any, tools: list[str] | None = None) -> dict[str, Any]:
    agents = get("/agent")
    return {
        "TOOL": tools or get("/experimental/tool/ids"),
        "COMMAND": [command["name"] for command in get("/command")],
        "SKILL": [skill["name"] for skill in get("/skill")],
        "AGENT": [agent["name"] for agent in agents],
        "DEFAULT": decisions(agents),
    }
