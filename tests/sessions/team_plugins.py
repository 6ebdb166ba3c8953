"""Plugins of a team or the server in the registry that a test serves."""

from __future__ import annotations

from opencode_web.lib.loop import submit
from sessions.actions.team_plugins import Holder, add_team_plugin, trust_team_plugin
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


def pinned(user: User, team: Team | None, package: str = "one@1.0.0") -> TeamPlugin:
    """Add a package and fetch it. Without a team it is the server's."""
    row = add_team_plugin(_holder(user, team), package=package)
    submit(pin_package(row.pk)).result()
    row.refresh_from_db()
    return row


def trusted(user: User, team: Team | None, package: str = "one@1.0.0") -> TeamPlugin:
    """Add a package, fetch and trust it."""
    row = pinned(user, team, package)
    return trust_team_plugin(_holder(user, team), plugin=row.pk, digest=row.digest)


def _holder(user: User, team: Team | None) -> Holder:
    return access_team(user, team.slug) if team else user
