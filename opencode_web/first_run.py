"""The first owner of an installation, with everything that a first prompt needs."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.utils.translation import get_language

from opencode_web.lib.db import lock_until_commit
from opencode_web.lib.errors import Conflict
from providers.actions import create_demo
from providers.models import ProviderConfig
from sessions.actions.projects import create_project_from_folder, create_sample_project
from sessions.models import Project
from teams.access import access_team
from teams.actions.teams import create_team
from teams.actions.users import create_user, set_language
from teams.models import Team, User

# Any number, the same in every process.
_LOCK = 4096


@dataclass(frozen=True)
class Installation:
    """An owner, the team, and the sample project that works without a key."""

    user: User
    team: Team
    project: Project


@transaction.atomic
def create_installation(
    *,
    name: str,
    email: str,
    password: str,
    team_name: str,
    only_first: bool,
    folder: str = "",
    ip: str | None = None,
) -> Installation:
    """Make a person who is operator and owns a new team with a sample project and the demo.

    With `only_first` it works as long as there is no user at all. `folder` is a repository below
    the worktrees root, to be the project in place of the sample.

    Raises: Conflict when there is one, or the address is taken; Invalid for a weak password or an
    unusable name or folder; Unavailable when git does not work.
    """
    # Two first runs at once must not both find nobody.
    lock_until_commit(_LOCK)
    if only_first and User.objects.exists():
        raise Conflict("This server already has an owner. Sign in instead.")
    user = create_user(email, name=name, password=password, is_operator=True, ip=ip)
    # What is made for them is worded in it, and the demo answers in it.
    if (language := get_language() or "") != settings.LANGUAGE_CODE:
        set_language(user, language=language)
    return create_workspace(user, team_name=team_name, folder=folder, ip=ip)


@transaction.atomic
def create_workspace(
    user: User,
    *,
    team_name: str,
    team: Team | None = None,
    folder: str = "",
    ip: str | None = None,
) -> Installation:
    """Make a sample project and the demo in a new team, or in `team`, that `user` owns.

    `folder` as above.

    Only the first run and the command line call this: `TEAM_CREATION` does not apply.

    Raises: Invalid for an unusable name or folder; Unavailable when git does not work.
    """
    team = team or create_team(user, name=team_name, ip=ip, as_operator=True)
    if not ProviderConfig.objects.filter(team=team).exists():
        create_demo(team, actor=user, ip=ip)
    access = access_team(user, team.pk)
    if folder:
        return Installation(user, team, create_project_from_folder(access, path=folder))
    # Last: its files are not part of the transaction.
    project = create_sample_project(access)
    return Installation(user, team, project)
