"""Sign-ins of people, as allauth asks about them."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.bus import publish
from opencode_web.lib.errors import TooManyRequests
from opencode_web.lib.json import JsonObject
from opencode_web.lib.languages import language_of
from opencode_web.lib.origin import identify
from opencode_web.lib.text import clean_text
from teams.access import ACCESS_CHANGED, user_group
from teams.actions.attempts import Kind, count_attempt, forgive_attempt
from teams.audit import AuditAction, record
from teams.http import has_open_invite
from teams.identity.social import follow_rules
from teams.models import User

_ACCOUNT_CHARS = 254


class InviteOnlyAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    """Accounts are made only by who holds an invitation, whatever way of sign-in is added later."""

    error_messages = {  # allauth's own shape
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": _("The e-mail address or the password is not correct."),
    }

    def login(self, request: HttpRequest, user: User) -> None:
        """Every way to sign in ends here."""
        with transaction.atomic():
            super().login(request, user)
            identify(user.pk)
            record(AuditAction.USER_SIGNED_IN, actor=user, team=None, target=user)

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        *args: Any,
        **more: Any,
    ) -> None:
        """Word it as the page that shows it: the sign-in is in the language of the browser."""
        is_last = message_template == "account/messages/logged_out.txt"
        with translation.override(language_of(request) if is_last else translation.get_language()):
            super().add_message(request, level, message_template, *args, **more)

    def logout(self, request: HttpRequest) -> None:
        """End the browser's session, and have its open connections notice at once."""
        user = request.user
        with transaction.atomic():
            super().logout(request)
            if isinstance(user, User):
                own: JsonObject = {"key": "own"}
                record(AuditAction.USER_SIGNED_OUT, actor=user, team=None, target=user, data=own)
        if isinstance(user, User):
            publish(user_group(user.pk), {"t": ACCESS_CHANGED})

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """allauth's own limit counts in each process, and locks an account for everybody."""
        try:
            count_attempt(Kind.PASSWORD, **self._counted(request, credentials))
        except TooManyRequests as exc:
            request.retry_after_s = exc.data["retryAfter"]  # type: ignore[attr-defined]  # for the view
            raise ValidationError(exc.message) from exc

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        user: User | None = super().authenticate(request, **credentials)
        if user is not None:
            forgive_attempt(Kind.PASSWORD, **self._counted(request, credentials))
        return user

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        """Keep what was tried. `pre_authenticate` limits how often that can be."""
        account = clean_text(str(credentials.get("email", "")))[:_ACCOUNT_CHARS]
        known = User.objects.filter(email__iexact=account).first()
        record(
            AuditAction.USER_SIGN_IN_FAILED,
            actor=None,
            team=None,
            target=known,
            data={"account": account},
        )

    def _counted(self, request: HttpRequest, credentials: dict[str, Any]) -> dict[str, Any]:
        return {"address": self.get_client_ip(request), "account": credentials.get("email", "")}

    def get_reauthentication_methods(self, user: User | AnonymousUser) -> list[dict[str, Any]]:
        """Leave out the password where there is a second factor that the browser has not shown.

        Else a browser from before the factor, with the password alone, could add one of its own.
        """
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        sign_in = user.sign_in if isinstance(user, User) else None
        others = [method for method in methods if method["id"] != "reauthenticate"]
        has_shown = sign_in is not None and sign_in.mfa
        return methods if has_shown or not others else others

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return has_open_invite(request)

    def post_login(self, request: HttpRequest, user: User, **hook: Any) -> HttpResponse:
        """After every step of a sign-in: see what the identity provider says about the person."""
        login = (hook.get("signal_kwargs") or {}).get("sociallogin")
        if login is not None:
            follow_rules(user, login, ip=self.get_client_ip(request))
        response: HttpResponse = super().post_login(request, user, **hook)
        return response
