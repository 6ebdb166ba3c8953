"""The keys of one provider that take turns: add one, name and limit it, take it away."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.lib.errors import NotFound
from providers import actions
from providers.access import access_provider
from providers.forms import KeyLimitsForm, NewKeyForm
from providers.models import ProviderConfig
from providers.views.key_items import key_items, prefix_of
from providers.views.page import provider_url, show_provider
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role


@require_POST
@sensitive_post_parameters()
@team_view(need=Role.ADMIN)
def key_add(request: TeamRequest, *, provider: str) -> HttpResponse:
    row = access_provider(request.access, provider)
    form = NewKeyForm(request.POST, prefix="new")
    added = attempt(
        form,
        lambda: actions.add_key(
            row,
            actor=request.user,
            key=form.cleaned_data["key"],
            label=form.cleaned_data["label"],
            base_url=request.POST.get("base_url"),
            ip=client_ip(request),
        ),
    )
    if added is None:
        return show_provider(request, row, new_key_form=form, status=422)
    return done(request, _("The key is stored. It takes turns with the others."), to=_url(row))


@require_POST
@team_view(need=Role.ADMIN)
def key_change(request: TeamRequest, *, provider: str, key: int) -> HttpResponse:
    row = access_provider(request.access, provider)
    form = KeyLimitsForm(request.POST, prefix=prefix_of(key))
    changed = attempt(
        form,
        lambda: actions.change_key(
            row, key, actor=request.user, ip=client_ip(request), **form.cleaned_data
        ),
    )
    if changed is None:
        return show_provider(request, row, key_form=form, status=422)
    return done(request, _("The key is saved."), to=_url(row))


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def key_remove(request: TeamRequest, *, provider: str, key: int) -> HttpResponse:
    row = access_provider(request.access, provider)
    item = next((one for one in key_items(row) if one.id == key), None)
    if item is None:
        raise NotFound("Key", str(key))
    if request.method == "POST":
        actions.remove_one_key(row, key, actor=request.user, ip=client_ip(request))
        return done(request, _("The key is removed."), to=_url(row))
    context = {
        "title": _("Remove %(name)s of %(provider)s?") % {"name": item.name, "provider": row.name},
        "text": _("It is erased and cannot be read again. The other keys are used instead."),
        "action": _("Remove"),
        "back": _url(row),
    }
    return render(request, "teams/confirm.html", context)


def _url(row: ProviderConfig) -> str:
    return f"{provider_url(row)}#provider-keys"
