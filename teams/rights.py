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
    Right("read", Role.VIEWER, _("Read sessions, changes, files and the settings of the team.")),
    Right("work", Role.MEMBER, _("Start sessions, write to agents, stop them and go on.")),
    Right(
        "answer",
        Role.MEMBER,
        _("Answer what agents ask, and take back what they were allowed for good."),
    ),
    Right("sessions", Role.MEMBER, _("Rename, archive and delete sessions.")),
    Right("history", Role.MEMBER, _("Fork sessions, roll them back and delete turns.")),
    Right("review", Role.MEMBER, _("Comment on changes and send the comments to the agent.")),
    Right("publish", Role.MEMBER, _("Commit, merge, push and open pull requests.")),
    Right("terminals", Role.MEMBER, _("Open terminals in the folders of projects.")),
    Right("projects", Role.MEMBER, _("Create projects, clone them and import sessions.")),
    Right("schedules", Role.MEMBER, _("Plan sessions that start by themselves.")),
    Right("usage", Role.BILLING, _("See what others spend; everybody sees their own.")),
    Right("budgets", Role.BILLING, _("Set the budgets of the team and of its members.")),
    Right("others", Role.ADMIN, _("Change what others have queued, planned or shared.")),
    Right(
        "set_up",
        Role.ADMIN,
        _("Set up projects, their secrets and network, trust repositories, and delete projects."),
    ),
    Right("models", Role.ADMIN, _("Set up providers, their keys and their models.")),
    Right(
        "agents",
        Role.ADMIN,
        _("Change rules, commands, agents, skills, network, web search and sharing of the team."),
    ),
    Right("members", Role.ADMIN, _("Invite people, change roles up to their own, remove members.")),
    Right("programs", Role.ADMIN, _("Make service accounts and webhooks.")),
    Right("audit", Role.ADMIN, _("Read the audit trail.")),
    Right("team", Role.ADMIN, _("Rename the team.")),
    Right("own", Role.OWNER, _("Hand the team over, delete it.")),
)
