"""What an erasure has done, as pages and commands say it."""

from __future__ import annotations

from django.db import connection
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from opencode_web.lib.errors import NotFound
from teams.access import access_operator
from teams.models import Erasure, User


def access_erasure(user: User, erasure_id: str) -> Erasure:
    """For who asked for it, and for operators. Raises: NotFound; PolicyUnmet."""
    row = Erasure.objects.filter(pk=erasure_id).first()
    if row is None:
        raise NotFound("Page", erasure_id)
    if row.requested_by_id != user.pk:
        access_operator(user)
    return row


def told(row: Erasure) -> list[str]:
    """Returns: sentences about what was done, and about what was not."""
    count = {name: value for name, value in row.report.items() if isinstance(value, int) and value}
    said = []
    if number := count.get("sessions"):
        said.append(
            ngettext("%(count)d session was removed.", "%(count)d sessions were removed.", number)
            % {"count": number}
        )
    if number := count.get("rows"):
        said.append(
            ngettext(
                "The person was replaced in %(count)d text.",
                "The person was replaced in %(count)d texts.",
                number,
            )
            % {"count": number}
        )
    if number := count.get("entries"):
        said.append(
            ngettext(
                "%(count)d audit entry was removed or lost its personal data.",
                "%(count)d audit entries were removed or lost their personal data.",
                number,
            )
            % {"count": number}
        )
    if number := count.get("folders_left"):
        said.append(
            ngettext(
                "%(count)d project folder was brought by the team and is still there. Delete it "
                "yourself.",
                "%(count)d project folders were brought by the team and are still there. Delete "
                "them yourself.",
                number,
            )
            % {"count": number}
        )
    if count.get("hosts"):
        said.append(_("Workers on other hosts remove their files as soon as they can."))
    if row.kind == Erasure.Kind.PERSON:
        said.append(
            _(
                "The person is now called %(name)s. Git commits, files of projects, the author "
                "set in worktrees and outputs kept in files were not changed."
            )
            % {"name": row.pseudonym}
        )
    said.append(_("Backups that were made before still have everything."))
    if connection.vendor == "postgresql":
        said.append(_("Run VACUUM FULL to overwrite the space on disk."))
    return said
