"""The `provider` block of opencode.json, and how it lies over what a team has set up.

A key in a block never stays there: `actions.absorb_keys` moves it into a Credential before the
settings are stored. A stored key is bound to the address that was set with it, so a block cannot
send it elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from providers.llm.connection import STEERING_HEADERS
from providers.llm.messages import Timeouts
from providers.llm.options import without_routing

# A header of these carries a secret, and settings are readable for every member.
_SECRET_HEADERS = frozenset(
    {"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-goog-api-key"}
)
# Options of a cloud account that are kept as credentials, beside `apiKey`.
SECRET_OPTIONS = (
    *("accessKeyId", "secretAccessKey", "sessionToken", "accessToken"),
    *("serviceAccount", "clientSecret"),
)
_CONNECTION = (
    *("region", "project", "location", "apiVersion"),
    *("organization", "setCacheKey", "useCompletionUrls"),
)
# What settings may say of a model that somebody else's account pays for: nothing that decides which
# model is called, where, or for how much.
_OF_OTHERS = frozenset(
    {"name", "status", "release_date", "limit", "options", "variants", "temperature", "reasoning",
     "reasoning_options", "tool_call", "attachment", "modalities", "interleaved"}
)  # fmt: skip
Milliseconds = Annotated[int, Field(gt=0)]


class _Open(BaseModel):
    # Files written for newer or other clients must keep working, so unknown keys stay as they are.
    model_config = ConfigDict(frozen=True, extra="allow")


class CostConfig(_Open):
    """Units: USD per million tokens."""

    input: Annotated[float, Field(ge=0)] = 0
    output: Annotated[float, Field(ge=0)] = 0
    cache_read: Annotated[float, Field(ge=0)] | None = None
    cache_write: Annotated[float, Field(ge=0)] | None = None


class LimitConfig(_Open):
    """Units: tokens."""

    context: Annotated[int, Field(ge=0)]
    output: Annotated[int, Field(ge=0)]
    input: Annotated[int, Field(ge=0)] | None = None


class ModelConfig(_Open):
    """Overrides of one model, in models.dev's fields."""

    id: str | None = None
    name: str | None = None
    cost: CostConfig | None = None
    limit: LimitConfig | None = None
    options: dict[str, JsonValue] = {}
    headers: dict[str, str] = {}
    variants: dict[str, dict[str, JsonValue]] = {}


class OptionsConfig(_Open):
    """How to reach the provider."""

    apiKey: str | None = None
    baseURL: str | None = None
    endpoint: str | None = None
    chunkTimeout: Milliseconds | bool | None = None
    headerTimeout: Milliseconds | bool | None = None
    timeout: Milliseconds | bool | None = None
    setCacheKey: bool | None = None
    useCompletionUrls: bool | None = None
    region: str | None = None
    project: str | None = None
    location: str | None = None
    resourceName: str | None = None
    apiVersion: str | None = None
    organization: str | None = None
    headers: dict[str, str] = {}

    def connection(self) -> dict[str, str]:
        """Returns: where an account is, as adapters read it."""
        given = {name: getattr(self, name) for name in _CONNECTION}
        texts = {name: str(value) for name, value in given.items() if isinstance(value, str)}
        flags = {
            name: str(value).lower() for name, value in given.items() if isinstance(value, bool)
        }
        return {**texts, **flags}

    def timeouts(self) -> Timeouts:
        """Returns: the times that the settings name."""
        return Timeouts(
            header=_seconds(self.headerTimeout),
            idle=_seconds(self.chunkTimeout),
            total=_seconds(self.timeout),
        )

    def for_others(self) -> OptionsConfig:
        """Returns: what counts of them for an account that is not the team's."""
        options = self.model_dump(exclude_none=True, exclude_unset=True)
        return OptionsConfig.model_validate({**without_routing(options), "headers": {}})

    def secrets(self) -> dict[str, str]:
        """Returns: the keys of a cloud account, which are never stored in settings."""
        extra = self.model_extra or {}
        given = {name: extra.get(name) for name in SECRET_OPTIONS}
        return {name: value for name, value in given.items() if isinstance(value, str) and value}


