"""A session's own worktree, as people decide about it. What they ask for is done by a worker."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.json import JsonObject, text_of
from opencode_web.lib.reasons import Cause, english
from opencode_web.lib.text import clean_text
from sessions.access import SessionAccess
from sessions.approvals.hold import Change, hold_for_approval, is_held
from sessions.checkouts.names import is_branch_name
from sessions.checkouts.rows import BESIDE_TURNS, at_work
from sessions.config.effective import project_config
from sessions.events.checkout_reasons import CheckoutReason
from sessions.events.store import append, lock_session
from sessions.events.types import SessionUpdated
from sessions.git.places import checkout_folder
from sessions.git.process import allowed_protocols
from sessions.git.url import parse_git_url
from sessions.models import ChangeKind, Checkout, Project, Session
from sessions.publish_settings import publishing_of
from sessions.wake import wake_checkout
from teams.access import require_role, roles_with
from teams.audit import AuditAction, record
from teams.models import Membership, Role

PREFIX = "opencode/"
MAX_MESSAGE_CHARS = 10_000
Job = Checkout.Job
_AUDITED = {
    Job.COMMIT: AuditAction.CHECKOUT_COMMITTED,
    Job.MERGE: AuditAction.CHECKOUT_MERGED,
    Job.PUSH: AuditAction.CHECKOUT_PUSHED,
    Job.SWITCH: AuditAction.CHECKOUT_SWITCHED,
    Job.RENAME: AuditAction.CHECKOUT_RENAMED,
    Job.REQUEST: AuditAction.PULL_REQUEST_OPENED,
    Job.DROP: AuditAction.CHECKOUT_DROPPED,
    Job.RESTORE: AuditAction.CHECKOUT_RESTORED,
}


@dataclass(frozen=True)
class Plan:
    """A worktree that is to be made when the first turn begins.

    `branch` is the one to start from, "" for what the project shows. Without `asked` the session
    works in the project's folder where a worktree cannot be made. `base` and `seed` are the commit
    and the files of a session that it goes on from; `fetch` is the ref of the remote repository
    that has `base` where the project has not.
    """

    branch: str = ""
    asked: bool = True
    base: str = ""
    seed: JsonObject = field(default_factory=dict)
    fetch: str = ""

    def __post_init__(self) -> None:
        if self.branch and not is_branch_name(self.branch):
            raise Invalid(_("This is not a valid branch name."), field="branch")


def wants_own(project: Project) -> bool:
    """Whether sessions that people start in this project have worktrees of their own by default."""
    setting = project_config(project).worktree
    if setting != "auto":
        return setting == "own"
    # Who tries the sample alone finds what was done to it in its folder.
    if project.source != Project.Source.SAMPLE:
        return True
    prompting = roles_with(Role.MEMBER)
    return Membership.objects.filter(team=project.team_id, role__in=prompting)[1:2].exists()


def choose_plan(project: Project, *, worktree: bool | None, branch: str = "") -> Plan | None:
    """What somebody's choice comes to; None stands for the default of the project.

    Returns: None for the project's folder.
    Raises: Invalid when a branch is named for that, or cannot be one.
    """
    if worktree is None and not branch:
        return Plan(asked=False) if wants_own(project) else None
    if worktree is False:
        if branch:
            raise Invalid(_("The session needs its own worktree to start from a branch."))
        return None
    return Plan(branch=branch)


def plan_commit(project: Project, plan: Plan | None, *, commit: str, ref: str) -> Plan:
    """Returns: the plan, from a commit of the project's remote repository.

    Only its branches and tags: whoever may push there has put it there. The refs of pull requests
    are anybody's.

    Raises: Invalid.
    """
    if plan is None:
        raise Invalid(_("The session needs its own worktree to start from a commit."))
    kind, _slash, name = ref.removeprefix("refs/").partition("/")
    if not ref.startswith("refs/") or kind not in {"heads", "tags"} or not is_branch_name(name):
        raise Invalid(
            _("Name the branch or tag that has the commit, such as refs/heads/main."), field="ref"
        )
    if not commit:
        raise Invalid(_("Name the commit to start from, in full."), field="commit")
    if not publishing_of(project).url:
        raise Invalid(_("The project has no remote repository to fetch the commit from."))
    return replace(plan, base=commit, fetch=ref)


def folder_for(project: Project, session_id: str) -> str:
    """Where the files of a session will be, on the project's host."""
    return str(checkout_folder(project.pk, session_id, project.name))


def plan_checkout(session: Session, plan: Plan) -> Checkout:
    """Note what has to be made for a new session. Must run inside its transaction."""
    branch = f"{PREFIX}{session.slug}"
    if Checkout.objects.filter(project=session.project_id, branch=branch).exists():
        branch = f"{branch}-{session.pk[-6:].lower()}"
    return Checkout.objects.create(
        id=session.pk,
        project_id=session.project_id,
        session=session,
        title=session.title,
        folder=session.folder,
        branch=branch,
        asked=plan.asked,
        base_branch=plan.branch,
        base=plan.base,
        seed=plan.seed,
        fetch=plan.fetch,
    )


