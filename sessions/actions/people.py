"""What the work of a person comes to when they are locked out of the server."""

from __future__ import annotations

from functools import partial

from django.db import transaction

from opencode_web.lib.json import JsonObject
from opencode_web.lib.reasons import Cause
from sessions.actions.control import stop_without_author
from sessions.actions.mcp_sign_ins import end_grants
from sessions.actions.schedules import stop_schedule
from sessions.events.reasons import ScheduleReason
from sessions.models import McpSignIn, Schedule, Session, State, Terminal
from sessions.terminals.link import send_end
from sessions.wake import signal_stop, wake
from teams.actions.accounts import deactivate_account
from teams.audit import AuditAction, record
from teams.models import User


@transaction.atomic
def deactivate_person(
    user: User, *, actor: User | None, reason: str, ip: str | None = None
) -> User:
    """Lock a person out of the server, pause their schedules, and end what runs for them.

    Everything has ended within 5 s: it is told at once, and where that is lost, each process looks
    every 2 s (`coordinator.AUTHORS_S`, `rights.CHECK_S`, `terminals.lease.RENEW_S`).

    Raises: as `deactivate_account`.
    """
    account = deactivate_account(user, actor=actor, reason=reason, ip=ip)
    rows = Schedule.objects.select_for_update(of=("self",)).filter(author=account, paused_at=None)
    for row in rows.select_related("project__team").order_by("pk"):
        stop_schedule(row, Cause(ScheduleReason.NO_ACCOUNT))
        data: JsonObject = {"name": row.name, "project": row.project_id, "cron": row.cron}
        team = row.project.team
        action = AuditAction.SCHEDULE_PAUSED
        record(action, actor=actor, team=team, target=row, data=data, ip=ip)
    end_grants(McpSignIn.objects.filter(user=account))
    # Not in this transaction: sessions of one tree are locked in an order that this does not know.
    transaction.on_commit(partial(_end_work, account.pk))
    return account


def _end_work(user_id: int) -> None:
    sessions = Session.objects.exclude(state=State.IDLE).select_related("project")
    working = {row.pk: row for row in sessions.filter(messages__author=user_id).distinct()}
    for session_id in stop_without_author(list(working)):
        signal_stop(session_id)
        wake(session_id, working[session_id].project)
    running = Terminal.objects.filter(creator=user_id).exclude(status=Terminal.Status.EXITED)
    for terminal_id in running.values_list("pk", flat=True):
        send_end(terminal_id)
