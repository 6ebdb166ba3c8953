"""What workers write about a terminal from its start to its end."""

from __future__ import annotations

from datetime import timedelta
from enum import Enum

from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_noop

from opencode_web.lib.reasons import Told, english, stored
from sessions.authors import may_work
from sessions.events.live import publish_terminal
from sessions.models import Terminal
from sessions.terminals.lease import LEASE_S, until
from sessions.terminals.link import say_exited, send_end
from teams.models import ApiToken

Status = Terminal.Status
# People look why one has ended soon, or never.
_KEPT = timedelta(days=1)
LOST = gettext_noop("The worker that ran it is gone.")
FOLDER_GONE = gettext_noop("The worktree that it was in is gone.")
NEVER_BEGUN = gettext_noop("No worker of the project's host has started it. Is one running?")


class Verdict(Enum):
    """Whether a terminal may go on."""

    GO_ON = "go on"
    REMOVED = "removed"
    RIGHTS_LOST = "rights lost"


def begin_terminal(terminal_id: str) -> Terminal | None:
    """Take it over. Returns: None for the second who tries, and when it is gone."""
    rows = Terminal.objects.filter(pk=terminal_id, status=Status.STARTING, lease_until__gt=Now())
    if not rows.update(status=Status.RUNNING, lease_until=until(LEASE_S)):
        return None
    return _find(terminal_id)


def mark_running(terminal_id: str, *, pid: int) -> bool:
    """Say that the program runs. Returns: False when somebody has removed it meanwhile."""
    rows = Terminal.objects.filter(pk=terminal_id, status=Status.RUNNING)
    if not rows.update(pid=pid, lease_until=until(LEASE_S)):
        return False
    terminal = _find(terminal_id)
    if terminal is not None:
        publish_terminal(terminal, "created")
    return terminal is not None


def load_started(terminal_id: str) -> Terminal | None:
    """Returns: the row as soon as the program runs, or could not be started; None until then."""
    terminal = _find(terminal_id)
    if terminal is None or terminal.pid or terminal.status == Status.EXITED:
        return terminal
    return None


def forget_unstarted(terminal_id: str) -> None:
    """Remove a row whose program never ran: whoever asked is told. A worker gives up by that."""
    Terminal.objects.filter(pk=terminal_id, pid=0).delete()


def renew_terminal(terminal_id: str) -> Verdict:
    """Keep the lease, and look whether its person may still have it."""
    rows = Terminal.objects.filter(pk=terminal_id, status=Status.RUNNING)
    if not rows.update(lease_until=until(LEASE_S)):
        return Verdict.REMOVED
    terminal = _find(terminal_id)
    if terminal is None:
        return Verdict.REMOVED
    allowed = may_work(terminal.creator, terminal.project) and _has_token(terminal)
    return Verdict.GO_ON if allowed else Verdict.RIGHTS_LOST


def end_terminal(terminal_id: str, *, code: int | None, told: Told = "") -> None:
    """Write how it ended, once, and tell everybody who watches."""
    _end(Terminal.objects.filter(pk=terminal_id), terminal_id, code=code, told=told)


def end_terminals_in(folder: str) -> list[int]:
    """End those in a worktree that goes. Returns: the processes on its host that have to go yet."""
    rows = Terminal.objects.filter(folder=folder).exclude(status=Status.EXITED)
    found = list(rows.values_list("pk", "pid"))
    for terminal_id, _ in found:
        _end(rows.filter(pk=terminal_id), terminal_id, code=None, told=FOLDER_GONE)
        send_end(terminal_id)
    return [pid for _, pid in found if pid]


def settle_terminals() -> None:
    """End the rows whose worker has not been heard of, and remove those that nobody asks about."""
    lost = Terminal.objects.exclude(status=Status.EXITED).filter(lease_until__lte=Now())
    for terminal_id, status in lost.values_list("pk", "status"):
        told = NEVER_BEGUN if status == Status.STARTING else LOST
        _end(lost.filter(pk=terminal_id), terminal_id, code=None, told=told)
    Terminal.objects.filter(ended_at__lt=timezone.now() - _KEPT).delete()


def _end(rows: QuerySet[Terminal], terminal_id: str, *, code: int | None, told: Told) -> None:
    changed = rows.exclude(status=Status.EXITED).update(
        status=Status.EXITED,
        exit_code=code,
        detail=english(told),
        cause=stored(told),
        ended_at=timezone.now(),
    )
    terminal = _find(terminal_id) if changed else None
    if terminal is not None and terminal.pid:
        publish_terminal(terminal, "exited")
    say_exited(terminal_id, code)


def _find(terminal_id: str) -> Terminal | None:
    rows = Terminal.objects.select_related("project__team", "creator")
    return rows.filter(pk=terminal_id).first()


def _has_token(terminal: Terminal) -> bool:
    token_id = terminal.token_id
    return not token_id or ApiToken.objects.live().filter(pk=token_id).exists()
