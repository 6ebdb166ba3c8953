"""The pages of identity providers, the sign-in policy of the server, and password reset links."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.public_url import absolute_url
from opencode_web.ops.access import operator_view
from opencode_web.ops.identity_form import ProviderForm, RuleForm, to_provider
from teams.actions.identity import (
    add_rule,
    delete_provider,
    remove_rule,
    save_provider,
    set_instance_policy,
)
from teams.actions.resets import create_reset
from teams.forms import PolicyForm
from teams.http import UserRequest, attempt, client_ip, done, show
from teams.identity.providers import has_saml, return_address
from teams.models import IdentityProvider, User
from teams.policy import instance_policy

# It has a page of its own.
_SCIM = IdentityProvider.Kind.SCIM


class InstancePolicyForm(PolicyForm):
    """What the whole server asks of a sign-in."""

    exempts_operators = forms.BooleanField(
        label=gettext_lazy("Let operators sign in with their password"),
        required=False,
        help_text=gettext_lazy("For the day on which the identity provider does not answer."),
    )


class ResetForm(forms.Form):
    """Whose password to reset."""

    email = forms.EmailField(label=gettext_lazy("E-mail"))


@require_GET
@never_cache
@operator_view
def identity(request: UserRequest) -> HttpResponse:
    """Providers, policy and reset links."""
    return _show(request)


@require_POST
@operator_view
def policy(request: UserRequest) -> HttpResponse:
    """Set what the whole server asks of a sign-in."""
    form = InstancePolicyForm(request.POST)

    def act() -> bool:
        data = form.cleaned_data
        set_instance_policy(
            request.user,
            mfa=data["requires_mfa"],
            sso=data["requires_sso"],
            exempts_operators=data["exempts_operators"],
            ip=client_ip(request),
        )
        return True

    if not attempt(form, act):
        return _show(request, status=422, policy_form=form)
    return done(request, _("Saved."), to=reverse("ops:identity"))


@require_POST
@never_cache
@operator_view
def reset_link(request: UserRequest) -> HttpResponse:
    """Make a link with which a person sets a new password, and show it once."""
    form = ResetForm(request.POST)
    secret = attempt(form, lambda: _create_reset(request, form.cleaned_data["email"]))
    if secret is None:
        return _show(request, status=422, reset_form=form)
    return _show(request, reset_link=link_of(request, secret))


def link_of(request: UserRequest, secret: str) -> str:
    """Returns: the address of a reset link."""
    return absolute_url(request, reverse("reset", args=[secret]))


@require_http_methods(["GET", "POST"])
@never_cache
@operator_view
def provider_new(request: UserRequest, kind: str) -> HttpResponse:
    """Set a provider up."""
    if kind not in IdentityProvider.Kind.values or kind == _SCIM:
        raise NotFound("Page")
    return _edit(request, IdentityProvider(kind=kind))


@require_http_methods(["GET", "POST"])
@never_cache
@operator_view
def provider(request: UserRequest, slug: str) -> HttpResponse:
    """Change a provider."""
    return _edit(request, _find(slug))


@require_POST
@operator_view
def provider_delete(request: UserRequest, slug: str) -> HttpResponse:
    """Remove a provider."""
    row = _find(slug)
    delete_provider(request.user, row, ip=client_ip(request))
    said = _("%(name)s deleted.") % {"name": row.name}
    return done(request, said, to=reverse("ops:identity"))


@require_POST
@operator_view
def rule_add(request: UserRequest, slug: str) -> HttpResponse:
    """Give who signs in with a claim a role in a team."""
    row = _find(slug)
    form = RuleForm(request.POST)
    added = attempt(form, lambda: add_rule(request.user, form.to_rule(row), ip=client_ip(request)))
    if added is None:
        return _show_provider(request, row, ProviderForm(row), status=422, rule_form=form)
    return done(request, _("Saved."), to=reverse("ops:provider", args=[slug]))


@require_POST
@operator_view
def rule_remove(request: UserRequest, slug: str, rule: int) -> HttpResponse:
    """Take a rule away."""
    found = _find(slug).rules.select_related("team", "provider").filter(pk=rule).first()
    if found is None:
        raise NotFound("Rule")
    remove_rule(request.user, found, ip=client_ip(request))
    return done(request, _("Rule removed."), to=reverse("ops:provider", args=[slug]))


def _edit(request: UserRequest, row: IdentityProvider) -> HttpResponse:
    form = ProviderForm(row, request.POST if request.method == "POST" else None)
    saved = attempt(
        form,
        lambda: save_provider(
            request.user,
            to_provider(row, form.cleaned_data),
            secret=form.cleaned_data.get("secret", ""),
            ip=client_ip(request),
        ),
    )
    if saved is None:
        return _show_provider(request, row, form, status=422 if form.is_bound else 200)
    return done(request, _("Saved."), to=reverse("ops:provider", args=[saved.slug]))


def _create_reset(request: UserRequest, email: str) -> str:
    user = User.objects.filter(email__iexact=email).first()
    if user is None:
        raise Invalid(_("There is no account for %(email)s.") % {"email": email})
    return create_reset(user, actor=request.user, ip=client_ip(request))


def _find(slug: str) -> IdentityProvider:
    row = IdentityProvider.objects.exclude(kind=_SCIM).filter(slug=slug).first()
    if row is None:
        raise NotFound("Page")
    return row


def _show(request: UserRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    context: dict[str, object] = {
        "providers": IdentityProvider.objects.exclude(kind=_SCIM).order_by("name"),
        "kinds": [kind for kind in IdentityProvider.Kind.choices if kind[0] != _SCIM],
        "policy_form": InstancePolicyForm(initial=vars(instance_policy())),
        "reset_form": ResetForm(),
        "reset_link": "",
        **more,
    }
    return show(request, "ops/identity.html", "ops/_identity.html", context, status=status)


def _show_provider(
    request: UserRequest,
    row: IdentityProvider,
    form: ProviderForm,
    *,
    status: int = 200,
    rule_form: RuleForm | None = None,
) -> HttpResponse:
    stored = IdentityProvider.objects.filter(pk=row.pk).first()
    context: dict[str, object] = {
        "provider": stored or row,
        "form": form,
        "saml_missing": row.kind == IdentityProvider.Kind.SAML and not has_saml(),
        "addresses": return_address(request, stored or row) if stored else [],
        "rules": row.rules.select_related("team").order_by("claim", "value") if stored else [],
        "rule_form": rule_form or RuleForm(),
    }
    return show(request, "ops/provider.html", "ops/_provider.html", context, status=status)
