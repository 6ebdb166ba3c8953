"""From a model's name to everything a call needs."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from opencode_web.lib.addresses import RefusedAddress
from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.json import JsonObject, JsonValue
from providers.addresses import check_base_url
from providers.catalog import Model, Provider
from providers.config import is_switched_off, parse_blocks
from providers.credentials import pick_key
from providers.effective import (
    NEED_A_KEY,
    build_provider,
    effective_providers,
    keyless_providers,
    offered_models,
)
from providers.facts import ProviderKind
from providers.messages import ModelRef, ResolvedModel
from providers.models import ProviderConfig
from teams.models import Team

# Model names to prefer when a team has not chosen, best first. Source: OpenCode's own order.
PREFERRED = ("gpt-5", "claude-sonnet-4", "gemini-3-pro")

NO_KEY = gettext_noop(
    "There is no credential for {provider}. Set its key under Team settings → Models."
)

Config = Mapping[str, JsonValue]

_ROW = CompiledQuery(
    lambda team_id, provider_id: (
        ProviderConfig.objects.filter(team=team_id, provider_id=provider_id)
        .select_related("credential")
        .order_by()
    ),
    str,
    str,
)


def list_providers(team: Team, config: Config | None = None) -> list[Provider]:
    """Returns: what the team can use, by name. See `effective_providers`."""
    return list(effective_providers(team, config).values())


def resolve_model(team: Team, ref: ModelRef, config: Config | None = None) -> ResolvedModel:
    """Find a model and its credential.

    Raises: NotFound with suggestions when the team has no such model; Invalid when the model is
    switched off, lacks a key or an address, or the variant is unknown.
    """
    config = team.config if config is None else config
    block = parse_blocks(config).get(ref.provider_id)
    row = _ROW.first(team.pk, ref.provider_id)
    provider = build_provider(ref.provider_id, row=row, block=block, config=config)
    model = provider.models.get(ref.model_id) if provider else None
    if provider is None or model is None:
        _refuse_switched_off(ref, row, config)
        raise _not_found(ref, effective_providers(team, config))
    key = pick_key(row)
    if not key and provider.kind in NEED_A_KEY:
        raise Invalid(NO_KEY.format(provider=provider.name))
    return ResolvedModel(
        ref=ref,
        kind=provider.kind,
        api_model=model.api_id,
        base_url=_address(provider),
        api_key=key,
        name=model.name,
        headers={**(block.options.headers if block else {}), **model.headers},
        options={**provider.options, **model.options, **_variant(model, ref)},
        limit=model.limit,
        cost=model.cost,
        capabilities=model.capabilities,
        idle_timeout_s=_idle_timeout_s(block.options.chunkTimeout if block else None),
    )


def parse_ref(text: str, *, variant: str | None = None) -> ModelRef:
    """Read `provider/model`; a model's own id may hold slashes. Raises: Invalid."""
    provider_id, slash, model_id = text.partition("/")
    if not (provider_id and slash and model_id):
        raise Invalid(f"A model is named provider/model, not {text!r}.")
    return ModelRef(provider_id, model_id, variant)


def default_model(
    team: Team, *, wanted: str | None = None, config: Config | None = None
) -> ModelRef:
    """Choose the model of a prompt that names none.

    The first that the team can use of: `wanted`, the settings' `model`, the best of a real
    provider, the scripted demo. What is named is taken without a key too, so that its error says
    what is missing.

    Raises: Invalid when the team has no model at all, or a key is missing for all of them.
    """
    config = team.config if config is None else config
    providers = effective_providers(team, config)
    for name in (wanted, config.get("model")):
        if isinstance(name, str) and "/" in name:
            ref = parse_ref(name)
            if ref.provider_id in providers and ref.model_id in providers[ref.provider_id].models:
                return ref
    if not providers:
        raise Invalid(_("No model is set up. Add a provider under Team settings → Models."))
    keyless = keyless_providers(team, providers.values())
    usable = [one for one in providers.values() if one.id not in keyless]
    if not usable:
        names = ", ".join(providers[key].name for key in sorted(keyless))
        raise Invalid(
            _("A key is still missing for {names}. Set it under Team settings → Models.").format(
                names=names
            )
        )
    ordered = sorted(usable, key=lambda one: one.kind is ProviderKind.SCRIPTED)
    return ModelRef(ordered[0].id, best_model(ordered[0]).id)


def best_model(provider: Provider) -> Model:
    """Returns: the model to start with; the provider must have one."""
    if provider.kind is ProviderKind.SCRIPTED and "tour" in provider.models:
        return provider.models["tour"]
    # By id from the end, then with dated names before "latest", then the preferred ones first.
    models = sorted(provider.models.values(), key=lambda model: model.id, reverse=True)
    return min(models, key=lambda model: (_preference(model.id), "latest" in model.id))


def _preference(model_id: str) -> int:
    return next((i for i, name in enumerate(PREFERRED) if name in model_id), len(PREFERRED))


def switched_off(team: Team, ref: ModelRef, config: Config) -> str:
    """Returns: the name of the model or provider that admins have switched off, if it is that."""
    return _switched_off(ref, _ROW.first(team.pk, ref.provider_id), config)


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
        raise Invalid(
            _(
                "{model} is switched off for this team. Choose another model, or have an "
                "admin switch it on under Team settings → Models."
            ).format(model=off)
        )


def _not_found(ref: ModelRef, providers: dict[str, Provider]) -> NotFound:
    names = [f"{one.id}/{model_id}" for one in providers.values() for model_id in one.models]
    close: list[JsonValue] = list(get_close_matches(str(ref), names, n=3, cutoff=0.4))
    hint = f". Did you mean: {', '.join(map(str, close))}?" if close else ""
    return NotFound("Model", f"{ref}{hint}", suggestions=close)


def _address(provider: Provider) -> str | None:
    if provider.kind is ProviderKind.SCRIPTED:
        return None
    if not provider.base_url:
        if provider.kind is ProviderKind.COMPATIBLE:
            raise Invalid(
                _("{name} has no base URL. Set it under Team settings → Models.").format(
                    name=provider.name
                )
            )
        return None
    try:
        return check_base_url(provider.base_url)
    except RefusedAddress as exc:
        raise Invalid(
            _("The base URL of {name} cannot be used: {why}").format(name=provider.name, why=exc)
        ) from exc


def _variant(model: Model, ref: ModelRef) -> JsonObject:
    if not ref.variant:
        return {}
    if ref.variant not in model.variants:
        known = ", ".join(model.variants) or "none"
        raise Invalid(f"{ref} has no variant {ref.variant!r}. It has: {known}.")
    return model.variants[ref.variant]


def _idle_timeout_s(milliseconds: int | bool | None) -> float | None:
    """The time between chunks that settings ask for; `false` and nothing mean the server's own."""
    return milliseconds / 1000 if milliseconds and milliseconds is not True else None
