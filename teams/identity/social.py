"""Who is linked to an account here by an identity provider, and who gets one."""

from __future__ import annotations

import logging
import re
from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.models import Authenticator
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from django.contrib import messages
from django.http import HttpRequest
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from requests import Session

from opencode_web.lib.text import printable_text
from teams.actions.managed_members import apply_roles, higher_role
from teams.audit import AuditAction, record
from teams.http import client_ip, has_open_invite
from teams.identity.openid import has_right_nonce
from teams.identity.providers import ISSUERS, claim_values, confirmed_emails, to_app
from teams.identity.transport import guarded_session
from teams.models import DirectoryAccount, IdentityProvider, ManagedMembership, Role, User

logger = logging.getLogger(__name__)

# Where anybody can have an account.
_FOR_EVERYBODY = {*ISSUERS, IdentityProvider.Kind.GITHUB}
# How allauth quotes the answer of a provider.
_QUOTE = re.compile(r""": b['"]""")
_ERROR_CODE = re.compile(r'"error"\s*:\s*"(\w{1,60})"')
_MOST_CHARS = 200


class SocialAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # allauth ships no types
    """allauth with our rows, our guarded connections and our rules of who gets in."""

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        rows = IdentityProvider.objects.filter(is_enabled=True)
        apps = [
            app for app in map(to_app, rows) if provider in (None, app.provider, app.provider_id)
        ]
        return [app for app in apps if client_id in (None, app.client_id)]

    def get_requests_session(self) -> Session:
        return guarded_session()

    def authenticate_by_email(self, sociallogin: SocialLogin) -> tuple[User, str] | None:
        """Find the account of a confirmed address in the provider's domains.

        Not one that more than a mailbox protects, or that governs others: its person signs in the
        usual way first and connects the provider then. One from a directory has no other way.
        """
        row = _row_of(sociallogin)
        for email in filter(row.covers, confirmed_emails(sociallogin)):
            user = User.objects.filter(email__iexact=email).first()
            if user is not None and _is_ordinary(user):
                return user, email
        return None

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Refuse what must not go on. Raises: ImmediateHttpResponse."""
        row = _row_of(sociallogin)
        if not has_right_nonce(sociallogin):
            raise _refused(
                request, _("The sign-in with %(name)s was not started in this browser."), row
            )
        if sociallogin.is_existing:
            return
        confirmed = confirmed_emails(sociallogin)
        if sociallogin.state.get("process") == "connect":
            if row.domains and row.kind in _FOR_EVERYBODY and not any(map(row.covers, confirmed)):
                # A private account there is nothing that an organization can lock.
                text = _(
                    "Connect an account at %(name)s with a confirmed e-mail address of your "
                    "organization."
                )
                raise _refused(request, text, row)
            return
        own = next(filter(row.covers, confirmed), next(iter(confirmed), None))
        if own is None:
            raise _refused(request, _("%(name)s did not confirm your e-mail address."), row)
        if User.objects.filter(email__iexact=own).exists():
            text = _(
                "There is already an account with this e-mail address. Sign in to it first, then "
                "connect %(name)s on the Security page of your account."
            )
            raise _refused(request, text, row)
        if not (row.allows_signup and row.covers(own)) and not has_open_invite(request):
            text = _("There is no account for you yet. Ask a team admin for an invitation link.")
            raise _refused(request, text, row)
        sociallogin.user.email = own
        sociallogin.email_addresses = [
            address for address in sociallogin.email_addresses if address.email.lower() == own
        ]

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """It is judged in `pre_social_login`, which says why not."""
        return True

    def populate_user(
        self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]
    ) -> User:
        user: User = super().populate_user(request, sociallogin, data)
        parts = (data.get("first_name"), data.get("last_name"))
        name = data.get("name") or " ".join(part for part in parts if part)
        user.name = " ".join(str(name).split())[:120]
        return user

    def save_user(
        self, request: HttpRequest, sociallogin: SocialLogin, form: object = None
    ) -> User:
        user: User = super().save_user(request, sociallogin, form)
        record(
            AuditAction.USER_CREATED,
            actor=user,
            team=None,
            target=user,
            data={"provider": sociallogin.account.provider},
            ip=client_ip(request),
        )
        return user

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: Any = None,
        exception: Exception | None = None,
        **_context: Any,
    ) -> None:
        """Go back with a sentence; the log has the reason. Raises: ImmediateHttpResponse."""
        slug = provider.slug if isinstance(provider, IdentityProvider) else provider.sub_id
        reason = _reason(exception) if exception else request.GET.get("error") or str(error)
        reason = " ".join(printable_text(reason).split())[:_MOST_CHARS]
        logger.warning("identity.failed provider=%s reason=%s", slug, reason)
        raise _refused(request, _("The sign-in with %(name)s failed. Try again."), provider)

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: SocialAccount) -> str:
        return reverse("mfa_index")


def follow_rules(user: User, login: SocialLogin, *, ip: str | None) -> None:
    """Bring the memberships of a person who just signed in to what the provider says now."""
    row = _row_of(login)
    managed = ManagedMembership.objects.filter(provider=row, membership__user=user)
    # Where a rule was taken away, so is what it gave.
    teams = managed.values_list("membership__team", flat=True)
    roles: dict[str, Role | None] = dict.fromkeys(teams)
    for rule in row.rules.all():
        roles.setdefault(rule.team_id, None)
        if rule.value in claim_values(login, rule.claim):
            roles[rule.team_id] = higher_role(roles[rule.team_id], Role(rule.role))
    apply_roles(user, provider=row, roles=roles, ip=ip)


def _row_of(login: SocialLogin) -> IdentityProvider:
    return IdentityProvider.objects.get(slug=login.account.provider, is_enabled=True)


def _is_ordinary(user: User) -> bool:
    governs = user.memberships.filter(role__in=(Role.OWNER, Role.ADMIN))
    if not user.has_usable_password() and DirectoryAccount.objects.filter(user=user).exists():
        # The directory has made the account, and by its groups said what it may do.
        governs = governs.filter(managedmembership=None)
    return not (
        user.is_superuser
        or user.is_staff
        or user.service_of_id is not None
        or governs.exists()
        or Authenticator.objects.filter(user=user).exists()
        or SocialAccount.objects.filter(user=user).exists()
    )


def _reason(exc: Exception) -> str:
    """Leave out the answer but for its error code: there can be tokens in it."""
    text, *answer = _QUOTE.split(str(exc), maxsplit=1)
    code = _ERROR_CODE.search(answer[0]) if answer else None
    return f"{text}: {code[1]}" if code else text


def _refused(request: HttpRequest, text: str, provider: Any) -> ImmediateHttpResponse:
    messages.error(request, text % {"name": provider.name})
    target = "mfa_index" if request.user.is_authenticated else "account_login"
    return ImmediateHttpResponse(redirect(target))