class ProviderBlock(_Open):
    """One entry of `provider`. Source: ProviderConfig of OpenCode's HTTP API."""

    name: str | None = None
    npm: str | None = None
    api: str | None = None
    env: list[str] = []
    whitelist: list[str] | None = None
    blacklist: list[str] = []
    options: OptionsConfig = OptionsConfig()
    models: dict[str, ModelConfig] = {}

    @property
    def base_url(self) -> str:
        """The address this block names; empty when it names none.

        The name of an Azure resource is one, too: it decides where a key goes.
        """
        resource = self.options.resourceName
        named = f"https://{resource}.openai.azure.com/openai/v1" if resource else ""
        return self.options.baseURL or self.options.endpoint or self.api or named

    def descriptions(self) -> dict[str, JsonObject]:
        """Returns: model id -> what the block says of it."""
        return {
            key: model.model_dump(exclude_none=True, exclude_unset=True)
            for key, model in self.models.items()
        }

    def for_others(self, picked: Collection[str]) -> ProviderBlock:
        """Returns: what counts of it for an account that is not the team's.

        `picked` are the models that whoever has the account has picked, if they have.
        """
        models = {
            key: ModelConfig.model_validate(_for_others(said))
            for key, said in self.descriptions().items()
            if not picked or key in picked
        }
        given = self.options.for_others()
        return self.model_copy(update={"npm": None, "models": models, "options": given})

    def keeps(self, model_id: str) -> bool:
        """Apply whitelist and blacklist."""
        if self.whitelist is not None and model_id not in self.whitelist:
            return False
        return model_id not in self.blacklist


def parse_blocks(config: Mapping[str, JsonValue]) -> dict[str, ProviderBlock]:
    """Read `provider` of settings in the shape of opencode.json.

    Raises: Invalid that names the first field that is wrong.
    """
    given = config.get("provider")
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise Invalid("provider must be an object of providers by id")
    try:
        blocks = {key: ProviderBlock.model_validate(value) for key, value in given.items()}
    except ValidationError as exc:
        problem = exc.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise Invalid(f"provider: {where}: {problem['msg']}") from None
    for key, block in blocks.items():
        _refuse_headers(key, block)
    return blocks


def named_models(config: Mapping[str, JsonValue], provider_id: str) -> frozenset[str]:
    """Returns: the models of a provider that settings name, for all work or for some of it."""
    parts = [config.get("agent"), config.get("command")]
    blocks = [block for part in parts if isinstance(part, dict) for block in part.values()]
    named = [config.get("model"), config.get("small_model")]
    named += [block.get("model") for block in blocks if isinstance(block, dict)]
    start = f"{provider_id}/"
    return frozenset(
        name.removeprefix(start)
        for name in named
        if isinstance(name, str) and name.startswith(start)
    )


def _for_others(said: JsonObject) -> JsonObject:
    kept = {key: value for key, value in said.items() if key in _OF_OTHERS}
    variants = kept.get("variants")
    if isinstance(variants, dict):
        kept["variants"] = {
            name: without_routing(one) for name, one in variants.items() if isinstance(one, dict)
        }
    options = kept.get("options")
    return {**kept, "options": without_routing(options)} if isinstance(options, dict) else kept


def _seconds(milliseconds: int | bool | None) -> float | None:
    """`false` and nothing mean the server's own."""
    return milliseconds / 1000 if milliseconds and milliseconds is not True else None


def is_switched_off(config: Mapping[str, JsonValue], provider_id: str) -> bool:
    """Apply `enabled_providers` and `disabled_providers`."""
    enabled, disabled = config.get("enabled_providers"), config.get("disabled_providers")
    if isinstance(enabled, list) and provider_id not in enabled:
        return True
    return isinstance(disabled, list) and provider_id in disabled


def _refuse_headers(provider_id: str, block: ProviderBlock) -> None:
    sets = [block.options.headers, *(model.headers for model in block.models.values())]
    for name in (name for headers in sets for name in headers):
        if name.strip().lower() in STEERING_HEADERS:
            raise Invalid(
                f"provider.{provider_id}: the header {name} cannot be set, because it belongs to "
                "the connection. Set where the provider is as options.baseURL."
            )
        if name.strip().lower() in _SECRET_HEADERS:
            raise Invalid(
                f"provider.{provider_id}: the header {name} carries a secret. "
                "Set the key as options.apiKey or under Team settings → Models."
            )
