"""Rows of the app: fields, constraints, querysets, cheap properties. No I/O, no permissions."""

from __future__ import annotations

from teams.models.address import AllowedAddress
from teams.models.announcement import Announcement
from teams.models.audit import SERVER_CHAIN, ActorKind, AuditEntry, AuditHead, SignedHead
from teams.models.budget import Budget, BudgetNotice, BudgetRequest, Reservation
from teams.models.directory import DirectoryAccount, DirectoryGroup, DirectoryToken
from teams.models.erasure import Erasure
from teams.models.export import TeamExport
from teams.models.failed_attempt import FailedAttempt
from teams.models.former_key import FormerKey
from teams.models.group import TeamGroup
from teams.models.hold import LegalHold
from teams.models.idempotency import IdempotencyKey
from teams.models.identity import (
    DOMAIN_CLAIM,
    IdentityProvider,
    IdentityRule,
    ManagedMembership,
    ResetLink,
    SignInPolicy,
    TeamCreation,
)
from teams.models.invite import Invite
from teams.models.membership import Membership, Role
from teams.models.period import Period
from teams.models.retention import RetentionLimit, RetentionPolicy
from teams.models.team import OwnAccounts, Team
from teams.models.token import ApiToken, Scope
from teams.models.usage import Basis, Spend, UsageEntry
from teams.models.user import (
    NOTICES,
    SOUNDS,
    Density,
    SignIn,
    TextSize,
    Theme,
    User,
    handle_of,
)

__all__ = [
    "DOMAIN_CLAIM",
    "NOTICES",
    "SERVER_CHAIN",
    "SOUNDS",
    "ActorKind",
    "AllowedAddress",
    "Announcement",
    "ApiToken",
    "AuditEntry",
    "AuditHead",
    "Basis",
    "Budget",
    "BudgetNotice",
    "BudgetRequest",
    "Density",
    "DirectoryAccount",
    "DirectoryGroup",
    "DirectoryToken",
    "Erasure",
    "FailedAttempt",
    "FormerKey",
    "IdempotencyKey",
    "IdentityProvider",
    "IdentityRule",
    "Invite",
    "LegalHold",
    "ManagedMembership",
    "Membership",
    "OwnAccounts",
    "Period",
    "Reservation",
    "ResetLink",
    "RetentionLimit",
    "RetentionPolicy",
    "Role",
    "Scope",
    "SignIn",
    "SignInPolicy",
    "SignedHead",
    "Spend",
    "Team",
    "TeamCreation",
    "TeamExport",
    "TeamGroup",
    "TextSize",
    "Theme",
    "UsageEntry",
    "User",
    "handle_of",
]
