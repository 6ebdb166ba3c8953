"""What allauth tells by signals only, for the audit trail."""

from __future__ import annotations

from functools import partial
from typing import Any

from allauth.mfa import signals as factors
from allauth.socialaccount import signals as accounts
from django.db import transaction
from django.dispatch import receiver
from django.http import HttpRequest

from opencode_web.lib.bus import publish
from opencode_web.lib.json import JsonObject
from teams.access import ACCESS_CHANGED, user_group
from teams.audit import AuditAction, record
from teams.http import client_ip
from teams.models import User

# Django calls receivers with names of its own beside these.


@receiver(factors.authenticator_added)
def _added(request: HttpRequest, user: User, authenticator: Any, **_: Any) -> None:
    _record(AuditAction.MFA_ADDED, request, user, {"type": authenticator.type})


@receiver(factors.authenticator_removed)
def _removed(request: HttpRequest, user: User, authenticator: Any, **_: Any) -> None:
    _record(AuditAction.MFA_REMOVED, request, user, {"type": authenticator.type})


@receiver(factors.authenticator_reset)
def _reset(request: HttpRequest, user: User, authenticator: Any, **_: Any) -> None:
    _record(AuditAction.MFA_CODES_CREATED, request, user, {})


@receiver(accounts.social_account_added)
def _linked(request: HttpRequest, sociallogin: Any, **_: Any) -> None:
    user = sociallogin.user
    _record(AuditAction.IDENTITY_LINKED, request, user, {"provider": sociallogin.account.provider})
    # Other browsers may have been signed out by it.
    transaction.on_commit(partial(publish, user_group(user.pk), {"t": ACCESS_CHANGED}))


@receiver(accounts.social_account_removed)
def _unlinked(request: HttpRequest, socialaccount: Any, **_: Any) -> None:
    data: JsonObject = {"provider": socialaccount.provider}
    _record(AuditAction.IDENTITY_UNLINKED, request, socialaccount.user, data)


def _record(action: AuditAction, request: HttpRequest, user: User, data: JsonObject) -> None:
    record(action, actor=user, team=None, target=user, data=data, ip=client_ip(request))