def checkout_of(session: Session) -> Checkout | None:
    """The worktree that a session works in, its own or that of the session it belongs to."""
    if not session.folder:
        return Checkout.objects.filter(session=session).first()
    return Checkout.objects.filter(folder=session.folder, project=session.project_id).first()


def follow_commit(session: Session, commit: str, *, fetch: str) -> None:
    """Have its own worktree brought to a newer commit of the pull request that it works on.

    That is done before the next turn, and not where the worktree has changes of its own. `fetch` is
    the ref of the remote repository that has the commit. Must run inside a transaction.
    """
    rows = Checkout.objects.filter(session=session, fetch=fetch).exclude(fetch="")
    new = rows.filter(state__in=(Checkout.State.NEW, Checkout.State.FAILED))
    if not new.update(base=commit):
        rows.exclude(base=commit).update(follows=commit)


def request_look(access: SessionAccess) -> Checkout:
    """Have it compared with the project. Nothing changes, so it is no matter if one job goes on."""
    checkout = _own(access)
    if checkout.state == Checkout.State.READY:
        rows = Checkout.objects.filter(pk=checkout.pk, job="", state=checkout.state)
        if rows.update(job=Job.LOOK, job_at=timezone.now(), job_begun=False, job_data={}):
            wake_checkout(checkout.pk, access.project)
    checkout.refresh_from_db()
    return checkout


def request_commit(access: SessionAccess, *, message: str) -> Checkout:
    """Commit everything there, in the name of who asks. Raises: Invalid; as `_request`."""
    message = clean_text(message.replace("\r\n", "\n")).strip()
    if not message or len(message) > MAX_MESSAGE_CHARS:
        raise Invalid(
            _("A commit message must have 1 to {count} characters.").format(count=MAX_MESSAGE_CHARS)
        )
    return _request(access, Job.COMMIT, {"message": message})


def request_merge(access: SessionAccess) -> Checkout:
    """Bring the commits into the branch of the project that it came from. Raises: as `_request`."""
    return _request(access, Job.MERGE)


def request_push(access: SessionAccess, *, url: str = "") -> Checkout:
    """Push the branch to `url`, else to where the project was cloned from.

    A credential in `url` is used for this one push. It is stored nowhere.
    Raises: Invalid for an address that cannot be pushed to; as `_request`.
    """
    _own(access)
    address = url.strip() or access.project.git_url
    if not address:
        raise Invalid(_("The project was not cloned. Enter the address to push to."), field="url")
    source = parse_git_url(address, protocols=allowed_protocols())
    sealed = encrypt(source.credential) if source.credential else ""
    return _request(access, Job.PUSH, {"url": source.url, "sealed": bool(sealed)}, sealed=sealed)


def request_drop(access: SessionAccess) -> Checkout:
    """Remove the worktree; unmerged work is rescued first. Raises: as `_request`."""
    return _request(access, Job.DROP)


def request_restore(access: SessionAccess) -> Checkout:
    """Bring a worktree back with its rescued work. Raises: as `_request`."""
    return _request(access, Job.RESTORE)


_NEEDS = {Job.RESTORE: (Checkout.State.RESCUED, Checkout.State.DROPPED)}
_STANDING = (Checkout.State.READY, Checkout.State.PROJECT)


def _request(
    access: SessionAccess, job: Job, data: JsonObject | None = None, *, sealed: str = ""
) -> Checkout:
    return request_job(access, _own(access), job, data, sealed=sealed)


@transaction.atomic
def request_job(
    access: SessionAccess,
    workplace: Checkout,
    job: Job,
    data: JsonObject | None = None,
    *,
    sealed: str = "",
    key: str = "",
) -> Checkout:
    """Ask a worker for something. `key` is that of a form: sent twice, it asks once.

    Raises: Conflict while the place is in use, or not there; Forbidden below member; NeedsApproval.
    """
    require_role(access.team, Role.MEMBER)
    # First the session: whoever begins a turn takes the same lock.
    lock_session(access.session.pk)
    checkout = Checkout.objects.select_for_update().get(pk=workplace.pk)
    if key and checkout.job_key == key:
        return checkout
    if checkout.job not in ("", Job.LOOK):
        raise Conflict(
            _("Another operation is in progress ({job}). Wait until it is done.").format(
                job=checkout.job
            )
        )
    if checkout.state not in _NEEDS.get(job, _STANDING):
        raise Conflict(
            _NOT_THERE.get(Checkout.State(checkout.state), "The worktree is not ready yet.")
        )
    if job not in BESIDE_TURNS and in_use(checkout):
        raise Conflict(_IN_USE[checkout.state == Checkout.State.PROJECT])
    given = {**(data or {}), **_hold(access, checkout, job, data or {}, sealed)}
    checkout.job, checkout.job_data, checkout.job_key = job, given, key
    checkout.job_by, checkout.job_at = access.principal.user, timezone.now()
    checkout.job_begun, checkout.job_failed = False, False
    checkout.job_detail, checkout.job_cause = "", {}
    checkout.save()
    branch = text_of(given, "branch") or checkout.branch
    audit: JsonObject = {"branch": branch, "into": checkout.base_branch}
    record(
        _AUDITED[job],
        actor=access.principal.user,
        team=access.team.team,
        target=access.session,
        data=audit,
    )
    wake_checkout(checkout.pk, access.project, credential=sealed)
    return checkout


