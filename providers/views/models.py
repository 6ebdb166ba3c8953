from __future__ import annotations

import json

from django.forms import BaseForm
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.lib.errors import NotFound
from opencode_web.lib.json import JsonObject
from providers import actions
from providers.catalog import Model
from providers.effective import offered_models, used_models
from providers.model_forms import FactsForm, ModelForm, OptionsForm
from providers.model_texts import (
    abilities,
    media_labels,
    price_rows,
    release_day,
    status_label,
    variant_rows,
)
from providers.models import ProviderConfig
from providers.option_hints import unused_names
from providers.views.holders import HolderRequest, holder_view
from providers.views.page import account_url, show_provider
from teams.http import attempt, client_ip, done, show


@require_POST
@holder_view()
def models_pick(request: HolderRequest, *, provider: str) -> HttpResponse:
    """Of the models the page showed, the checked ones are picked; the others stay as they were."""
    row = request.holder.account(provider)
    shown, checked = set(request.POST.getlist("shown")), request.POST.getlist("model")
    actions.pick_models(
        row,
        actor=request.user,
        models={key: {} for key in checked if key in shown},
        unpicked=shown.difference(checked),
        ip=client_ip(request),
    )
    return done(request, _("Models saved."), to=account_url(request.holder, row))


@require_POST
@holder_view()
def model_add(request: HolderRequest, *, provider: str) -> HttpResponse:
    row = request.holder.account(provider)
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
    said = _("%(model)s added.") % {"model": form.cleaned_data["id"]}
    return done(request, said, to=account_url(request.holder, row))


@require_http_methods(["GET", "POST"])
@holder_view()
def model(request: HolderRequest, *, provider: str, model: str) -> HttpResponse:
    """One model of an account: what it is, what is said of it here, and whether it is used."""
    row = request.holder.account(provider)
    found = {**offered_models(row), **used_models(row)}.get(model)
    if found is None:
        raise NotFound("Model", f"{provider}/{model}")
    if request.method != "POST":
        return _show(request, row, found)
    act = request.POST.get("act", "")
    if act == "facts":
        facts = FactsForm(request.POST, model=found)
        return _describe(request, row, found, facts, facts=facts)
    if act == "options":
        options = OptionsForm(request.POST)
        return _describe(request, row, found, options, options=options)
    if act not in {"on", "off"}:
        raise NotFound("Action", act[:20])
    actions.switch_model(row, model, actor=request.user, on=act == "on", ip=client_ip(request))
    return done(request, _("Saved."), to=_url(request, found))


def _describe(
    request: HolderRequest,
    row: ProviderConfig,
    found: Model,
    form: FactsForm | OptionsForm,
    *,
    facts: FactsForm | None = None,
    options: OptionsForm | None = None,
) -> HttpResponse:
    before = row.picked.get(found.id)
    known: JsonObject = before if isinstance(before, dict) else {}

    def store() -> ProviderConfig:
        if isinstance(form, FactsForm):
            override = {**known, **form.to_override()}
        else:
            override = {**known, "options": form.cleaned_data["options"]}
        return actions.describe_model(
            row, found.id, actor=request.user, override=override, ip=client_ip(request)
        )

    if attempt(_as_form(form), store) is None:
        return _show(request, row, found, facts=facts, options=options, status=422)
    return done(request, _("%(name)s saved.") % {"name": found.name}, to=_url(request, found))


def _as_form(form: FactsForm | OptionsForm) -> BaseForm:
    return form


def _show(
    request: HolderRequest,
    row: ProviderConfig,
    found: Model,
    *,
    facts: FactsForm | None = None,
    options: OptionsForm | None = None,
    status: int = 200,
) -> HttpResponse:
    told = json.dumps(found.options, indent=2, ensure_ascii=False) if found.options else ""
    context: dict[str, object] = {
        "holder": request.holder,
        "row": row,
        "model": found,
        "ref": f"{row.provider_id}/{found.id}",
        "is_on": found.id in used_models(row),
        "is_changed": bool(row.picked.get(found.id)),
        "names_all": not row.picked,
        "reads": media_labels(found.capabilities.input),
        "writes": media_labels(found.capabilities.output),
        "abilities": abilities(found),
        "status": status_label(found),
        "released": release_day(found),
        "prices": price_rows(found),
        "variants": variant_rows(found),
        "unused": ", ".join(unused_names(found, found.options)),
        "facts_form": facts or FactsForm(model=found),
        "options_form": options or OptionsForm(initial={"options": told}),
    }
    return show(request, "providers/model.html", "providers/_model.html", context, status=status)


def _url(request: HolderRequest, found: Model) -> str:
    return request.holder.url("model", provider=found.provider_id, model=found.id)
