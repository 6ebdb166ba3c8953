"""The page of the directory that speaks SCIM: its tokens, its groups, and what these give."""

from __future__ import annotations

from django import forms
from django.db.models import Count
from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.lib.errors import NotFound
from opencode_web.lib.public_url import absolute_url
from opencode_web.ops.access import operator_view
from opencode_web.ops.identity_form import RuleForm
from teams.actions.directory import (
    add_directory_rule,
    create_directory_token,
    directory_provider,
    remove_directory_rule,
    revoke_directory_token,
)
from teams.http import UserRequest, attempt, client_ip, done, show
from teams.models import DirectoryAccount, DirectoryGroup, DirectoryToken, Role

_SHOWN_GROUPS = 200


class TokenForm(forms.Form):
    """A new token of the directory."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=80,
        help_text=gettext_lazy("For example the name of the directory."),
    )


class GroupRuleForm(RuleForm):
    """Which role the members of a group get."""

    def __init__(self, data: object = None) -> None:
        super().__init__(data)  # type: ignore[arg-type]  # as the base class
        del self.fields["claim"]
        self.fields["value"].label = _("Group")


@require_http_methods(["GET", "POST"])
@never_cache
@operator_view
def directory(request: UserRequest) -> HttpResponse:
    """Show the page, and make a token, whose secret it shows once."""
    form = TokenForm(request.POST or None)
    ip = client_ip(request)
    made = attempt(
        form,
        lambda: create_directory_token(request.user, name=form.cleaned_data["name"], ip=ip),
    )
    if made is not None:
        return _show(request, secret=made[1])
    return _show(request, token_form=form, status=422 if request.method == "POST" else 200)


@require_POST
@operator_view
def token_revoke(request: UserRequest, credential: int) -> HttpResponse:
    """End a token."""
    row = DirectoryToken.objects.filter(pk=credential).first()
    if row is None:
        raise NotFound("Token")
    revoke_directory_token(request.user, row, ip=client_ip(request))
    return done(
        request, _("Token %(name)s revoked.") % {"name": row.name}, to=reverse("ops:directory")
    )


@require_POST
@operator_view
def rule_add(request: UserRequest) -> HttpResponse:
    """Give the members of a group a role in a team."""
    form = GroupRuleForm(request.POST)
    added = attempt(
        form,
        lambda: add_directory_rule(
            request.user,
            group=form.cleaned_data["value"],
            team=form.cleaned_data["team"],
            role=Role(form.cleaned_data["role"]),
            ip=client_ip(request),
        ),
    )
    if added is None:
        return _show(request, rule_form=form, status=422)
    return done(request, _("Saved."), to=reverse("ops:directory"))


@require_POST
@operator_view
def rule_remove(request: UserRequest, rule: int) -> HttpResponse:
    """Take a rule away, with the roles that it gave."""
    rules = directory_provider().rules.select_related("team", "provider")
    row = rules.filter(pk=rule).first()
    if row is None:
        raise NotFound("Rule")
    remove_directory_rule(request.user, row, ip=client_ip(request))
    return done(request, _("Rule removed."), to=reverse("ops:directory"))


def _show(request: UserRequest, *, status: int = 200, **more: object) -> HttpResponse:
    path = reverse("scim:users").removesuffix("/Users")
    groups = DirectoryGroup.objects.annotate(count=Count("members")).order_by("name")
    context: dict[str, object] = {
        "address": absolute_url(request, path),
        "accounts": DirectoryAccount.objects.filter(is_deleted=False).count(),
        "tokens": DirectoryToken.objects.filter(revoked_at=None).order_by("-created_at"),
        "groups": groups[:_SHOWN_GROUPS],
        "rules": directory_provider().rules.select_related("team").order_by("value", "team__name"),
        "token_form": TokenForm(),
        "rule_form": GroupRuleForm(),
        "secret": "",
        **more,
    }
    return show(request, "ops/directory.html", "ops/_directory.html", context, status=status)
