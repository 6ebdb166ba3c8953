from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Invalid
from opencode_web.lib.ids import is_fresh, is_id, new_id, new_slug
from opencode_web.lib.json import JsonObject
from opencode_web.lib.text import clean_text
from sessions.access import ProjectAccess, SessionAccess
from sessions.actions.checkouts import Plan, folder_for, give_up, plan_checkout
from sessions.actions.control import stop_session
from sessions.actions.shares import share_session
from sessions.events.live import publish_deleted
from sessions.events.store import append, lock_below, lock_session, start_log
from sessions.events.types import SessionCreated, SessionUpdated
from sessions.models import Checkout, Project, Session, State
from sessions.retention.holds import holds_on_session
from sessions.secrets import hide_keys
from sessions.shares.policy import share_mode
from sessions.wake import signal_servers, wake, wake_file_erasure
from teams.actions.members import change_views
from teams.audit import AuditAction, record
from teams.retention.holds import refuse_held

MAX_TITLE_CHARS = 300
MAX_PATH_CHARS = 1_000
# Files of a session that is gone are removed later than this.
FRESH_ID_S = 600.0


def default_title() -> str:
    """A title that a generated one may replace. Source: OpenCode's titles."""
    now = timezone.now()
    return f"New session - {now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z"


def is_default_title(title: str) -> bool:
    """Whether nobody has named the session yet."""
    return title.startswith("New session - ")


@dataclass(frozen=True)
class WorkFolder:
    """Where a session works: one of the project's checkouts, else the project's folder; `path` is
    relative to that."""

    checkout: str = ""
    path: str = ""


@transaction.atomic
def create_session(  # noqa: PLR0913  as many things can be chosen
    access: ProjectAccess,
    *,
    title: str = "",
    agent: str = "",
    model: JsonObject | None = None,
    permission: list[JsonObject] | None = None,
    metadata: JsonObject | None = None,
    parent: Session | None = None,
    folder: WorkFolder | None = None,
    checkout: Plan | None = None,
    session_id: str = "",
    private: bool = False,
    read_only: bool = False,
    cost_limit: Decimal | None = None,
) -> Session:
    """Begin a session. It works in `folder`, by default the project's; with a `checkout` it has a
    worktree of its own. One with a `parent` works where that does, and is as private as its tree.

    `session_id` is one that a client has just made. `read_only` and `cost_limit`, USD, hold for it
    and all below it, for good.

    Raises: Conflict while the project's files are not ready, and for an id that is taken; Invalid
    for one that is none, or was not made just now: it could be that of a session that is gone; and
    for a path that cannot be shown; NotFound for a parent that is gone.
    """
    session_id = _checked_id(session_id) if session_id else new_id("ses")
    folder = folder or WorkFolder()
    if parent is not None:
        # Who archives or deletes the tree has seen all that is in it.
        parent = lock_session(parent.pk)
        folder, checkout = WorkFolder(parent.folder, parent.path), None
        read_only, cost_limit = parent.is_read_only, parent.cost_limit
    elif checkout is not None:
        folder = replace(folder, checkout=folder_for(access.project, session_id))
    event = SessionCreated(
        project_id=access.project.pk,
        folder=folder.checkout or None,
        path=_checked_path(folder.path),
        owner_id=access.principal.user.pk,
        parent_id=parent.pk if parent else None,
        root_id=parent.top_id if parent else None,
        title=clean_title(title) if title else default_title(),
        slug=new_slug(),
        agent=agent,
        model=model or {},
        permission=permission or [],
        metadata=metadata or {},
        private=(private and parent is None) or None,
        read_only=read_only or None,
        cost_limit=cost_limit,
    )
    session = open_session(access, event, AuditAction.SESSION_CREATED, session_id=session_id)
    if checkout is not None:
        plan_checkout(session, checkout)
    if parent is None and not private and share_mode(access.project) == "auto":
        return share_session(SessionAccess(session, access.team, access.principal))
    return session


def _checked_path(path: str) -> str | None:
    if len(path) > MAX_PATH_CHARS or not path.isprintable():
        raise Invalid(
            _("The path of this folder is too long or contains characters that cannot be shown.")
        )
    return path or None


def _checked_id(given: str) -> str:
    if not is_id(given, "ses") or not is_fresh(given, "ses", within_s=FRESH_ID_S):
        raise Invalid(
            "A session ID is ses_, followed by 12 hex digits with the current time and 14 "
            "letters or digits. Leave it out to let the server create one.",
            field="id",
        )
    if Session.objects.filter(pk=given).exists():
        raise Conflict("This ID is already in use. Create another one.")
    return given


