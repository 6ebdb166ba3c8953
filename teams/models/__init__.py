"""Rows of the app: fields, constraints, querysets, cheap properties. No I/O, no permissions."""

from __future__ import annotations

from teams.models.address import AllowedAddress
from teams.models.audit import AuditEntry
from teams.models.budget import Budget, BudgetNotice, Reservation
from teams.models.failed_attempt import FailedAttempt
from teams.models.former_key import FormerKey
from teams.models.idempotency import IdempotencyKey
from teams.models.invite import Invite
from teams.models.membership import Membership, Role
from teams.models.team import OwnAccounts, Team
from teams.models.token import ApiToken, Scope
from teams.models.usage import Basis, MonthlySpend, UsageEntry
from teams.models.user import NOTICES, SOUNDS, Density, TextSize, Theme, User

__all__ = [
    "NOTICES",
    "SOUNDS",
    "AllowedAddress",
    "ApiToken",
    "AuditEntry",
    "Basis",
    "Budget",
    "BudgetNotice",
    "Density",
    "FailedAttempt",
    "FormerKey",
    "IdempotencyKey",
    "Invite",
    "Membership",
    "MonthlySpend",
    "OwnAccounts",
    "Reservation",
    "Role",
    "Scope",
    "Team",
    "TextSize",
    "Theme",
    "UsageEntry",
    "User",
]
