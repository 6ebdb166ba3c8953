"""From a model's name to everything a call needs."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from django.utils.translation import gettext as _

from opencode_web.lib.addresses import RefusedAddress
from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.reasons import Cause
from providers.account_model import AccountModel
from providers.account_settings import labels_of
from providers.accounts import accounts_at
from providers.addresses import check_base_url
from providers.allowed_models import allow_lists, is_allowed
from providers.catalog import COMPATIBLE_NPM, Model, Provider
from providers.config import OptionsConfig, is_switched_off, parse_blocks
from providers.credentials import Picked, pick_credential
from providers.defaults import best_model
from providers.effective import (
    build_provider,
    connection_of,
    effective_providers,
    keyless_providers,
    needs_key,
    offered_models,
    options_for,
)
from providers.health import Part, faults_of
from providers.kinds import ProviderKind
from providers.llm.messages import ModelRef
from providers.llm.options import without_other_models
from providers.models import Credential, ProviderConfig
from providers.reasons import ProviderReason
from teams.models import Team, User

Config = Mapping[str, JsonValue]


def list_providers(
    team: Team, config: Config | None = None, *, user: User | None = None
) -> list[Provider]:
    """Returns: what the team can use, by name. See `effective_providers`."""
    return list(effective_providers(team, config, user=user).values())


def resolve_model(
    team: Team, ref: ModelRef, config: Config | None = None, *, user: User | None = None
) -> AccountModel:
    """Find a model, and the credential that it is called with when `user` prompts.

    Raises: NotFound with suggestions when there is no such model; Invalid when the model is
    switched off or not allowed, lacks a key or an address, or the variant is unknown.
    """
    config = team.config if config is None else config
    block = parse_blocks(config).get(ref.provider_id)
    accounts = accounts_at(team, user, ref.provider_id, is_configured=block is not None)
    provider = build_provider(ref.provider_id, accounts=accounts, block=block, config=config)
    model = provider.models.get(ref.model_id) if provider else None
    if provider is None or model is None:
        _refuse_switched_off(ref, accounts.team, config)
        raise _not_found(ref, effective_providers(team, config, user=user))
    lists = allow_lists(team, config)
    if not is_allowed(lists, model):
        raise Invalid(Cause(ProviderReason.NOT_ALLOWED, {"model": model.name}))
    row = provider.account
    picked = pick_credential(row)
    if not picked and needs_key(model.npm):
        raise Invalid(_no_credential(provider))
    if provider.missing:
        names = labels_of(provider.missing)
        raise Invalid(
            Cause(ProviderReason.NO_CONNECTION, {"provider": provider.name, "names": names})
        )
    options = options_for(row, block.options) if block else OptionsConfig()
    asked = {**provider.options, **model.options, **_variant(model, ref)}
    # What a budget sets apart is the price of this one model, and counts for its name.
    is_budgeted = team.has_budgets and not (row is not None and row.is_personal)
    is_only = bool(lists) or is_budgeted
    return AccountModel(
        ref=ref,
        npm=model.npm,
        api_model=model.api_id,
        base_url=picked.base_url or _address(provider, model),
        api_key=picked.key,
        name=model.name,
        headers={**options.headers, **model.headers},
        options=without_other_models(asked) if is_only else asked,
        is_only=is_only,
        limit=model.limit,
        cost=model.cost,
        capabilities=model.capabilities,
        connection={**connection_of(row, options), **model.connection, **picked.connection},
        secrets=picked.secrets,
        timeouts=options.timeouts(),
        credential_id=picked.credential_id,
        fresh_until=picked.expires_at,
        provider_name=provider.name,
        team_id=team.pk,
        user_id=user.pk if user else None,
        **_account_facts(row, picked),
    )


def _account_facts(row: ProviderConfig | None, picked: Picked) -> dict[str, Any]:  # its fields
    if row is None:
        return {}
    keys = row.keys
    return {
        "account_id": row.pk,
        "is_personal": row.is_personal,
        "is_of_instance": row.is_of_instance,
        "is_unproven": row.answered_at is None,
        "faults": (*faults_of(Part.ADDRESS, row), *picked.faults),
        "shares": len(keys) > 1 or any(key.has_limits for key in keys),
    }


def _no_credential(provider: Provider) -> Cause:
    row, reason = provider.account, ProviderReason.NO_KEY
    if row and row.credential and row.credential.fault == Credential.Fault.SIGNED_OUT:
        reason = ProviderReason.SIGNED_OUT
        if row.is_personal:
            reason = ProviderReason.SIGNED_OUT_OF_OWN
    return Cause(reason, {"provider": provider.name})


def parse_ref(text: str, *, variant: str | None = None) -> ModelRef:
    """Read `provider/model`; a model's own id may hold slashes. Raises: Invalid."""
    provider_id, slash, model_id = text.partition("/")
    if not (provider_id and slash and model_id):
        raise Invalid(f"Models are named provider/model, not {text!r}.")
    return ModelRef(provider_id, model_id, variant)


