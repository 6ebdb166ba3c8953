"""What each role may do, as people read it.

A test holds every line to the tables that say what each page answers to whom.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from teams.access import has_role
from teams.models import Role


@dataclass(frozen=True)
class Right:
    """Something that people of one role may do, and of those that include it."""

    id: str
    need: Role
    text: str | Promise

    def holders(self) -> list[tuple[Role, bool]]:
        """Returns: each role, the least one first, with whether it has the right."""
        return [(role, has_role(role, self.need)) for role in ROLES]


# Who may more stands behind.
ROLES = (Role.VIEWER, Role.MEMBER, Role.BILLING, Role.ADMIN, Role.OWNER)
RIGHTS = (
    Right("read", Role.VIEWER, _("Read sessions, changes, files and team settings.")),
    Right("work", Role.MEMBER, _("Start, prompt, stop and continue sessions.")),
    Right(
        "answer",
        Role.MEMBER,
        _("Answer requests of agents and revoke saved permissions."),
    ),
    Right("sessions", Role.MEMBER, _("Rename, archive and delete sessions.")),
    Right("history", Role.MEMBER, _("Fork sessions, roll them back and delete turns.")),
    Right("review", Role.MEMBER, _("Comment on changes and send comments to the agent.")),
    Right("files", Role.MEMBER, _("Edit files in project folders.")),
    Right("publish", Role.MEMBER, _("Commit, merge, push and open pull requests.")),
    Right("terminals", Role.MEMBER, _("Open terminals in project folders.")),
    Right("projects", Role.MEMBER, _("Create and clone projects, and import sessions.")),
    Right("schedules", Role.MEMBER, _("Schedule sessions.")),
    Right("usage", Role.BILLING, _("See what others spend. Everyone can see their own spending.")),
    Right("budgets", Role.BILLING, _("Set the budgets of the team and its members.")),
    Right("others", Role.ADMIN, _("Change messages, schedules and links of other members.")),
    Right(
        "set_up",
        Role.ADMIN,
        _(
            "Set up projects with their secrets and network, trust repositories and delete "
            "projects."
        ),
    ),
    Right("models", Role.ADMIN, _("Set up providers with their keys and models.")),
    Right(
        "agents",
        Role.ADMIN,
        _(
            "Change the team's rules, commands, agents, skills, plugins, network, web search "
            "and sharing."
        ),
    ),
    Right(
        "members",
        Role.ADMIN,
        _(
            "Invite people, change roles up to their own, remove members, and choose who sees a "
            "project."
        ),
    ),
    Right("programs", Role.ADMIN, _("Create service accounts and webhooks.")),
    Right("audit", Role.ADMIN, _("Read the audit log.")),
    Right("retention", Role.ADMIN, _("Set how long data is kept.")),
    Right("team", Role.ADMIN, _("Rename the team.")),
    Right("holds", Role.OWNER, _("Set and release legal holds.")),
    Right("erase", Role.OWNER, _("Export the team, and erase it or its projects for good.")),
    Right(
        "own",
        Role.OWNER,
        _("Transfer or delete the team, and set its sign-in and approval policies."),
    ),
)
