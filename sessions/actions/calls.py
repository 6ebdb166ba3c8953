"""What people do to one call of a turn that runs."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, NotFound
from sessions.access import SessionAccess
from sessions.models import Part
from sessions.wake import signal_call_stop
from teams.access import require_role
from teams.audit import AuditAction, record
from teams.models import Role

STOPPABLE = frozenset({"bash"})


@transaction.atomic
def stop_command(access: SessionAccess, part_id: str) -> Part:
    """End a shell command with all that it has started; the turn goes on.

    The call settles itself with the output that it had. Nothing is stored: a signal that is lost
    is sent again with the next click.

    Raises: NotFound; Conflict when it does not run; Forbidden below member.
    """
    require_role(access.team, Role.MEMBER)
    part = Part.objects.filter(session=access.session, pk=part_id, type="tool").first()
    if part is None or part.data.get("tool") not in STOPPABLE:
        raise NotFound("Command", part_id)
    if part.data["state"]["status"] != "running":
        raise Conflict(_("The command is no longer running."))
    user = access.principal.user
    record(
        AuditAction.COMMAND_STOPPED,
        actor=user,
        team=access.team.team,
        target=access.session,
        data={"part": part.pk},
    )
    signal_call_stop(part.pk, user.display_name)
    return part
