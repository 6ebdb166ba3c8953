"""Commit, branch, push and pull request, as people ask for them. A worker does them.

They are about the place where a session works: its own worktree, or the project's folder.
"""

from __future__ import annotations

import re

from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.errors import Conflict, Invalid
from opencode_web.lib.json import JsonObject
from opencode_web.lib.text import clean_text
from sessions.access import SessionAccess
from sessions.actions.checkouts import MAX_MESSAGE_CHARS, checkout_of, request_job, request_look
from sessions.checkouts.names import is_branch_name
from sessions.git.process import AUTHOR_EMAIL, allowed_protocols
from sessions.git.url import parse_git_url
from sessions.models import Checkout, Project, Session
from sessions.publish_settings import publishing_of
from sessions.secrets import project_redactor
from sessions.wake import wake_checkout
from teams.access import require_role
from teams.models import Role

Job = Checkout.Job
MAX_TITLE_CHARS = 250
MAX_BODY_CHARS = 20_000
_MAX_PATHS = 500
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# All of those but tabs and line ends: a terminal would act on them.
_ESCAPES = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_TRAILER = re.compile(r"[A-Za-z][A-Za-z0-9-]*: \S")


def workplace_of(session: Session) -> Checkout | None:
    """The row of where a session works: its worktree's, or the project's folder's if there is."""
    if session.folder:
        return checkout_of(session)
    return Checkout.objects.filter(pk=session.project_id, state=Checkout.State.PROJECT).first()


def request_survey(access: SessionAccess) -> Checkout | None:
    """Have a worker look at what there is to publish. Nothing changes by it.

    Returns: None for a session whose worktree is gone.
    """
    if access.session.folder:
        return request_look(access) if checkout_of(access.session) else None
    project = access.project
    row = _project_row(project)
    rows = Checkout.objects.filter(pk=row.pk, job="")
    if rows.update(job=Job.LOOK, job_at=timezone.now(), job_begun=False, job_data={}):
        wake_checkout(row.pk, project)
    row.refresh_from_db()
    return row


def _project_row(project: Project) -> Checkout:
    fields = {"project": project, "title": project.name, "folder": "", "branch": ""}
    defaults = {**fields, "state": Checkout.State.PROJECT}
    return Checkout.objects.get_or_create(pk=project.pk, defaults=defaults)[0]


def request_commit_of(
    access: SessionAccess,
    *,
    message: str,
    paths: list[str] | None = None,
    staged: bool = False,
    key: str = "",
) -> Checkout:
    """Commit every change, those of `paths`, or what is `staged`, in the name of who asks; the
    agent is co-author.

    Raises: Invalid; as `request_job`.
    """
    message = _ESCAPES.sub("", clean_text(message.replace("\r\n", "\n"))).strip()
    message = project_redactor(access.project.pk).text(message)
    if not message or len(message) > MAX_MESSAGE_CHARS:
        raise Invalid(
            _("A commit message must have 1 to {count} characters.").format(count=MAX_MESSAGE_CHARS)
        )
    data: JsonObject = {"message": with_co_author(message, access.session)}
    if paths is not None:
        if not paths or len(paths) > _MAX_PATHS or any(map(_CONTROL.search, paths)):
            raise Invalid(_("Choose at least one file, or all files."))
        data["paths"] = list(paths)
    if staged:
        data["staged"] = True
    return request_job(access, _workplace(access), Job.COMMIT, data, key=key)


def with_co_author(message: str, session: Session) -> str:
    """Returns: the message with a trailer that names the agent and its model."""
    agent, model = session.agent or "agent", session.model.get("id")
    name = f"{agent} ({model})" if model else agent
    name = re.sub(r"[<>\x00-\x1f\x7f]", "", name).strip() or "agent"
    trailer = f"Co-authored-by: {name} <{AUTHOR_EMAIL}>"
    last = message.rpartition("\n\n")[2] if "\n\n" in message else ""
    is_trailers = bool(last) and all(_TRAILER.match(line) for line in last.splitlines())
    return f"{message}\n{trailer}" if is_trailers else f"{message}\n\n{trailer}"


