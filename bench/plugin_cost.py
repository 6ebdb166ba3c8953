"""Runs inside our server's Django: what idle plugins add to a trivial turn, beside one without any.

Turns with and without take turns in one process, so that what else the machine does slows both.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from pathlib import Path

from django.conf import settings

from bench.stats import median
from bench.turn_cost import take_turn
from opencode_web.lib.loop import submit
from sessions.access import access_project
from sessions.actions.projects import create_project_from_folder
from sessions.actions.sessions import create_session
from sessions.actions.trust import trust_repository
from sessions.config.effective import project_config
from sessions.repository.plugins import LIMITS_S
from sessions.runner.offers.mcp_kept import end_kept_servers
from teams.access import access_team
from teams.auth import Principal, authenticate_user
from teams.models import Team, User

PLUGINS = 3
_WARM_UP = 5
_HOOKS = ("event", *LIMITS_S)
# What each variant has its plugins listen to.
VARIANTS = {"none": (), "event": ("event",), "all": _HOOKS}


def measure_plugins(turns: int) -> None:
    """Print medians by row: milliseconds of a turn, what plugins add to them, and the ratio."""
    principal = authenticate_user(User.objects.earliest("pk"))
    with tempfile.TemporaryDirectory(dir=settings.WORKTREES_DIR) as folder:
        sessions = {
            name: _session(principal, Path(folder, name), hooks) for name, hooks in VARIANTS.items()
        }
        walls: dict[str, list[float]] = {name: [] for name in VARIANTS}
        used: dict[str, list[float]] = {name: [] for name in VARIANTS}
        for _ in range(_WARM_UP + turns):
            for name, session_id in sessions.items():
                wall, cpu = time.monotonic(), time.process_time()
                take_turn(principal, session_id)
                walls[name].append((time.monotonic() - wall) * 1000)
                used[name].append((time.process_time() - cpu) * 1000)
        submit(end_kept_servers()).result()
    found = {}
    bare = median(walls["none"][_WARM_UP:])
    for name in VARIANTS:
        ms = median(walls[name][_WARM_UP:])
        found[f"plugins.{name}.ms"] = ms
        found[f"plugins.{name}.cpu"] = median(used[name][_WARM_UP:])
        found[f"plugins.{name}.added"] = ms - bare
        found[f"plugins.{name}.ratio"] = ms / bare
    print(json.dumps(found))


def _session(principal: Principal, folder: Path, hooks: tuple[str, ...]) -> str:
    plugins = folder / ".opencode/plugin"
    plugins.mkdir(parents=True)
    listed = ", ".join(f"'{name}': async () => {{}}" for name in hooks)
    for number in range(PLUGINS if hooks else 0):
        text = f"export const One = async () => ({{ {listed} }})\n"
        plugins.joinpath(f"{number}.js").write_text(text)
    folder.joinpath("README.md").write_text("A project.\n")
    for step in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Begin"]):
        who = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"]
        subprocess.run(["git", "-C", folder, *who, *step], check=True)
    team = access_team(User.objects.earliest("pk"), Team.objects.earliest("pk").pk)
    project = create_project_from_folder(team, path=str(folder))
    access = access_project(principal, project.pk)
    if hooks:
        trust_repository(access, digest=project_config(project).brought.digest)
    return create_session(access).pk
