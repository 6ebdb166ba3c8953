from __future__ import annotations

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from providers import actions
from providers.access import access_provider
from providers.forms import ModelForm
from providers.views.page import provider_url, show_provider
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role


@require_POST
@team_view(need=Role.ADMIN)
def models_pick(request: TeamRequest, *, provider: str) -> HttpResponse:
    """Of the models the page showed, the checked ones are picked; the others stay as they were."""
    row = access_provider(request.access, provider)
    shown, checked = set(request.POST.getlist("shown")), request.POST.getlist("model")
    actions.pick_models(
        row,
        actor=request.user,
        models={key: {} for key in checked if key in shown},
        unpicked=shown.difference(checked),
        ip=client_ip(request),
    )
    return done(request, _("The models are saved."), to=provider_url(row))


@require_POST
@team_view(need=Role.ADMIN)
def model_add(request: TeamRequest, *, provider: str) -> HttpResponse:
    row = access_provider(request.access, provider)
    form = ModelForm(request.POST)
    ip = client_ip(request)
    added = attempt(
        form,
        lambda: actions.pick_models(
            row,
            actor=request.user,
            models={form.cleaned_data["id"]: form.to_override()},
            ip=ip,
        ),
    )
    if added is None:
        return show_provider(request, row, model_form=form, status=422)
    return done(
        request, _("%(model)s is added.") % {"model": form.cleaned_data["id"]}, to=provider_url(row)
    )
