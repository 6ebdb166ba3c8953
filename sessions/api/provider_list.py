"""The list of providers that clients read at their start, and its pages for scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Literal, NotRequired
from urllib.parse import urlencode

from django.http import HttpResponse
from typing_extensions import TypedDict

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from opencode_web.lib.shapes import Unchecked
from providers.catalog import Provider, known_providers
from providers.defaults import best_model
from sessions.api.auth import ApiRequest
from sessions.config.public import public_provider

HIDDEN = "hidden"


@dataclass(frozen=True)
class Wanted:
    """Which part of the list; all of it by default. `cursor` is the id of the last one before."""

    limit: int = 0
    cursor: str = ""
    query: str = ""
    connected: bool = False


class ModelApi(TypedDict):
    id: str
    url: str
    npm: str


class Media(TypedDict):
    text: bool
    audio: bool
    image: bool
    video: bool
    pdf: bool


class ReasoningField(TypedDict):
    field: str


class Capabilities(TypedDict):
    temperature: bool
    reasoning: bool
    attachment: bool
    toolcall: bool
    input: Media
    output: Media
    interleaved: bool | ReasoningField


class CacheCost(TypedDict):
    read: float
    write: float


class Cost(TypedDict):
    """Units: USD per million tokens."""

    input: float
    output: float
    cache: CacheCost


class ModelLimit(TypedDict):
    """Units: tokens."""

    context: int
    output: int
    input: NotRequired[int]


class ModelWire(TypedDict):
    id: str
    providerID: str
    api: ModelApi
    name: str
    family: NotRequired[str]
    capabilities: Capabilities
    cost: Cost
    limit: ModelLimit
    status: Literal["alpha", "beta", "deprecated", "active"]
    options: JsonObject
    headers: dict[str, str]
    release_date: str
    variants: NotRequired[dict[str, JsonObject]]


class ProviderWire(TypedDict):
    id: str
    name: str
    source: Literal["env", "config", "custom", "api"]
    env: list[str]
    options: JsonObject
    models: dict[str, ModelWire]


def to_wire(provider: Provider) -> Annotated[JsonObject, Unchecked(ProviderWire)]:
    """Returns: the shape Provider, with nothing secret."""
    return public_provider(provider.id, provider.to_wire())


def visible(providers: Iterable[Provider]) -> list[Provider]:
    """Returns: them without the models that a team hides, which its settings can still name."""
    shown = [
        replace(one, models={k: m for k, m in one.models.items() if m.status != HIDDEN})
        for one in providers
    ]
    return [one for one in shown if one.models]


def addable(providers: Iterable[Provider]) -> list[Provider]:
    """Returns: what the catalog has besides, for clients to connect; their models follow then."""
    there = {one.id for one in providers}
    return [
        Provider(
            id=one.id,
            name=one.name,
            kind=one.kind,
            npm=one.npm,
            base_url=one.base_url,
            source="custom",
            env=one.env,
        )
        for one in known_providers()
        if one.id not in there
    ]


def without_models(provider: Provider) -> Provider:
    """Returns: it with the one model that would be its default.

    Nobody can choose among the models of a provider that cannot be called yet, and they are most of
    the list: clients ask again once it can.
    """
    best = best_model(provider)
    return replace(provider, models={best.id: best})


def matching(providers: list[Provider], query: str) -> list[Provider]:
    """Returns: those whose name has every word of `query`, and of the others the models that do."""
    return [*_matching(providers, query.lower().split())]


def _matching(providers: list[Provider], words: list[str]) -> Iterator[Provider]:
    for one in providers:
        name = f"{one.id} {one.name}".lower()
        models = {
            key: model
            for key, model in one.models.items()
            if all(word in f"{name} {key} {model.name}".lower() for word in words)
        }
        if models:
            yield replace(one, models=models)


def page_of(
    request: ApiRequest, response: HttpResponse, providers: list[Provider], wanted: Wanted
) -> list[Provider]:
    """Returns: those after the cursor, at most `limit`; where more follow, the headers say so.

    Raises: Invalid for a cursor that is none of their ids.
    """
    ids = [one.id for one in providers]
    if wanted.cursor and wanted.cursor not in ids:
        raise Invalid(
            "This cursor does not belong to this list. Start again without a cursor.",
            field="cursor",
        )
    start = ids.index(wanted.cursor) + 1 if wanted.cursor else 0
    page = providers[start : start + wanted.limit] if wanted.limit else providers[start:]
    if page and page[-1].id != ids[-1]:
        cursor = page[-1].id
        query = urlencode({**request.GET.dict(), "cursor": cursor})
        response["X-Next-Cursor"] = cursor
        response["Link"] = f'<{request.build_absolute_uri(request.path)}?{query}>; rel="next"'
    return page
