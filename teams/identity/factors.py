"""Second factors as allauth has them, with secrets encrypted and codes that count once."""

from __future__ import annotations

from typing import Any

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.base.forms import AuthenticateForm, BaseAuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext_lazy

from opencode_web.lib.crypto import decrypt, encrypt
from opencode_web.lib.errors import TooManyRequests
from opencode_web.lib.json import JsonObject
from teams.actions.attempts import Kind, count_attempt, forgive_attempt
from teams.audit import AuditAction, record
from teams.models import User
from teams.policy import asks_for_mfa

_LAST_STEP = "last_step"


class FactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth ships no types
    """Whoever reads the database has no codes by that."""

    def encrypt(self, text: str) -> str:
        return encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return decrypt(encrypted_text)

    def _get_site_name(self) -> str:
        # What phones show beside the code; allauth's own is the address of the server.
        return "OpenCode Web"

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        """Whether it is not the last one of somebody who has to have one."""
        factors = Authenticator.objects.filter(user=authenticator.user).exclude(
            type=Authenticator.Type.RECOVERY_CODES
        )
        others = factors.exclude(pk=authenticator.pk)
        return others.exists() or not asks_for_mfa(authenticator.user)


class _CountedForm(BaseAuthenticateForm):  # type: ignore[misc]  # allauth ships no types
    """allauth counts in each process: with several, a code can be guessed longer, or used twice."""

    user: User

    def clean_code(self) -> str:
        """Raises: ValidationError."""
        # Whoever gets here has the password, so the account may have to wait everywhere.
        counted: dict[str, Any] = {"address": None, "account": self.user.email}
        try:
            count_attempt(Kind.MFA, **counted)
        except TooManyRequests as exc:
            raise ValidationError(exc.message) from exc
        try:
            with transaction.atomic():
                # Of two requests with one code the second one waits here, and finds it used.
                list(Authenticator.objects.select_for_update().filter(user=self.user))
                code: str = super().clean_code()
                if self.authenticator.type == Authenticator.Type.TOTP:
                    use_once(self.authenticator, code)
        except ValidationError:
            _record_failure(self.user)
            raise
        forgive_attempt(Kind.MFA, **counted)
        return code


def _record_failure(user: User) -> None:
    """Whoever fails here knows the password, or sits at a browser that is signed in."""
    data: JsonObject = {"key": "second", "account": user.email}
    record(AuditAction.USER_SIGN_IN_FAILED, actor=None, team=None, target=user, data=data)


class SignInCodeForm(_CountedForm, AuthenticateForm):  # type: ignore[misc]  # as above
    """The second step of a sign-in."""


class ReauthenticateCodeForm(_CountedForm, ReauthenticateForm):  # type: ignore[misc]  # as above
    """Asked again before something is changed."""


class _KeyForm(forms.Form):
    """What a browser sends is read by a library that says of bad input what Python says."""

    def full_clean(self) -> None:
        """Fill in the errors."""
        try:
            super().full_clean()
        except (KeyError, TypeError, ValueError, AttributeError):
            self.cleaned_data = {}
            self.add_error("credential", FactorAdapter.error_messages["incorrect_code"])


class AddKeyForm(_KeyForm, AddWebAuthnForm):  # type: ignore[misc]  # as above
    """A new key."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=100, required=False)


class SignInKeyForm(_KeyForm, AuthenticateWebAuthnForm):  # type: ignore[misc]  # as above
    """A key as the second step."""

    user: User

    def full_clean(self) -> None:
        """Fill in the errors, and keep in the audit log that there are some."""
        super().full_clean()
        if self.is_bound and self.errors:
            _record_failure(self.user)


class PasskeyForm(_KeyForm, LoginWebAuthnForm):  # type: ignore[misc]  # as above
    """A passkey as the whole sign-in."""


class ReauthenticateKeyForm(_KeyForm, ReauthenticateWebAuthnForm):  # type: ignore[misc]  # as above
    """Asked again before something is changed."""


def use_once(authenticator: Authenticator, code: str) -> None:
    """Keep that a code of an app was used. Raises: ValidationError for one that was before."""
    secret = decrypt(authenticator.data["secret"])
    digits = "".join(code.split())
    steps = yield_hotp_counters_from_time()
    step = next(
        (each for each in steps if format_hotp_value(hotp_value(secret, each)) == digits), 0
    )
    if step <= authenticator.data.get(_LAST_STEP, 0):
        raise ValidationError(FactorAdapter.error_messages["incorrect_code"])
    authenticator.data[_LAST_STEP] = step
    authenticator.save(update_fields=["data"])
