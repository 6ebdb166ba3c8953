"""Rows of the app: fields, constraints, querysets, cheap properties. No I/O, no permissions."""

from __future__ import annotations

from teams.models.audit import AuditEntry
from teams.models.budget import Budget, BudgetNotice, Reservation
from teams.models.idempotency import IdempotencyKey
from teams.models.invite import Invite
from teams.models.membership import Membership, Role
from teams.models.team import Team
from teams.models.token import ApiToken, Scope
from teams.models.usage import UsageEntry
from teams.models.user import NOTICES, SOUNDS, Theme, User

__all__ = [
    "NOTICES",
    "SOUNDS",
    "ApiToken",
    "AuditEntry",
    "Budget",
    "BudgetNotice",
    "IdempotencyKey",
    "Invite",
    "Membership",
    "Reservation",
    "Role",
    "Scope",
    "Team",
    "Theme",
    "UsageEntry",
    "User",
]
