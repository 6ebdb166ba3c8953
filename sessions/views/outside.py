"""What the pages of outside systems have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _

from opencode_web.lib.errors import AppError
from opencode_web.lib.json import JsonObject
from sessions.integrations.accounts import confirm_link, unlink
from sessions.integrations.repeat import repeat_failed
from sessions.models import InboundDelivery, Integration, OutsideReply
from sessions.present.stored_text import stored_text
from teams.access import TeamAccess
from teams.http import TeamRequest, done

_SHOWN = 20
_Row = TypeVar("_Row", InboundDelivery, OutsideReply)


def take_inbound(
    request: HttpRequest, take: Callable[[Mapping[str, str], bytes], HttpResponse]
) -> HttpResponse:
    """What an outside system sends. It is believed by its signature alone."""
    try:
        return take({name.lower(): value for name, value in request.headers.items()}, request.body)
    except AppError as exc:
        refused: JsonObject = {"error": str(exc)}
        return JsonResponse(refused, status=exc.status)


def change_link(request: TeamRequest, access: TeamAccess, linked: int, *, to: str) -> HttpResponse:
    """Confirm that an account is one's own, or end that it is."""
    if request.POST.get("confirm") == "1":
        confirm_link(access, linked)
        return done(request, _("Account linked."), to=to)
    unlink(access, linked)
    return done(request, _("Account unlinked."), to=to)


def try_again(
    request: TeamRequest, access: TeamAccess, row: Integration, failed: str, *, to: str
) -> HttpResponse:
    """Try a delivery or a reply that was given up once more."""
    repeat_failed(access, row, failed)
    return done(request, _("It is tried again."), to=to)


def newest_told(rows: QuerySet[_Row]) -> list[tuple[_Row, str]]:
    """Returns: the newest ones, each with what is wrong with it."""
    return [(one, stored_text(one.cause, one.problem)) for one in rows.order_by("-pk")[:_SHOWN]]
