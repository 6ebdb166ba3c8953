from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from opencode_web.lib.errors import NotFound
from providers import actions, connections
from providers.account_rows import load_accounts, load_own_uses, models_of
from providers.forms import AddressForm
from providers.model_texts import list_models
from providers.views.holders import HolderRequest, holder_view
from providers.views.page import (
    account_url,
    attempt_address,
    find_models,
    fresh_connection_form,
    show_provider,
)
from teams.actions.teams import set_own_accounts
from teams.http import attempt, changed_fields, client_ip, done, go, show
from teams.models import OwnAccounts, Role, Team

SHOWN_MODELS = 100


@require_GET
@holder_view(need=Role.VIEWER)
def models(request: HolderRequest) -> HttpResponse:
    """List the accounts, and the models that they give."""
    holder = request.holder
    query = request.GET.get("q", "").strip()
    accounts = load_accounts(holder.team, holder.rows())
    listed = models_of(holder.team, holder.rows())
    found = find_models({f"{one.provider_id}/{one.id}": one for one in listed}, query)
    context: dict[str, object] = {
        "holder": holder,
        "accounts": accounts,
        "uses": load_own_uses(holder.user, accounts) if holder.is_own else [],
        "policies": OwnAccounts.choices,
        # What others share has its pages elsewhere.
        "own_ids": {one.config.provider_id for one in accounts if not one.is_shared},
        "query": query,
        "known": len(listed),
        "models": list_models(found[:SHOWN_MODELS]),
        "hidden_count": max(0, len(found) - SHOWN_MODELS),
    }
    return show(request, "providers/list.html", "providers/_providers.html", context)


@require_POST
@holder_view()
def own_accounts(request: HolderRequest) -> HttpResponse:
    """Say where members of a team may use accounts of their own."""
    access, policy = request.holder.access, request.POST.get("policy", "")
    if access is None or policy not in OwnAccounts.values:
        raise NotFound("Policy", policy[:20])
    set_own_accounts(access, policy=OwnAccounts(policy), ip=client_ip(request))
    return done(request, _("Saved."), to=request.holder.url("models"))


@require_GET
@holder_view()
def provider(request: HolderRequest, *, provider: str) -> HttpResponse:
    return show_provider(request, request.holder.account(provider))


@require_POST
@holder_view()
def provider_share(request: HolderRequest, *, provider: str) -> HttpResponse:
    """Say which teams may use an account of the instance."""
    row = request.holder.account(provider)
    chosen = Team.objects.filter(pk__in=request.POST.getlist("team"))
    teams = None if request.POST.get("for") == "all" else [*chosen]
    actions.share_provider(row, actor=request.user, teams=teams, ip=client_ip(request))
    said = _("%(name)s saved.") % {"name": row.shown_name}
    return done(request, said, to=account_url(request.holder, row))


@require_POST
@holder_view()
def provider_address(request: HolderRequest, *, provider: str) -> HttpResponse:
    row = request.holder.account(provider)
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
    said = _("%(name)s saved.") % {"name": changed.name}
    if lost:
        said += " " + _("The address has a new host, so its key was removed. Enter it again.")
    return done(request, said, to=account_url(request.holder, row))


@require_POST
@sensitive_post_parameters()
@holder_view()
def provider_connection(request: HolderRequest, *, provider: str) -> HttpResponse:
    row = request.holder.account(provider)
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
    said = _("%(name)s saved.") % {"name": changed.name}
    if had_key and changed.credential is None:
        said += " " + _(
            "The account's address has changed, so its keys were removed. Enter them again."
        )
    return done(request, said, to=account_url(request.holder, row))


@require_POST
@holder_view()
def provider_enabled(request: HolderRequest, *, provider: str) -> HttpResponse:
    row = request.holder.account(provider)
    actions.update_provider(
        row, actor=request.user, enabled=request.POST.get("enabled") == "1", ip=client_ip(request)
    )
    return go(request, to=account_url(request.holder, row))


@require_http_methods(["GET", "POST"])
@holder_view()
def provider_delete(request: HolderRequest, *, provider: str) -> HttpResponse:
    row = request.holder.account(provider)
    if request.method == "POST":
        actions.delete_provider(row, actor=request.user, ip=client_ip(request))
        url = request.holder.url("models")
        return done(request, _("%(name)s deleted.") % {"name": row.shown_name}, to=url)
    context = {
        "title": _("Delete %(name)s?") % {"name": row.shown_name},
        "text": _("Its key is deleted. Sessions that use one of its models need another one."),
        "action": _("Delete"),
        "back": account_url(request.holder, row),
    }
    return render(request, "teams/confirm.html", context)
