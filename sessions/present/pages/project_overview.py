"""How a project stands, at the top of its page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from django.utils.translation import gettext as _

from sessions.access import ProjectAccess
from sessions.browse.repository import Commit
from sessions.models import Outcome, Project, ServerProcess
from sessions.present.frame.composer import Composer
from sessions.present.place import Place
from sessions.present.pulls import PullLine, load_open_pulls
from sessions.present.sessions import Look, look_of, shown_title
from sessions.present.stored_text import short_outcome_of
from sessions.processes import living_processes
from sessions.visibility import sessions_in

_SHORT_SHA = 8


@dataclass(frozen=True)
class HealthLine:
    """What agents need, or what the last turn came to. `url` leads to what it is about."""

    look: Look
    text: str
    url: str = ""
    action: str = ""
    at: datetime | None = None


@dataclass(frozen=True)
class CommitLine:
    """The newest commit; without `sha` there is none, or `error` says why it is not known."""

    sha: str = ""
    subject: str = ""
    author: str = ""
    at: datetime | None = None
    error: str = ""


@dataclass(frozen=True)
class Overview:
    branch: str
    pulls: list[PullLine]
    more_pulls: int
    health: list[HealthLine]


def build_overview(access: ProjectAccess, branch: str, composer: Composer) -> Overview:
    """`composer`: of the project's page, which knows what can be sent. Four queries."""
    project = access.project
    pulls, more = load_open_pulls(access)
    health = [_model(composer), _worker(project), _last_turn(access)]
    return Overview(branch, pulls, more, [line for line in health if line])


def build_commit(commit: Commit | None) -> CommitLine:
    if commit is None:
        return CommitLine()
    at = datetime.fromtimestamp(commit["at"], UTC)
    return CommitLine(commit["sha"][:_SHORT_SHA], commit["subject"], commit["author"], at)


def _model(composer: Composer) -> HealthLine:
    reason = composer.reason
    if reason is not None and not reason.of_budget:
        # What is in the way, and the way out of it, stand in the message field.
        return HealthLine("fail", _("No model is ready"), "#prompt")
    options = [option for group in composer.models for option in group.options]
    chosen = next((one for one in options if one.selected), None)
    model = {"model": chosen.label if chosen else ""}
    if chosen and chosen.is_unproven:
        return HealthLine("warn", _("Model not verified yet: %(model)s") % model)
    return HealthLine("done", _("Model ready: %(model)s") % model)


def _worker(project: Project) -> HealthLine:
    workers = living_processes().exclude(kind=ServerProcess.Kind.WEB)
    if workers.filter(host=project.host, drain_since=None).exists():
        return HealthLine("done", _("Worker online"))
    return HealthLine("fail", _("No worker is online. Prompts wait until one is."))


def _last_turn(access: ProjectAccess) -> HealthLine | None:
    rows = sessions_in(access.team).filter(project=access.project, parent=None, archived_at=None)
    ended = rows.exclude(outcome=Outcome.NONE).select_related("project__team")
    last = ended.order_by("-active_at").first()
    if last is None:
        return None
    look, text = look_of(last)
    if look == "fail":
        text = _("Last turn failed: %(why)s") % {"why": short_outcome_of(last) or text}
    else:
        text = _("Last turn: %(state)s") % {"state": text}
    return HealthLine(look, text, Place.of(last).url("session"), shown_title(last), last.active_at)
