from __future__ import annotations

import pytest
from pytest_django import Settings

from opencode_web.lib.json import JsonObject
from sessions.models import Project
from sessions.sandboxes.build import command_limits
from tools.sandbox.places import Places

MIB = 1024 * 1024
pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("of_team", "of_project", "memory_mb", "processes"),
    [
        ({}, {}, 1000, 100),
        ({"command_memory_mb": 500}, {}, 500, 100),
        ({}, {"command_memory_mb": 500, "command_processes": 50}, 500, 50),
        ({"command_memory_mb": 300}, {"command_memory_mb": 500}, 300, 100),
        ({"command_memory_mb": 9000, "command_processes": 9000}, {}, 1000, 100),
    ],
)
def test_a_team_and_a_project_can_only_lower_the_limits(
    project: Project,
    settings: Settings,
    of_team: JsonObject,
    of_project: JsonObject,
    memory_mb: int,
    processes: int,
) -> None:
    settings.SANDBOX_MEMORY_MB = 1000
    settings.SANDBOX_PROCESSES = 100
    project.team.config = {"limits": of_team}
    project.team.max_commands = 7
    project.config = {"limits": of_project}
    limits = command_limits(project)
    assert limits.places == Places(project.team_id, 7)
    assert limits.memory_bytes == memory_mb * MIB
    assert limits.processes == processes
    assert limits.cpu_s == settings.SANDBOX_CPU_S
