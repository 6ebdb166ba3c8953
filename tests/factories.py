from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from allauth.usersessions.models import UserSession
from django.contrib.auth.hashers import make_password
from django.test import Client
from django.utils import timezone

from teams.access import access_team
from teams.actions import members, teams
from teams.actions.invites import create_invite
from teams.actions.tokens import create_token
from teams.actions.usage import write_usage
from teams.models import (
    ApiToken,
    FailedAttempt,
    Invite,
    Membership,
    Role,
    Scope,
    Team,
    UsageEntry,
    User,
)

PASSWORD = "correct-horse-battery"
_PASSWORD_HASHES: dict[str, str] = {}


def make_user(
    email: str,
    *,
    name: str = "",
    password: str = PASSWORD,
    active: bool = True,
    operator: bool = False,
) -> User:
    hashed = _PASSWORD_HASHES.setdefault(password, make_password(password))
    return User.objects.create(
        email=email,
        name=name or email.partition("@")[0].title(),
        password=hashed,
        is_active=active,
        is_superuser=operator,
    )


def make_team(owner: User, *, name: str = "Acme", slug: str = "") -> Team:
    return teams.create_team(owner, name=name, slug=slug, as_operator=True)


def add_member(team: Team, user: User, role: Role = Role.MEMBER) -> Membership:
    return members.add_member(team, user=user, role=role, actor=None)


def make_token(
    user: User,
    team: Team,
    scopes: Scope = Scope.ADMIN,
    *,
    name: str = "test",
    expires_at: datetime | None = None,
) -> tuple[ApiToken, str]:
    return create_token(user, team=team, name=name, scope=scopes, expires_at=expires_at)


def make_invite(
    owner: User, team: Team, role: Role = Role.MEMBER, *, email: str = ""
) -> tuple[Invite, str]:
    return create_invite(access_team(owner, team.id), role=role, email=email)


def make_browser(user: User) -> UserSession:
    client = Client(headers={"user-agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0"})
    client.force_login(user)
    key = client.session.session_key
    return UserSession.objects.create(user=user, session_key=key, ip="203.0.113.9", user_agent="")


def make_failures(kind: str, address: str, failures: int) -> None:
    FailedAttempt.objects.create(
        kind=kind, address=address, failures=failures, failed_at=timezone.now()
    )


def make_usage(team: Team, user: User | None, **more: Any) -> UsageEntry:
    counted: dict[str, Any] = {
        "session": "ses_1",
        "project": "prj_1",
        "prompt": "msg_1",
        "provider": "demo",
        "model": "inline",
        "input": 100,
        "output": 20,
        "reasoning": 3,
        "cache_read": 40,
        "cache_write": 5,
        "time": timezone.now(),
    }
    number = UsageEntry.objects.count()
    counted.update(more, cost=Decimal(more.get("cost", 0)))
    entry = UsageEntry(id=f"ses_1.{number}", team=team, user=user, **counted)
    write_usage([entry])
    return entry
