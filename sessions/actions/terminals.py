"""What people do with terminals. A worker starts the program, and ends it."""

from __future__ import annotations

import json
import os
import posixpath
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.crypto import encrypt, fingerprint, fingerprints
from opencode_web.lib.errors import Conflict, Forbidden, Invalid, TooManyRequests
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from sessions.access import ProjectAccess, TerminalAccess
from sessions.agents.loader import find_agent
from sessions.config.effective import project_config, project_limits
from sessions.events.live import publish_terminal
from sessions.models import Project, Terminal, TerminalTicket
from sessions.rules.in_force import agent_ruleset
from sessions.terminals.lease import until
from sessions.terminals.link import send_end, send_size
from sessions.terminals.shells import preferred_shell
from sessions.wake import wake_terminal
from teams.access import require_role
from teams.actions.members import announce_access
from teams.audit import AuditAction, record
from teams.auth import Principal, resume_principal
from teams.limits import most_terminals
from teams.models import Role, Team, User
from tools.permissions.rules import is_hidden

MAX_TITLE_CHARS = 200
MAX_ARGUMENTS_BYTES = 32_768
MAX_ENVIRONMENT_BYTES = 65_536
TICKET_S = 60
# Until a worker has to have begun.
START_S = 20
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")


@dataclass(frozen=True)
class TerminalPlan:
    """What somebody wants to run; empty for a login shell. `env` is added to the sandbox's own."""

    command: str = ""
    args: Sequence[str] = ()
    cwd: str = ""
    title: str = ""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)


@transaction.atomic
def open_terminal(
    access: ProjectAccess, plan: TerminalPlan, *, directory: str, folder: str = ""
) -> Terminal:
    """Have a worker of the project's host start a program on a terminal of its own.

    `directory` is where it starts, unless the plan says; `folder` is the worktree of a session.
    Raises: Invalid; Forbidden below member, and where the rules or settings take terminals away;
    TooManyRequests when there are too many; Conflict while the project has no files.
    """
    project, user = access.project, access.principal.user
    require_role(access.team, Role.MEMBER)
    if project.status != Project.Status.READY:
        raise Conflict(_("The files of {name} are not ready yet.").format(name=project.name))
    _refuse_more(access)
    _refuse_by_rules(project, folder)
    _check_sizes(plan)
    command = plan.command or preferred_shell()
    args = [*plan.args, "-l"] if command.endswith("sh") else [*plan.args]
    terminal = Terminal.objects.create(
        id=new_id("pty"),
        project=project,
        creator=user,
        token_id=access.principal.token_id or "",
        folder=folder,
        title=_clean_title(plan.title) or _free_title(project, user),
        command=command,
        args=args,
        cwd=posixpath.normpath(posixpath.join(directory, plan.cwd)),
        lease_until=until(START_S),
    )
    # Its name only: people type secrets into arguments.
    data: JsonObject = {"project": project.pk, "program": os.path.basename(command)}  # noqa: PTH119
    record(
        AuditAction.TERMINAL_OPENED,
        actor=user,
        team=access.team.team,
        target=terminal,
        data=data,
    )
    sealed = encrypt(json.dumps(dict(plan.env))) if plan.env else ""
    wake_terminal(terminal.pk, project, environment=sealed)
    return terminal


@transaction.atomic
def change_terminal(
    access: TerminalAccess,
    *,
    title: str = "",
    size: tuple[int, int] | None = None,
    watchable: bool | None = None,
) -> Terminal:
    """Rename or resize it, or let the team look on. `size` is rows and columns."""
    terminal = Terminal.objects.select_for_update().get(pk=access.terminal.pk)
    terminal.project = access.terminal.project
    terminal.title = _clean_title(title) or terminal.title
    if size is not None:
        terminal.rows, terminal.columns = size
    if watchable is not None and watchable != terminal.watchable:
        terminal.watchable = watchable
        _say_watchable(access, terminal)
    terminal.save(update_fields=["title", "rows", "columns", "watchable"])
    if size is not None:
        rows, columns = size
        transaction.on_commit(lambda: send_size(terminal.pk, rows=rows, columns=columns))
    transaction.on_commit(lambda: publish_terminal(terminal, "updated"))
    return terminal


def _say_watchable(access: TerminalAccess, terminal: Terminal) -> None:
    team = access.team.team
    action = AuditAction.TERMINAL_SHOWN if terminal.watchable else AuditAction.TERMINAL_HIDDEN
    data: JsonObject = {"project": terminal.project_id}
    record(action, actor=access.principal.user, team=team, target=terminal, data=data)
    # Sockets ask again whether they may.
    announce_access(team.pk)