def default_model(
    team: Team,
    *,
    wanted: str | None = None,
    config: Config | None = None,
    user: User | None = None,
    providers: Mapping[str, Provider] | None = None,
) -> ModelRef:
    """Choose the model of a prompt that names none; `providers`: what `effective_providers` has
    said, where somebody has asked before.

    The first that the team can use of: `wanted`, the settings' `model`, the best of the real
    provider that answered first, the scripted demo, the best of one that has never answered. What
    is named is taken without a key too, so that its error says what is missing.

    Raises: Invalid when the team has no model at all, or none of them can be reached.
    """
    config = team.config if config is None else config
    if providers is None:
        providers = effective_providers(team, config, user=user)
    for name in (wanted, config.get("model")):
        if isinstance(name, str) and "/" in name:
            ref = parse_ref(name)
            if ref.provider_id in providers and ref.model_id in providers[ref.provider_id].models:
                return ref
    if not providers:
        raise Invalid(Cause(ProviderReason.NO_MODEL))
    keyless = keyless_providers(providers.values())
    usable = [one for one in providers.values() if one.id not in keyless]
    if not usable:
        lacking = [providers[key] for key in sorted(keyless)]
        names = ", ".join(one.name for one in lacking)
        if any(one.missing for one in lacking):
            raise Invalid(Cause(ProviderReason.NONE_REACHED, {"names": names}))
        raise Invalid(Cause(ProviderReason.KEYS_MISSING, {"names": names}))
    chosen = min(usable, key=_trust)
    return ModelRef(chosen.id, best_model(chosen).id)


def _trust(provider: Provider) -> tuple[int, float]:
    """Returns: a sort key. One more account never takes the place of one that works."""
    row = provider.account
    if provider.kind is ProviderKind.SCRIPTED:
        return 1, 0.0
    if provider.is_unproven:
        return (3 if row and row.test_fault else 2), 0.0
    # Without an account somebody has written it into the settings.
    return 0, row.answered_at.timestamp() if row and row.answered_at else 0.0


def switched_off(team: Team, ref: ModelRef, config: Config) -> str:
    """Returns: the name of the model or provider that admins have switched off, if it is that."""
    return _switched_off(ref, accounts_at(team, None, ref.provider_id).team, config)


def _switched_off(ref: ModelRef, row: ProviderConfig | None, config: Config) -> str:
    if row is None:
        return ""
    if row.enabled and not is_switched_off(config, row.provider_id):
        model = offered_models(row).get(ref.model_id)
        return model.name if model else ""
    return row.name


def _refuse_switched_off(ref: ModelRef, row: ProviderConfig | None, config: Config) -> None:
    """Raises: Invalid for what the team has, and its admins do not want used."""
    if off := _switched_off(ref, row, config):
        raise Invalid(Cause(ProviderReason.SWITCHED_OFF, {"model": off}))


def _not_found(ref: ModelRef, providers: dict[str, Provider]) -> NotFound:
    names = [f"{one.id}/{model_id}" for one in providers.values() for model_id in one.models]
    close: list[JsonValue] = list(get_close_matches(str(ref), names, n=3, cutoff=0.4))
    hint = f". Did you mean: {', '.join(map(str, close))}?" if close else ""
    return NotFound("Model", f"{ref}{hint}", suggestions=close)


def _address(provider: Provider, model: Model) -> str | None:
    if provider.kind is ProviderKind.SCRIPTED:
        return None
    if not model.base_url:
        if model.npm == COMPATIBLE_NPM:
            raise Invalid(Cause(ProviderReason.NO_ADDRESS, {"name": provider.name}))
        return None
    try:
        return check_base_url(model.base_url)
    except RefusedAddress as exc:
        values = {"name": provider.name, "why": str(exc)}
        raise Invalid(Cause(ProviderReason.BAD_ADDRESS, values)) from exc


def _variant(model: Model, ref: ModelRef) -> JsonObject:
    if not ref.variant:
        return {}
    if ref.variant not in model.variants:
        known = ", ".join(model.variants) or _("none")
        said = _("{model} has no variant {variant!r}. It has: {names}.")
        raise Invalid(said.format(model=ref, variant=ref.variant, names=known))
    return model.variants[ref.variant]