def request_branch_of(
    access: SessionAccess, *, name: str, rename: bool = False, key: str = ""
) -> Checkout:
    """Go on on a new branch, or give the worktree's another name.

    Raises: Invalid for a name that git does not take; Conflict for one that is taken, or for a
    branch of the project's folder, which is everybody's; as `request_job`.
    """
    name, workplace = name.strip(), _workplace(access)
    if not is_branch_name(name) or name == "HEAD":
        raise Invalid(_("This is not a valid branch name."), field="name")
    if rename and workplace.state == Checkout.State.PROJECT:
        raise Conflict(
            _("Branches in the project folder cannot be renamed here, because others may use them.")
        )
    taken = Checkout.objects.filter(project=access.project.pk, branch=name)
    if taken.exclude(pk=workplace.pk).exists():
        raise Conflict(
            _("Another session uses the branch {name}. Choose another name.").format(name=name)
        )
    job = Job.RENAME if rename else Job.SWITCH
    return request_job(access, workplace, job, {"name": name}, key=key)


def request_push_of(
    access: SessionAccess, *, url: str = "", branch: str = "", key: str = ""
) -> Checkout:
    """Push to where the project is published, or to `url`, whose credential is used this once.

    `branch` is the one to push to, else that of the same name.

    Raises: Invalid for a branch or an address that cannot be pushed to, or without any; as
    `request_job`.
    """
    url = url.strip()
    address = url or publishing_of(access.project).url
    if not address:
        raise Invalid(
            _(
                "This project has no push address. An admin can set one under Publishing on the "
                "project's page, or you can enter an address."
            ),
            field="url",
        )
    source = parse_git_url(address, protocols=allowed_protocols())
    sealed = encrypt(source.credential) if source.credential else ""
    data: JsonObject = {"url": source.url, "sealed": bool(sealed)}
    if branch:
        if not is_branch_name(branch):
            raise Invalid(_("This is not a valid branch name."), field="branch")
        data["branch"] = branch
    return request_job(access, _workplace(access), Job.PUSH, data, sealed=sealed, key=key)


def request_pull(
    access: SessionAccess, *, title: str, body: str, base: str, draft: bool = False, key: str = ""
) -> Checkout:
    """Open a pull request; what is not pushed is pushed first.

    Raises: Invalid; Conflict when the project has no forge or no token; as `request_job`.
    """
    title = _CONTROL.sub(" ", clean_text(title)).strip()
    body = _ESCAPES.sub("", clean_text(body.replace("\r\n", "\n"))).strip()
    redactor, base = project_redactor(access.project.pk), base.strip()
    title, body = redactor.text(title), redactor.text(body)
    if not title or len(title) > MAX_TITLE_CHARS:
        raise Invalid(
            _("A pull request title must have 1 to {count} characters.").format(
                count=MAX_TITLE_CHARS
            )
        )
    if len(body) > MAX_BODY_CHARS:
        raise Invalid(
            _("A description can have at most {count} characters.").format(count=MAX_BODY_CHARS)
        )
    workplace = _workplace(access)
    if not is_branch_name(base):
        raise Invalid(_("Enter the branch to merge into."), field="base")
    if base == (workplace.branch or workplace.survey.get("branch")):
        raise Invalid(
            _(
                "The work is on {base} itself. Create a new branch first, then open the pull "
                "request."
            ).format(base=base),
            field="base",
        )
    if not publishing_of(access.project).can_request:
        raise Conflict(
            _(
                "The project has no access token for its forge. An admin can set one under "
                "Publishing on the project's page."
            )
        )
    data: JsonObject = {
        "title": title,
        "body": body,
        "base": base,
        "draft": draft,
        "session": access.session.top_id,
    }
    return request_job(access, workplace, Job.REQUEST, data, key=key)


def _workplace(access: SessionAccess) -> Checkout:
    require_role(access.team, Role.MEMBER)
    if not access.session.folder:
        return _project_row(access.project)
    found = workplace_of(access.session)
    if found is None:
        raise Conflict(_("The state of this session's files is not known yet. Refresh it first."))
    return found
