from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from providers import actions
from providers.access import access_provider
from providers.credentials import pick_key
from providers.effective import NEED_A_KEY, list_rows
from providers.facts import ProviderKind
from providers.forms import AddressForm, KeyForm, ProviderForm
from providers.models import ProviderConfig
from providers.probe import Target, probe
from providers.views.page import show_provider
from teams.http import TeamRequest, attempt, client_ip, done, go, show, team_view
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
@team_view(need=Role.ADMIN)
def provider_new(request: TeamRequest) -> HttpResponse:
    form = ProviderForm(request.POST or None)
    ip = client_ip(request)
    row = attempt(
        form,
        lambda: actions.create_provider(
            request.team, actor=request.user, ip=ip, **form.to_arguments()
        ),
    )
    if row is None:
        context: dict[str, object] = {"form": form}
        status = 422 if request.method == "POST" else 200
        return show(request, "providers/new.html", "providers/_new.html", context, status=status)
    lacks_key = row.kind in NEED_A_KEY and not form.cleaned_data["key"]
    said = (
        f"{row.name} is added. A key is still missing." if lacks_key else f"{row.name} is set up."
    )
    return done(request, said, to=_url(row))


@require_GET
@team_view(need=Role.ADMIN)
def provider(request: TeamRequest, *, provider: str) -> HttpResponse:
    return show_provider(request, access_provider(request.access, provider))


@require_POST
@team_view(need=Role.ADMIN)
def provider_key(request: TeamRequest, *, provider: str) -> HttpResponse:
    row = access_provider(request.access, provider)
    form = KeyForm(request.POST)
    ip = client_ip(request)
    made = attempt(
        form,
        lambda: actions.set_key(row, actor=request.user, key=form.cleaned_data["key"], ip=ip),
    )
    if made is None:
        return show_provider(request, row, key_form=form, status=422)
    return done(request, "The key is stored.", to=_url(row))


@require_POST
@team_view(need=Role.ADMIN)
def provider_address(request: TeamRequest, *, provider: str) -> HttpResponse:
    row = access_provider(request.access, provider)
    form = AddressForm(request.POST)
    ip = client_ip(request)
    had_key = bool(row.last4 or pick_key(row))
    changed = attempt(
        form,
        lambda: actions.update_provider(row, actor=request.user, ip=ip, **form.cleaned_data),
    )
    if changed is None:
        return show_provider(request, row, address_form=form, status=422)
    lost = had_key and not hasattr(changed, "credential")
    hint = " The address has a new host, so its key was removed: set it again." if lost else ""
    return done(request, f"{changed.name} is saved.{hint}", to=_url(row))


@require_POST
@team_view(need=Role.ADMIN)
def provider_enabled(request: TeamRequest, *, provider: str) -> HttpResponse:
    row = access_provider(request.access, provider)
    actions.update_provider(
        row, actor=request.user, enabled=request.POST.get("enabled") == "1", ip=client_ip(request)
    )
    return go(request, to=_url(row))


@require_POST
@team_view(need=Role.ADMIN)
def provider_test(request: TeamRequest, *, provider: str) -> HttpResponse:
    row = access_provider(request.access, provider)
    model = request.POST.get("model", "").strip()
    if not model or row.kind == ProviderKind.SCRIPTED:
        return show_provider(request, row, problem="Name a model to test with.", status=422)
    target = Target(ProviderKind(row.kind), row.base_url, model, pick_key(row))
    error = probe(target)
    actions.record_test(row, actor=request.user, error=error, ip=client_ip(request))
    return show_provider(request, row, tested=model, error=error)


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def provider_delete(request: TeamRequest, *, provider: str) -> HttpResponse:
    row = access_provider(request.access, provider)
    if request.method == "POST":
        actions.delete_provider(row, actor=request.user, ip=client_ip(request))
        url = reverse("providers:models", kwargs={"team": request.team.slug})
        return done(request, f"{row.name} is deleted.", to=url)
    context = {
        "title": f"Delete {row.name}?",
        "text": "Its key is erased. Sessions that use one of its models need another one then.",
        "action": "Delete",
        "back": _url(row),
    }
    return render(request, "teams/confirm.html", context)


def _url(row: ProviderConfig) -> str:
    kwargs = {"team": row.team.slug, "provider": row.provider_id}
    return reverse("providers:provider", kwargs=kwargs)
