"""Choose the models of an account, and keep what was learned of their bounds."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.db import transaction
from django.db.models.functions import Greatest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from opencode_web.lib.errors import Conflict, Invalid
from opencode_web.lib.json import JsonObject, JsonValue
from providers.actions.rows import lock_provider
from providers.bounds import Factors
from providers.config import parse_blocks
from providers.effective import used_names
from providers.llm.messages import ModelRef
from providers.models import LearnedBound, ProviderConfig
from providers.price_check import check_prices
from teams.audit import AuditAction, record
from teams.models import Team, User

MAX_PICKED = 2_000
_TOO_MANY = gettext_noop("Choose at most %(max_picked)s models.")


@transaction.atomic
def pick_models(
    row: ProviderConfig,
    *,
    actor: User | None,
    models: Mapping[str, JsonObject],
    unpicked: Collection[str] = (),
    ip: str | None = None,
) -> ProviderConfig:
    """Add to the models that the team may use: id -> overrides; and take `unpicked` away.

    Without overrides a model keeps those that it has. None picked means all current ones.

    Raises: Invalid when an override is not in the shape of opencode.json's models.
    """
    parse_blocks({"provider": {row.provider_id: {"models": dict(models)}}})
    row = lock_provider(row)
    picked = {key: value for key, value in row.picked.items() if key not in unpicked}
    picked.update({key: value or row.picked.get(key, {}) for key, value in models.items()})
    added: list[JsonValue] = [*sorted(picked.keys() - row.picked.keys())]
    removed: list[JsonValue] = [*sorted(row.picked.keys() - picked.keys())]
    changes: JsonObject = {"picked": added, "unpicked": removed}
    return _keep_picked(row, picked, changes, actor=actor, ip=ip)


@transaction.atomic
def replace_picked(
    row: ProviderConfig, *, actor: User, picked: JsonObject, ip: str | None = None
) -> ProviderConfig:
    """Set all that is picked of an account and said of its models. Raises: NotFound."""
    row = lock_provider(row)
    keys = sorted(row.picked | picked)
    said: list[JsonValue] = [key for key in keys if row.picked.get(key) != picked.get(key)]
    return _keep_picked(row, picked, {"models": said}, actor=actor, ip=ip)


@transaction.atomic
def describe_model(
    row: ProviderConfig,
    model_id: str,
    *,
    actor: User,
    override: JsonObject,
    ip: str | None = None,
) -> ProviderConfig:
    """Replace what is said of a model here, in the shape of opencode.json. It is switched on then.

    Raises: Invalid when the override is not in that shape, or too many models are on; NotFound.
    """
    parse_blocks({"provider": {row.provider_id: {"models": {model_id: override}}}})
    row = lock_provider(row)
    said: list[JsonValue] = [*sorted(override)]
    # What options hold is for the provider alone.
    changes: JsonObject = {"model": model_id, "overrides": said}
    return _keep_picked(row, {**_in_use(row), model_id: override}, changes, actor=actor, ip=ip)


@transaction.atomic
def switch_model(
    row: ProviderConfig, model_id: str, *, actor: User, on: bool, ip: str | None = None
) -> ProviderConfig:
    """Have one model used, or not. What is said of it here is forgotten when it goes.

    Raises: Conflict for the last one that is on; Invalid when too many are; NotFound.
    """
    row = lock_provider(row)
    picked = _in_use(row)
    if on:
        picked.setdefault(model_id, {})
    else:
        picked.pop(model_id, None)
    if not picked:
        raise Conflict(
            _("This is the only model of %(name)s that is on. Turn off the provider instead.")
            % {"name": row.name}
        )
    changes: JsonObject = {"model": model_id, "on": on}
    return _keep_picked(row, picked, changes, actor=actor, ip=ip)


def _in_use(row: ProviderConfig) -> JsonObject:
    """None picked means all current ones; to change one, all of them have to be named."""
    return dict(row.picked) or {key: {} for key in used_names(row)}


def _keep_picked(
    row: ProviderConfig,
    picked: JsonObject,
    changes: JsonObject,
    *,
    actor: User | None,
    ip: str | None,
) -> ProviderConfig:
    if len(picked) > MAX_PICKED:
        raise Invalid(_(_TOO_MANY) % {"max_picked": MAX_PICKED})
    check_prices(row, picked, actor)
    row.picked = picked
    row.save(update_fields=["picked"])
    forget_bounds(row)
    data: JsonObject = {"provider": row.provider_id, **changes}
    record(AuditAction.PROVIDER_UPDATED, actor=actor, team=row.team, target=row, data=data, ip=ip)
    return row


def forget_bounds(row: ProviderConfig) -> None:
    """What was learned holds for an address and for prices that may be others now."""
    LearnedBound.objects.filter(team=row.team_id, provider=row.provider_id).delete()


@transaction.atomic
def learn_bound(team: Team, ref: ModelRef, factors: Factors) -> None:
    """Have the next calls of a model expect what a provider has billed beyond a bound."""
    names = {"team": team, "provider": ref.provider_id, "model": ref.model_id}
    LearnedBound.objects.select_for_update().get_or_create(
        **names, defaults={"input": 1, "output": 1}
    )
    LearnedBound.objects.filter(**names).update(
        input=Greatest("input", factors.input), output=Greatest("output", factors.output)
    )
