from __future__ import annotations

from functools import partial

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.bus import publish
from opencode_web.lib.errors import Conflict, Invalid
from teams.access import ACCESS_CHANGED, user_group
from teams.audit import AuditAction, record
from teams.models import ResetLink, Theme, User


@transaction.atomic
def create_user(
    email: str, *, name: str, password: str, is_operator: bool = False, ip: str | None = None
) -> User:
    """Make an account.

    Raises: Conflict when the address is taken in any case; Invalid when the password is too weak.
    """
    email = email.strip().lower()
    if User.objects.filter(email__iexact=email).exists():
        raise Conflict(_("There is already an account for %(email)s.") % {"email": email})
    user = User(email=email, name=name.strip(), is_superuser=is_operator, is_staff=is_operator)
    _set_valid_password(user, password)
    user.save()
    record(AuditAction.USER_CREATED, actor=user, team=None, target=user, ip=ip)
    return user


@transaction.atomic
def rename_user(user: User, *, name: str, ip: str | None = None) -> User:
    """Change the name others see."""
    user.name = name.strip()
    user.save(update_fields=["name"])
    record(AuditAction.USER_RENAMED, actor=user, team=None, target=user, ip=ip)
    return user


@transaction.atomic
def change_password(user: User, *, password: str, ip: str | None = None) -> User:
    """Set a new password. Browsers that are signed in elsewhere are signed out by it, and links for
    another new one end.

    Raises: Invalid when the password is too weak.
    """
    _set_valid_password(user, password)
    user.save(update_fields=["password"])
    ResetLink.objects.filter(user=user, used_at=None).delete()
    record(AuditAction.USER_PASSWORD_CHANGED, actor=user, team=None, target=user, ip=ip)
    transaction.on_commit(partial(publish, user_group(user.pk), {"t": ACCESS_CHANGED}))
    return user


def set_theme(user: User, *, theme: Theme) -> User:
    """Choose how pages look. A taste, so nothing is audited."""
    user.theme = theme
    user.save(update_fields=["theme"])
    return user


@transaction.atomic
def set_language(user: User, *, language: str) -> User:
    """Choose the language of pages; empty is the browser's. A taste, so nothing is audited."""
    locked = User.objects.select_for_update().get(pk=user.pk)
    user.preferences = {**locked.preferences, "language": language}
    user.save(update_fields=["preferences"])
    return user


@transaction.atomic
def set_keys_enabled(user: User, *, enabled: bool) -> User:
    """Switch single-key shortcuts on or off. A taste, so nothing is audited."""
    locked = User.objects.select_for_update().get(pk=user.pk)
    user.preferences = {**locked.preferences, "keys_enabled": enabled}
    user.save(update_fields=["preferences"])
    return user


def _set_valid_password(user: User, password: str) -> None:
    try:
        validate_password(password, user)
    except ValidationError as exc:
        raise Invalid(" ".join(exc.messages)) from exc
    user.set_password(password)
