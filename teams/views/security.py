"""Second factors and connected identity providers of a person. What they do is allauth's."""

from __future__ import annotations

from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.login import record_authentication
from allauth.mfa.base.views import IndexView
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.views import ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView
from allauth.mfa.webauthn.views import AddWebAuthnView, RemoveWebAuthnView
from allauth.socialaccount.internal.flows.connect import disconnect, validate_disconnect
from allauth.socialaccount.models import SocialAccount
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.urls import reverse, reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from opencode_web.lib.errors import Conflict, NotFound
from teams.http import AFTER_SECURITY, UserRequest, done, user_view
from teams.identity.factors import FactorAdapter, use_once
from teams.models import IdentityProvider
from teams.policy import asks_for_mfa

# allauth ships no types, so its classes are `Any` here.


@method_decorator(never_cache, name="dispatch")
class SecurityView(IndexView):  # type: ignore[misc]
    """Everything that protects the account, and the way back to what asked for more."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        user = self.request.user
        linked = {row.provider: row for row in SocialAccount.objects.filter(user=user)}
        providers = IdentityProvider.objects.filter(is_enabled=True).order_by("name")
        return {
            **super().get_context_data(**kwargs),
            "providers": [(row, linked.get(row.slug)) for row in providers],
            "asks_for_mfa": asks_for_mfa(user),
            "after": self.request.session.get(AFTER_SECURITY, ""),
        }


class SetUpTotpView(ActivateTOTPView):  # type: ignore[misc]
    """The code that was just read off also counts for this sign-in."""

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        factors = Authenticator.objects.filter(user=self.request.user)
        use_once(factors.get(type=Authenticator.Type.TOTP), form.cleaned_data["code"])
        record_authentication(self.request, self.request.user, "mfa", type="totp")
        return response


class AddKeyView(AddWebAuthnView):  # type: ignore[misc]
    """The key that was just touched also counts for this sign-in."""

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        record_authentication(self.request, self.request.user, "mfa", type="webauthn")
        return response


class RemoveKeyView(RemoveWebAuthnView):  # type: ignore[misc]
    """Not the last factor of somebody who has to have one."""

    success_url = reverse_lazy("mfa_index")

    def form_valid(self, form: Any) -> HttpResponse:
        adapter = FactorAdapter()
        key: Authenticator = self.get_object()
        if not adapter.can_delete_authenticator(key):
            raise Conflict(str(adapter.error_messages["cannot_delete_authenticator"]))
        response: HttpResponse = super().form_valid(form)
        return response


@method_decorator(never_cache, name="dispatch")
class RecoveryCodesView(ViewRecoveryCodesView):  # type: ignore[misc]
    """The codes, and the way back to what asked for a second factor."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return {**context, "after": self.request.session.pop(AFTER_SECURITY, "")}


@require_POST
@user_view
def provider_disconnect(request: UserRequest, *, slug: str) -> HttpResponse:
    """Take a provider off the account."""
    response: HttpResponse = _disconnect(request, slug)
    return response


@reauthentication_required(app="allauth.mfa")  # type: ignore[untyped-decorator]
def _disconnect(request: HttpRequest, slug: str) -> HttpResponse:
    row = SocialAccount.objects.filter(user=request.user, provider=slug).first()
    if row is None:
        raise NotFound("Page")
    try:
        validate_disconnect(request, row)
    except ValidationError as exc:
        raise Conflict(" ".join(exc.messages)) from exc
    disconnect(request, row)
    return done(request, _("Disconnected."), to=reverse("mfa_index"))
