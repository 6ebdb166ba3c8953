"""Rows of the app: fields, constraints, querysets, cheap properties. No I/O, no permissions."""

from __future__ import annotations

from teams.models.address import AllowedAddress
from teams.models.audit import AuditEntry
from teams.models.budget import Budget, BudgetNotice, Reservation
from teams.models.failed_attempt import FailedAttempt
from teams.models.idempotency import IdempotencyKey
from teams.models.identity import (
    DOMAIN_CLAIM,
    IdentityProvider,
    IdentityRule,
    ManagedMembership,
    ResetLink,
    SignInPolicy,
)
from teams.models.invite import Invite
from teams.models.membership import Membership, Role
from teams.models.team import OwnAccounts, Team
from teams.models.token import ApiToken, Scope
from teams.models.usage import Basis, MonthlySpend, UsageEntry
from teams.models.user import NOTICES, SOUNDS, Density, SignIn, TextSize, Theme, User

__all__ = [
    "DOMAIN_CLAIM",
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
    "IdempotencyKey",
    "IdentityProvider",
    "IdentityRule",
    "Invite",
    "ManagedMembership",
    "Membership",
    "MonthlySpend",
    "OwnAccounts",
    "Reservation",
    "ResetLink",
    "Role",
    "Scope",
    "SignIn",
    "SignInPolicy",
    "Team",
    "TextSize",
    "Theme",
    "UsageEntry",
    "User",
]
