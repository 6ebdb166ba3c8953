"""Where a new session works: what can be chosen, and what speaks against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from opencode_web.lib.json import object_of, text_of
from sessions.actions.checkouts import wants_own
from sessions.models import Project, Session, State
from teams.models import User

# In a person's preferences: what they chose last, by project.
PLACES = "places"
MAX_PLACES = 50


@dataclass(frozen=True)
class PlaceOption:
    value: str
    label: str
    selected: bool


@dataclass(frozen=True)
class StartPlace:
    """What `sessions/_start_place.html` shows."""

    url: str
    # The project that this is about.
    of: str
    options: list[PlaceOption]
    # Its own worktree was chosen, which can start from any branch.
    is_own: bool
    branch: str
    # None while nobody has asked for them.
    branches: Sequence[str] | None
    fault: str
    # Others work in the folder that is chosen.
    warning: str
    # Only its owner and those who oversee the team will see it.
    private: bool

    @property
    def changed(self) -> list[str]:
        """What is not as usual, in words."""
        place = [one.label for one in self.options if one.selected and one.value]
        source = (
            [_("From %(branch)s") % {"branch": self.branch}] if self.is_own and self.branch else []
        )
        return [*place, *source, *([_("Private")] if self.private else [])]


def kept_place(user: User, project: Project) -> str:
    """Returns: what the person chose last in this project; "" for its default."""
    kept = text_of(object_of(user.preferences, PLACES), project.pk)
    return kept if kept in ("own", "project") else ""


def build_start_place(
    project: Project,
    user: User,
    *,
    place: str | None = None,
    branch: str = "",
    branches: Sequence[str] | None = None,
    fault: str = "",
    private: bool = False,
) -> StartPlace:
    """`place`: what was sent, None where nothing was. `project.team` should be loaded."""
    chosen = kept_place(user, project) if place is None else place
    is_own_usually = wants_own(project)
    usual = _("Project default: own worktree") if is_own_usually else _("Project default: folder")
    labels = {"": usual, "own": _("Own worktree"), "project": _("Project folder")}
    is_shared = chosen == "project" or (not chosen and not is_own_usually)
    return StartPlace(
        url=reverse("sessions:start_place", kwargs={"team": project.team.slug}),
        of=project.pk,
        options=[PlaceOption(value, label, value == chosen) for value, label in labels.items()],
        is_own=chosen == "own",
        branch=branch,
        branches=branches,
        fault=fault,
        warning=_warning(project, user) if is_shared else "",
        private=private,
    )


def _warning(project: Project, user: User) -> str:
    busy = Session.objects.filter(project=project, folder="", parent=None, archived_at=None)
    count = busy.exclude(state=State.IDLE).exclude(owner=user).count()
    if not count:
        return ""
    text = ngettext(
        "%(count)s session of somebody else is working in this folder. Your changes and theirs "
        "will mix.",
        "%(count)s sessions of others are working in this folder. Your changes and theirs will "
        "mix.",
        count,
    )
    return text % {"count": count}
