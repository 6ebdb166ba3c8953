"""Which private addresses outgoing connections may reach: rows of operators."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.addresses import is_never_open
from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from opencode_web.lib.outbound_policy import parse_place
from teams.access import require_operator
from teams.audit import AuditAction, record
from teams.models import AllowedAddress, User


@transaction.atomic
def allow_address(operator: User, text: str, *, ip: str | None = None) -> AllowedAddress:
    """Open a private place for everybody on this server. It counts at once, in all processes.

    Raises: Forbidden for others than operators; Invalid for what is no place, or
    one that is never connected to.
    """
    require_operator(operator)
    try:
        place = parse_place(text)
    except ValueError as exc:
        raise Invalid(
            _("Enter a host, host:port, IP address or network such as 10.0.5.0/24:443."),
            field="place",
        ) from exc
    if not isinstance(place.host, str) and is_never_open(place.host):
        raise Invalid(
            _("Link-local, metadata and multicast addresses cannot be allowed."), field="place"
        )
    row, is_new = AllowedAddress.objects.get_or_create(
        place=str(place), defaults={"created_by": operator}
    )
    if is_new:
        data: JsonObject = {"place": str(place)}
        record(AuditAction.ADDRESS_ALLOWED, actor=operator, team=None, target=row, data=data, ip=ip)
    return row


@transaction.atomic
def close_address(operator: User, place: str, *, ip: str | None = None) -> None:
    """Take a row away. Without it nothing changes. Raises: Forbidden for others than operators."""
    require_operator(operator)
    row = AllowedAddress.objects.filter(pk=place).first()
    if row is not None:
        data: JsonObject = {"place": place}
        record(AuditAction.ADDRESS_CLOSED, actor=operator, team=None, target=row, data=data, ip=ip)
        row.delete()