@transaction.atomic
def remove_terminal(access: TerminalAccess) -> None:
    """End it with everything it runs, and forget it. Its person may, and admins of the team."""
    terminal = access.terminal
    removed, _ = Terminal.objects.filter(pk=terminal.pk).delete()
    if not removed:
        return
    record(
        AuditAction.TERMINAL_REMOVED,
        actor=access.principal.user,
        team=access.team.team,
        target=terminal,
        data={"project": terminal.project_id},
    )
    transaction.on_commit(lambda: send_end(terminal.pk))
    transaction.on_commit(lambda: publish_terminal(terminal, "deleted"))


def issue_ticket(access: TerminalAccess) -> str:
    """Returns: a secret that attaches once, within `TICKET_S`, as the principal."""
    secret = secrets.token_urlsafe(32)
    principal = access.principal
    now = timezone.now()
    with transaction.atomic():
        TerminalTicket.objects.filter(expires_at__lt=now).delete()
        TerminalTicket.objects.create(
            digest=fingerprint(secret),
            terminal=access.terminal,
            user=principal.user,
            token_id=principal.token_id or "",
            browser_key=principal.browser.key if principal.browser else "",
            expires_at=now + timedelta(seconds=TICKET_S),
        )
    return secret


def take_ticket(secret: str, terminal_id: str) -> Principal | None:
    """Use a ticket up. Returns: whose it was, None when it is not good for this terminal."""
    rows = TerminalTicket.objects.filter(terminal=terminal_id, expires_at__gt=timezone.now())
    ticket = rows.filter(digest__in=fingerprints(secret)).select_related("user").first()
    # Of two that come with it, one deletes the row.
    if ticket is None or not TerminalTicket.objects.filter(pk=ticket.pk).delete()[0]:
        return None
    return resume_principal(ticket.user, token_id=ticket.token_id, browser_key=ticket.browser_key)


def _free_title(project: Project, user: User) -> str:
    mine = Terminal.objects.filter(project=project, creator=user)
    taken = set(mine.values_list("title", flat=True))
    return next(title for number in count(1) if (title := f"Terminal {number}") not in taken)


def _refuse_more(access: ProjectAccess) -> None:
    # Locked, so that two at the same moment count each other.
    team = Team.objects.select_for_update().get(pk=access.team.team.pk)
    open_ = Terminal.objects.exclude(status=Terminal.Status.EXITED).filter(
        project__team=team, lease_until__gt=Now()
    )
    limit = project_limits(access.project).terminals
    mine = settings.TERMINALS_PER_PERSON if limit is None else limit
    mine = min(mine, settings.TERMINALS_PER_PERSON)
    most = most_terminals(team)
    if 0 in (mine, most):
        raise Forbidden(_("Terminals are turned off."))
    if open_.filter(creator=access.principal.user).count() >= mine:
        raise TooManyRequests(
            _("You have {count} open terminals, which is the maximum. Close one first.").format(
                count=mine
            ),
            limit=mine,
        )
    if open_.count() >= most:
        raise TooManyRequests(
            _("The team has reached the server's limit of open terminals. Close one first."),
            limit=most,
        )


def _refuse_by_rules(project: Project, folder: str) -> None:
    config = project_config(project, folder)
    if is_hidden("bash", agent_ruleset(project, find_agent(config, ""), config, folder)):
        raise Forbidden(
            _(
                "The permission rules of this project deny the shell, so terminals are not "
                "available."
            )
        )


def _check_sizes(plan: TerminalPlan) -> None:
    words = [plan.command, plan.cwd, *plan.args]
    if any("\0" in word for word in [*words, *plan.env.values()]):
        raise Invalid("A command, a folder or a variable contains a NUL character.")
    if len(plan.command) > 1000 or len(plan.cwd) > 1000 or _bytes(words) > MAX_ARGUMENTS_BYTES:
        raise Invalid(f"A command can have at most {MAX_ARGUMENTS_BYTES} bytes.", field="args")
    if _bytes([*plan.env, *plan.env.values()]) > MAX_ENVIRONMENT_BYTES:
        raise Invalid(
            f"Together, the variables have more than {MAX_ENVIRONMENT_BYTES} bytes.", field="env"
        )
    for name in plan.env:
        if not _NAME.fullmatch(name):
            raise Invalid(f"{name[:50]!r} is not a valid variable name.", field="env")


def _bytes(words: Sequence[str]) -> int:
    return sum(len(word.encode(errors="surrogatepass")) for word in words)


def _clean_title(title: str) -> str:
    return " ".join(title.split())[:MAX_TITLE_CHARS]
