"""The page of one account, which every form on it comes back to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django.forms import BaseForm
from django.http import HttpResponse

from providers.account_settings import labels_of
from providers.addresses import closed_place
from providers.catalog import Model
from providers.cloud_forms import ConnectionForm
from providers.condition import condition_of
from providers.connections import account_place, row_cloud
from providers.credentials import mask
from providers.effective import (
    offered_models,
    row_missing,
    row_needs_key,
    settings_place,
    used_names,
)
from providers.forms import AddressForm, KeyLimitsForm
from providers.kinds import ProviderKind
from providers.model_forms import ModelForm
from providers.model_texts import abilities, status_label
from providers.models import ProviderConfig
from providers.tally import account_hours
from providers.views.holders import Holder, HolderRequest
from providers.views.key_items import key_items
from teams.access import is_operator
from teams.actions.addresses import allow_address
from teams.http import attempt, client_ip, show
from teams.models import Team

SHOWN_MODELS = 60


T = TypeVar("T")


def attempt_address(request: HolderRequest, form: BaseForm, action: Callable[[], T]) -> T | None:
    """As `attempt`, for a form with an address. The one click of an operator allows it first.

    The form then knows the private place that keeps the address from being taken.
    """
    place = closed_place(form.cleaned_data.get("base_url", "")) if form.is_valid() else ""
    if place and request.POST.get("allow") == place:
        done = attempt(form, lambda: allow_address(request.user, place, ip=client_ip(request)))
        if done is None:
            return None
        place = ""
    if is_operator(request.user):
        form.closed_place = place  # type: ignore[attr-defined]  # for its template
    return attempt(form, action)


def account_url(holder: Holder, row: ProviderConfig) -> str:
    """Returns: the address of the page of an account."""
    return holder.url("provider", provider=row.provider_id)


def fresh_connection_form(row: ProviderConfig, data: object = None) -> ConnectionForm | None:
    """Returns: the form of a provider's cloud account; None for one with a key alone."""
    cloud = row_cloud(row)
    if cloud is not None and not row.is_of_instance:
        cloud = cloud.without_host()
    return ConnectionForm(data, cloud=cloud, shown=account_place(row)) if cloud else None


def find_models(models: dict[str, Model], query: str) -> list[Model]:
    """Returns: those with all words of the query in id, name, abilities or status, newest first."""
    words = query.lower().split()
    found = [model for model in models.values() if not words or _has(model, words)]
    # The catalog lacks a date for the very newest.
    return sorted(found, key=lambda model: model.release_date or "9999", reverse=True)


def _has(model: Model, words: list[str]) -> bool:
    name = f"{model.provider_id}/{model.id} {model.name}"
    text = " ".join([name, *abilities(model), status_label(model)]).lower()
    return all(word in text for word in words)


def show_provider(
    request: HolderRequest,
    row: ProviderConfig,
    *,
    address_form: AddressForm | None = None,
    connection_form: ConnectionForm | None = None,
    model_form: ModelForm | None = None,
    key_form: KeyLimitsForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render the page with the forms that have errors in the place of fresh ones."""
    holder = request.holder
    query = request.GET.get("q", "").strip()
    offered = offered_models(row)
    found = find_models(offered, query)
    found.sort(key=lambda model: model.id not in row.picked)
    credential = row.credential
    address = {"name": row.name, "base_url": row.base_url}
    names = used_names(row)
    context: dict[str, object] = {
        "holder": holder,
        "row": row,
        "is_scripted": row.kind == ProviderKind.SCRIPTED,
        "credential": credential,
        "needs_key": credential is None and row_needs_key(row),
        "key": mask(credential.last4) if credential else "",
        "address_form": address_form or AddressForm(initial=address),
        "connection_form": connection_form or fresh_connection_form(row),
        "missing": labels_of(row_missing(row, row.config)),
        "overruled": labels_of(settings_place(row)),
        "model_form": model_form or ModelForm(),
        "condition": condition_of(row, account_hours()),
        "keys": key_items(row, key_form),
        "query": query,
        "known": len(offered),
        "on": len(names),
        "models": found[:SHOWN_MODELS],
        "hidden_count": max(0, len(found) - SHOWN_MODELS),
    }
    if holder.is_instance:
        context["teams"] = Team.objects.order_by("name", "id")
        context["shared"] = set(row.shared_with.values_list("pk", flat=True))
    return show(
        request, "providers/provider.html", "providers/_provider.html", context, status=status
    )
