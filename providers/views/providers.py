from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from opencode_web.lib.errors import NotFound
from providers import actions, connections
from providers.access import access_provider
from providers.account_settings import labels_of
from providers.catalog import unusable_providers
from providers.effective import list_rows, row_missing, row_needs_key
from providers.forms import AddressForm, ProviderForm
from providers.models import ProviderConfig
from providers.views.page import (
    attempt_address,
    fresh_connection_form,
    provider_url,
    show_provider,
)
from teams.http import TeamRequest, attempt, changed_fields, client_ip, done, go, show, team_view
from teams.models import Role


@require_GET
@team_view()
def models(request: TeamRequest) -> HttpResponse:
    context: dict[str, object] = {
        "rows": list_rows(request.team),
        "may_change": request.access.can(Role.ADMIN),
    }
    return show(request, "providers/list.html", "providers/_providers.html", context)


@require_http_methods(["GET", "POST"])
@sensitive_post_parameters()
@team_view(need=Role.ADMIN)
def provider_new(request: TeamRequest) -> HttpResponse:
    form = ProviderForm(request.POST or None)
    ip = client_ip(request)
    row = attempt_address(
        request,
        form,
        lambda: actions.create_provider(
            request.team, actor=request.user, ip=ip, **form.to_arguments()
        ),
    )
    if row is None:
        context: dict[str, object] = {"form": form, "unusable": unusable_providers()}
        status = 422 if request.method == "POST" else 200
        return show(request, "providers/new.html", "providers/_new.html", context, status=status)
    return done(request, _said_of_new(row), to=provider_url(row))


def _said_of_new(row: ProviderConfig) -> str:
    missing = labels_of(row_missing(row, row.config))
    if missing:
        said = _("%(name)s is added. Still missing: %(missing)s.")
    elif row_needs_key(row) and row.credential is None:
        said = _("%(name)s is added. A key is still missing.")
    else:
        said = _("%(name)s is set up.")
    return said % {"name": row.name, "missing": missing}


@require_GET
@team_view(need=Role.ADMIN)
def provider(request: TeamRequest, *, provider: str) -> HttpResponse:
    return show_provider(request, access_provider(request.access, provider))


@require_POST
@team_view(need=Role.ADMIN)
def provider_address(request: TeamRequest, *, provider: str) -> HttpResponse:
    row = access_provider(request.access, provider)
    form = AddressForm(request.POST)
    ip = client_ip(request)
    had_key = row.credential is not None
    changed = attempt_address(
        request,
        form,
        lambda: actions.update_provider(row, actor=request.user, ip=ip, **changed_fields(form)),
    )
    if changed is None:
        return show_provider(request, row, address_form=form, status=422)
    lost = had_key and changed.credential is None
    said = _("%(name)s is saved.") % {"name": changed.name}
    if lost:
        said += " " + _("The address has a new host, so its key was removed: set it again.")
    return done(request, said, to=provider_url(row))


@require_POST
@sensitive_post_parameters()
@team_view(need=Role.ADMIN)
def provider_connection(request: TeamRequest, *, provider: str) -> HttpResponse:
    row = access_provider(request.access, provider)
    form = fresh_connection_form(row, request.POST)
    if form is None:
        raise NotFound("Connection", provider)
    ip, had_key = client_ip(request), row.credential is not None
    changed = attempt(
        form,
        lambda: connections.update_connection(
            row, actor=request.user, ip=ip, **form.to_arguments()
        ),
    )
    if changed is None:
        return show_provider(request, row, connection_form=form, status=422)
    said = _("%(name)s is saved.") % {"name": changed.name}
    if had_key and changed.credential is None:
        said += " " + _(
            "The account is at another place, so its keys were removed: set them again."
        )
    return done(request, said, to=provider_url(row))


@require_POST
@team_view(need=Role.ADMIN)
def provider_enabled(request: TeamRequest, *, provider: str) -> HttpResponse:
    row = access_provider(request.access, provider)
    actions.update_provider(
        row, actor=request.user, enabled=request.POST.get("enabled") == "1", ip=client_ip(request)
    )
    return go(request, to=provider_url(row))


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def provider_delete(request: TeamRequest, *, provider: str) -> HttpResponse:
    row = access_provider(request.access, provider)
    if request.method == "POST":
        actions.delete_provider(row, actor=request.user, ip=client_ip(request))
        url = reverse("providers:models", kwargs={"team": request.team.slug})
        return done(request, _("%(name)s is deleted.") % {"name": row.name}, to=url)
    context = {
        "title": _("Delete %(name)s?") % {"name": row.name},
        "text": _("Its key is erased. Sessions that use one of its models need another one then."),
        "action": _("Delete"),
        "back": provider_url(row),
    }
    return render(request, "teams/confirm.html", context)
