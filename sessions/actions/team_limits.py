from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from django.db import transaction

from opencode_web.lib.json import JsonObject
from sessions.queue_position import load_line
from sessions.wake import wake_in_line
from teams.audit import AuditAction, record
from teams.models import Team, User

FIELDS = ("max_turns", "max_commands", "max_terminals", "max_disk_mb")
# What any of them can be.
MOST = 100_000_000


@transaction.atomic
def set_limits(
    team: Team, operator: User, *, limits: Mapping[str, int | None], ip: str | None = None
) -> Team:
    """Set how much of the server a team may use at once: `FIELDS`, None for the server's own limit.

    Sessions that there is room for now are woken. Without a change nothing is written.
    """
    row = Team.objects.select_for_update().get(pk=team.pk)
    before = {name: getattr(row, name) for name in FIELDS}
    if before == (after := {name: limits[name] for name in FIELDS}):
        return row
    for name, value in after.items():
        setattr(row, name, value)
    row.save(update_fields=FIELDS)
    data: JsonObject = {}
    for name in (name for name in FIELDS if before[name] != after[name]):
        data |= {f"before_{name}": before[name], f"after_{name}": after[name]}
    record(AuditAction.OPERATOR_SET_LIMITS, actor=operator, team=row, target=row, data=data, ip=ip)
    transaction.on_commit(partial(_wake_ready, row.pk))
    return row


def _wake_ready(team_id: str) -> None:
    wake_in_line([one.id for one in load_line().order.ready if one.team == team_id])
