"""Requests that were denied, for the audit log."""

from __future__ import annotations

from django.core.cache import cache
from django.http import HttpRequest

from opencode_web.lib.errors import AppError, Forbidden
from opencode_web.lib.json import JsonObject
from opencode_web.lib.origin import current_origin
from opencode_web.lib.text import clean_text
from teams.access import RoleMissing, TeamAccess
from teams.audit import AuditAction, record
from teams.auth import Principal
from teams.models import User

# The same request of the same person is written down once in that time.
REPEATED_AFTER_S = 60


def note_denial(request: HttpRequest, error: AppError) -> None:
    """Write down who was refused what. Must be called outside of the transaction that was undone.

    Only of people and tokens that are known; of others the server log has the requests.
    """
    user = _user_of(request)
    if not isinstance(error, Forbidden) or user is None:
        return
    route = request.resolver_match.route if request.resolver_match else ""
    method = request.method or ""
    origin = current_origin()
    once = f"denied.{user.pk}.{origin.token_id if origin else ''}.{method}.{route}"
    if not cache.add(once.replace(" ", ""), True, REPEATED_AFTER_S):
        return
    data: JsonObject = {"method": method, "route": f"/{route}", "path": _path_of(request)}
    team = None
    if isinstance(error, RoleMissing):
        team, data["role"] = error.team, str(error.need)
    elif isinstance(access := getattr(request, "access", None), TeamAccess):
        team = access.team
    elif isinstance(principal := getattr(request, "principal", None), Principal):
        team = principal.team
    record(AuditAction.ACCESS_DENIED, actor=user, team=team, data=data)


def _path_of(request: HttpRequest) -> str:
    # The secret of an invitation or of another link is part of its address.
    given = request.resolver_match.kwargs if request.resolver_match else {}
    token = str(given.get("token", ""))
    path = request.path.replace(token, "***") if token else request.path
    # PostgreSQL refuses some characters, and what is refused there leaves no trace.
    return clean_text(path)[:500]


def _user_of(request: HttpRequest) -> User | None:
    principal = getattr(request, "principal", None)
    if isinstance(principal, Principal):
        return principal.user
    return request.user if isinstance(request.user, User) else None
