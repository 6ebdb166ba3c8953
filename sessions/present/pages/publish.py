"""What there is to publish of a session, as its panel shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from django.utils.translation import gettext as _

from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject, list_of, number_of, text_of
from sessions.actions.sessions import is_default_title
from sessions.actions.suggested_message import suggested_message
from sessions.changes.steps import changed_paths
from sessions.config.sharing import Links
from sessions.forges.registry import NAMES
from sessions.models import Checkout, Session
from sessions.present.place import Place
from sessions.present.projects import project_url
from sessions.present.pulls import PullLine, load_pulls
from sessions.present.stored_text import stored_text
from sessions.publish_settings import Publishing, publishing_of
from sessions.shares.policy import project_links

State, Job = Checkout.State, Checkout.Job
_STANDING = (State.READY, State.PROJECT)


@dataclass(frozen=True)
class FileLine:
    what: str
    look: str
    path: str
    chosen: bool


@dataclass(frozen=True)
class Typed:
    """What a form that was refused had in it, and why it was."""

    problem: str = ""
    act: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    paths: frozenset[str] | None = None

    def get(self, act: str, name: str, default: str) -> str:
        return self.fields.get(name, default) if self.act == act else default


@dataclass(frozen=True)
class CommitForm:
    """`others`: files that this session has not changed, in a folder that it shares with others.

    `more` counts changed files that are not listed, and go with all the others only.
    """

    url: str
    message: str
    files: list[FileLine]
    others: list[FileLine]
    more: int

    @property
    def count(self) -> int:
        return len(self.files) + len(self.others)


@dataclass(frozen=True)
class RequestForm:
    url: str
    title: str
    body: str
    base: str
    draft: bool
    branches: list[str]


@dataclass(frozen=True)
class BranchForms:
    switch_url: str
    rename_url: str
    name: str


@dataclass(frozen=True)
class Stand:
    """How the branch stands. `unpushed` and `behind_remote` are None where nothing is known."""

    branch: str
    base_branch: str
    remote: str
    forge: str
    dirty: int
    ahead: int
    behind: int
    unpushed: int | None
    behind_remote: int | None
    looked_at: datetime | None


@dataclass(frozen=True)
class PublishView:
    """Forms are None where something cannot be done now."""

    key: str
    # The project's own folder, in which others may work too.
    shared: bool
    # Why there is nothing to publish yet.
    missing: str
    working: str
    # Not only looked at: nothing else can be asked for meanwhile.
    blocked: bool
    # How far it is, and what came of what was done last.
    progress: str
    result: str
    failed: bool
    typed: Typed
    stand: Stand
    pulls: list[PullLine]
    commit: CommitForm | None
    branches: BranchForms | None
    push_url: str
    # What was typed for a push that has failed, without a credential.
    push_to: str
    request: RequestForm | None
    # Why no pull request can be opened, where somebody can do something about it.
    no_request: str
    url: str
    poll_url: str
    worktree_url: str
    settings_url: str


def build_publish(
    session: Session,
    row: Checkout | None,
    *,
    base_url: str,
    typed: Typed | None = None,
) -> PublishView:
    """`session.project.team` should be loaded. `base_url`: of this server, for links back."""
    typed, place = typed or Typed(), Place.of(session)
    publishing = publishing_of(session.project)
    job = Job(row.job) if row else Job.NOTHING
    blocked = job not in (Job.NOTHING, Job.LOOK)
    stand = _stand(row, publishing)
    pulls = load_pulls(session)
    # What was looked at, and nothing is being done there.
    ready = row if row and row.state in _STANDING and row.survey and not blocked else None
    request = no_request = None
    if ready:
        request, no_request = _request(session, ready, stand, pulls, publishing, base_url, typed)
    said = stored_text(row.job_cause, row.job_detail) if row else ""
    return PublishView(
        key=new_id("msg"),
        shared=not session.folder,
        missing=_missing(row),
        working=_working(job),
        blocked=blocked,
        progress=said if blocked else "",
        result="" if blocked else said,
        failed=row.job_failed if row else False,
        typed=typed,
        stand=stand,
        pulls=pulls,
        commit=_commit(session, ready, typed) if ready and ready.dirty else None,
        branches=_branches(session, typed) if ready else None,
        push_url=place.url("publish_act", act="push") if ready and stand.branch else "",
        push_to=_push_to(row, publishing, typed) if not blocked else "",
        request=request,
        no_request=no_request or "",
        url=place.url("publish"),
        poll_url=f"{place.url('publish')}?poll=1",
        worktree_url=place.url("checkout") if session.folder else "",
        settings_url=project_url(session.project, "publishing"),
    )


def _push_to(row: Checkout | None, publishing: Publishing, typed: Typed) -> str:
    failed = text_of(row.job_data, "url") if row and row.job_failed else ""
    return typed.get("push", "url", "" if failed == publishing.url else failed)


def _stand(row: Checkout | None, publishing: Publishing) -> Stand:
    survey: JsonObject = row.survey if row else {}
    return Stand(
        branch=(row.branch if row else "") or text_of(survey, "branch"),
        base_branch=row.base_branch if row else "",
        remote=publishing.url,
        forge=str(NAMES[publishing.kind]) if publishing.kind else "",
        dirty=row.dirty if row else 0,
        ahead=row.ahead if row else 0,
        behind=row.behind if row else 0,
        unpushed=number_of(survey, "unpushed"),
        behind_remote=number_of(survey, "behind"),
        looked_at=row.looked_at if row and survey else None,
    )


def _commit(session: Session, row: Checkout, typed: Typed) -> CommitForm:
    whats = {
        "new": (_("new"), "done"),
        "changed": (_("changed"), "run"),
        "deleted": (_("deleted"), "fail"),
        "conflict": (_("conflict"), "ask"),
    }
    own = None if session.folder else frozenset(changed_paths(session))
    files, others = list[FileLine](), list[FileLine]()
    for one in list_of(row.survey, "files"):
        if isinstance(one, list) and len(one) == 2:
            what, path = str(one[0]), str(one[1])
            is_own = own is None or path in own
            chosen = is_own if typed.paths is None else path in typed.paths
            line = FileLine(*whats.get(what, (what, "idle")), path, chosen)
            (files if is_own else others).append(line)
    return CommitForm(
        url=Place.of(session).url("publish_act", act="commit"),
        message=typed.get("commit", "message", suggested_message(session, row)),
        files=files,
        others=others,
        more=number_of(row.survey, "more") or 0,
    )


def _branches(session: Session, typed: Typed) -> BranchForms:
    place = Place.of(session)
    return BranchForms(
        switch_url=place.url("publish_act", act="switch"),
        rename_url=place.url("publish_act", act="rename") if session.folder else "",
        name=typed.fields.get("name", ""),
    )


def _request(
    session: Session,
    row: Checkout,
    stand: Stand,
    pulls: list[PullLine],
    publishing: Publishing,
    base_url: str,
    typed: Typed,
) -> tuple[RequestForm | None, str]:
    """Returns: the form, or why there is none."""
    if not stand.branch or any(one.is_open and one.branch == stand.branch for one in pulls):
        return None, ""
    if not publishing.can_request:
        return None, _(
            "To open pull requests here, the project needs a known forge and an access token."
        )
    place, commits = Place.of(session), _commits(row)
    branches = [str(one) for one in list_of(row.survey, "branches")]
    base = row.base_branch or _main_of(branches)
    return RequestForm(
        url=place.url("publish_act", act="request"),
        title=typed.get("request", "title", _title(session, commits)),
        body=typed.get("request", "body", _body(session, commits, base_url)),
        base=typed.get("request", "base", base),
        draft=typed.act == "request" and "draft" in typed.fields,
        branches=branches,
    ), ""


def _main_of(branches: list[str]) -> str:
    return next((name for name in ("main", "master") if name in branches), "")


def _commits(row: Checkout) -> list[str]:
    return [str(one) for one in list_of(row.survey, "commits")]


def _title(session: Session, commits: list[str]) -> str:
    if len(commits) == 1:
        return commits[0]
    return commits[-1] if commits and is_default_title(session.title) else session.title


def _body(session: Session, commits: list[str], base_url: str) -> str:
    lines = [f"- {one}" for one in reversed(commits)] if len(commits) > 1 else []
    # Where links to sessions are not wanted, none is written elsewhere either.
    if project_links(session.project) is not Links.NONE:
        link = f"{base_url}{Place.of(session).url_of(session.top_id)}"
        lines += ["", f"Session: {link}"] if lines else [f"Session: {link}"]
    return "\n".join(lines)


def _working(job: Checkout.Job) -> str:
    return {
        Job.NOTHING: "",
        Job.LOOK: _("Checking the files"),
        Job.COMMIT: _("Committing"),
        Job.PUSH: _("Pushing"),
        Job.SWITCH: _("Creating the branch"),
        Job.RENAME: _("Renaming the branch"),
        Job.REQUEST: _("Opening the pull request"),
        Job.MERGE: _("Merging"),
    }.get(job, _("Another operation is in progress"))


def _missing(row: Checkout | None) -> str:
    if row is None or row.state in _STANDING:
        return ""
    if row.state in (State.NEW, State.PREPARING):
        return _(
            "There is nothing to publish yet. The worktree is created when the first turn starts."
        )
    return _("There is nothing to publish, because the worktree is missing.")
