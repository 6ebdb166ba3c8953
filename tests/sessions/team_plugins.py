"""Plugins of a team in the registry that a test serves."""

from __future__ import annotations

from opencode_web.lib.loop import submit
from sessions.actions.team_plugins import add_team_plugin, trust_team_plugin
from sessions.jobs.packages import pin_package
from sessions.models import TeamPlugin
from teams.access import access_team
from teams.models import Team, User
from tests.npm_registry import FakeRegistry


def publish(npm: FakeRegistry, hooks: dict[str, str], version: str = "1.0.0") -> None:
    """Publish the plugin `one`, whose hooks have these bodies, functions of `i` and `o`."""
    listed = ", ".join(f'"{name}": async (i, o) => {{ {code} }}' for name, code in hooks.items())
    npm.put(
        "one", version, {"index.js": f"export const One = async (_, given) => ({{ {listed} }})"}
    )


def pinned(user: User, team: Team, package: str = "one@1.0.0") -> TeamPlugin:
    """Add a package and fetch it."""
    row = add_team_plugin(access_team(user, team.slug), package=package)
    submit(pin_package(row.pk)).result()
    row.refresh_from_db()
    return row


def trusted(user: User, team: Team, package: str = "one@1.0.0") -> TeamPlugin:
    """Add a package, fetch and trust it."""
    row = pinned(user, team, package)
    access = access_team(user, team.slug)
    return trust_team_plugin(access, plugin=row.pk, digest=row.digest)