def open_session(
    access: ProjectAccess | SessionAccess,
    event: SessionCreated,
    action: AuditAction,
    data: JsonObject | None = None,
    *,
    session_id: str = "",
) -> Session:
    """Begin a log and its audit trail. Must run inside a transaction.

    Raises: Conflict while the project's files are not ready.
    """
    project = access.project
    if project.status != Project.Status.READY:
        raise Conflict(
            _("The project {name} is not ready: {why}").format(
                name=project.name, why=project.status_detail
            )
        )
    if event.private:
        # Its owner sees something else from now on than others of their role.
        change_views(project.team_id)
    session = start_log(session_id or new_id("ses"), project, event)
    actor, team = access.principal.user, access.team.team
    record(action, actor=actor, team=team, target=session, data=data)
    return session


def clean_title(title: str) -> str:
    """Raises: Invalid when it is empty or too long."""
    title = clean_text(" ".join(title.split()))
    if not title or len(title) > MAX_TITLE_CHARS:
        raise Invalid(_("A title must have 1 to {most} characters.").format(most=MAX_TITLE_CHARS))
    return title


@transaction.atomic
def update_session(
    access: SessionAccess,
    *,
    title: str | None = None,
    metadata: JsonObject | None = None,
    permission: list[JsonObject] | None = None,
    archived_ms: int | None = None,
) -> Session:
    """Change what is given. `archived_ms` 0 brings an archived session back.

    An archived session does nothing, nor do its sub-agents: what waits for somebody is stopped.

    Raises: Invalid; Conflict for archiving a session that works, or that has a sub-agent at work.
    """
    session = lock_session(access.session.pk)
    before: JsonObject = {"permission": session.permission}
    if archived_ms:
        _put_to_rest(session, access)
        signal_servers()
    changes = SessionUpdated(
        title=clean_title(hide_keys(session.project, title)) if title is not None else None,
        metadata=metadata,
        permission=permission,
        archived=archived_ms,
    )
    append(session, [changes])
    done: list[tuple[AuditAction, JsonObject]] = []
    if title is not None:
        done.append((AuditAction.SESSION_RENAMED, {}))
    if permission is not None:
        after: JsonObject = {"permission": [*permission]}
        done.append((AuditAction.SESSION_RULES_CHANGED, {"before": before, "after": after}))
    if archived_ms is not None:
        done.append((AuditAction.SESSION_ARCHIVED, {} if archived_ms else {"key": "restored"}))
    actor, team = access.principal.user, access.team.team
    for action, data in done:
        record(action, actor=actor, team=team, target=session, data=data)
    return session


def _put_to_rest(session: Session, access: SessionAccess) -> None:
    # A sub-agent that somebody has prompted waits also below a session that is idle.
    for one in _lock_tree(session):
        if one.state == State.WAITING:
            stop_session(one, access)


def _lock_tree(session: Session) -> list[Session]:
    """Returns: a locked session and all below it, locked too. Raises: Conflict while one works."""
    tree = [session, *lock_below(session)]
    if any(one.state == State.BUSY for one in tree):
        raise Conflict(_("The session is running. Stop it first."))
    return tree


@transaction.atomic
def delete_session(access: SessionAccess) -> None:
    """Remove the session and its sub-agents' with their whole logs, for good.

    Raises: Conflict while one of them is busy; Held under a legal hold.
    """
    session = lock_session(access.session.pk)
    refuse_held(holds_on_session(session, access.team.team))
    record(
        AuditAction.SESSION_DELETED,
        actor=access.principal.user,
        team=access.team.team,
        target=session,
        data={"title": session.title},
    )
    remove_tree(session)


def remove_tree(session: Session, *, rescues: bool = True) -> None:
    """Remove a locked session with all below it. Whoever calls it has made sure that it may go.

    What was not merged of its worktree is rescued, or not.
    Raises: Conflict while one of them is busy, and while others work in its worktree.
    """
    tree = _lock_tree(session)
    transaction.on_commit(lambda: publish_deleted(session))
    signal_servers()
    if rescues:
        give_up(session)
        # What is lost of this the sweep finds, an hour later.
        gone = [one.pk for one in tree]
        transaction.on_commit(partial(wake_file_erasure, session.project, gone))
    else:
        Checkout.objects.filter(pk=session.pk).delete()
    _lock_against_references(tree)
    Session.objects.get(pk=session.pk).delete()
    if session.parent_id is not None:
        # A call may wait for what is gone.
        wake(session.parent_id, session.project)


def _lock_against_references(tree: list[Session]) -> None:
    """Let no row be committed any more that refers to these locked sessions, as a pin does.

    It would stand against the deletion. All other locks are taken before: this one waits only for
    commits, and those for nothing of this transaction's.
    """
    rows = Session.objects.select_for_update().filter(pk__in=[one.pk for one in tree])
    list(rows.order_by("created_at", "pk").values_list("pk"))