_HELD = {
    Job.MERGE: ChangeKind.MERGE,
    Job.PUSH: ChangeKind.PUSH,
    Job.REQUEST: ChangeKind.PUSH,
}


def _hold(
    access: SessionAccess, checkout: Checkout, job: Job, data: JsonObject, sealed: str
) -> JsonObject:
    """Hold what brings commits to where others have them.

    Returns: what binds the job to the commit that is approved, for its data.
    Raises: NeedsApproval; Conflict where nobody has looked at the commit yet.
    """
    kind = _HELD.get(job)
    if kind is None or not is_held(access.team.team, kind):
        return {}
    if not checkout.head:
        raise Conflict(_("The state of this session's files is not known yet. Refresh it first."))
    branch = text_of(data, "branch") or checkout.branch or text_of(checkout.survey, "branch")
    url = text_of(data, "url") or publishing_of(access.project).url
    into = text_of(data, "base") or checkout.base_branch
    change = Change(
        kind=kind,
        what=f"checkout.{job.value}",
        # Nobody else than its owner sees a private one.
        need=Role.ADMIN if (access.session.root or access.session).is_private else Role.MEMBER,
        arguments={
            "session": access.session.pk,
            "checkout": checkout.pk,
            "data": data,
            "sealed": sealed,
        },
        told={
            "branch": branch,
            "into": into,
            "url": url,
            "title": text_of(data, "title"),
            "commit": checkout.head[:10],
        },
        state={
            "checkout": checkout.pk,
            "branch": branch,
            "into": into,
            "url": url,
            "head": checkout.head,
        },
        project=access.project,
    )
    hold_for_approval(access.team, change)
    return {"approved": checkout.head}


_IN_USE = {
    False: "A session is running in this worktree. Stop it first, or wait until it is done.",
    True: "A session is running in the project folder. Stop it first, or wait until it is done.",
}
_NOT_THERE = {
    Checkout.State.NEW: "The worktree is created when the first turn starts.",
    Checkout.State.RESCUED: "The worktree was removed, and its work is rescued. Restore it first.",
    Checkout.State.DROPPED: "The worktree was removed. It is created again with the next prompt.",
    Checkout.State.SHARED: "This session works in the project folder.",
}


def in_use(checkout: Checkout) -> bool:
    """Whether a session works there, or waits for somebody in the middle of a turn."""
    return at_work(checkout.project_id, checkout.folder).exists()


@transaction.atomic
def work_in_project(access: SessionAccess) -> Session:
    """Have a session whose worktree could not be made work in the project's folder.

    Raises: NotFound; Conflict when there is a worktree, or may be one soon; Forbidden.
    """
    require_role(access.team, Role.MEMBER)
    session = lock_session(access.session.pk)
    checkout = Checkout.objects.select_for_update().get(pk=_own(access).pk)
    if checkout.state not in (Checkout.State.NEW, Checkout.State.FAILED) or in_use(checkout):
        raise Conflict(_("The session already has a worktree. Merge and remove it first."))
    chosen = Cause(CheckoutReason.CHOSEN)
    checkout.state, checkout.detail = Checkout.State.SHARED, english(chosen)
    checkout.cause = chosen.to_json()
    checkout.save(update_fields=["state", "detail"])
    append(session, [SessionUpdated(folder="")])
    return session


def give_up(session: Session) -> None:
    """The session is about to be deleted: drop its worktree and rescue its work.

    Raises: Conflict while another session works there.
    """
    checkout = Checkout.objects.select_for_update().filter(session=session).first()
    if checkout is None:
        return
    others = Session.objects.filter(project=session.project_id, folder=checkout.folder)
    if others.exclude(pk=session.pk).exclude(root=session.pk).exists():
        raise Conflict(_("Other sessions work in this session's worktree. Delete them first."))
    if checkout.job not in ("", Job.LOOK):
        raise Conflict(
            _("An operation on its worktree is in progress ({job}). Wait until it is done.").format(
                job=checkout.job
            )
        )
    if checkout.state in (Checkout.State.SHARED, Checkout.State.NEW, Checkout.State.DROPPED):
        checkout.delete()
        return
    # Who sees the project sees what is left, also of a private session, whose title is no part.
    title = checkout.branch if session.is_private else session.title
    checkout.session, checkout.title = None, title
    if checkout.state != Checkout.State.RESCUED:
        checkout.job, checkout.job_data, checkout.job_at = Job.DROP, {}, timezone.now()
        checkout.job_begun = False
        wake_checkout(checkout.pk, session.project)
    checkout.save()


def _own(access: SessionAccess) -> Checkout:
    checkout = checkout_of(access.session)
    if checkout is None:
        raise NotFound("Worktree of the session", access.session.pk)
    return checkout
