"""How the answers of a family are sampled when nobody says otherwise.

Source: what OpenCode 1.18 sends, recorded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ..messages import ProviderRequest


@dataclass(frozen=True, slots=True)
class Sampling:
    """None: the provider decides."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None


# The first pattern that is found in a model's id counts.
_FAMILIES: tuple[tuple[str, Sampling], ...] = (
    (r"gemini-(?:2\.5|3-flash|3-pro|3\.1|3\.5-flash)(?!-lite)", Sampling(1, 0.95, 64)),
    (r"k2\.5|k2p5|k2-5", Sampling(1, 0.95)),
    (r"kimi-k2.*thinking|k2\.|k2p", Sampling(1)),
    (r"kimi-k2", Sampling(0.6)),
    (r"glm-4\.[67]", Sampling(1)),
    (r"minimax-m2\.|minimax-m25|minimax-m21", Sampling(1, 0.95, 40)),
    (r"minimax-m2", Sampling(1, 0.95, 20)),
    (r"north-mini-code", Sampling(1)),
)
_BY_PROVIDER = {("deepseek", "deepseek-v4-flash"), ("opencode", "deepseek-v4-flash")}


def sampling_of(provider_id: str, model_id: str) -> Sampling:
    """Returns: what a family wants."""
    name = model_id.lower()
    if (provider_id, name) in _BY_PROVIDER:
        return Sampling(top_p=0.95)
    return next((found for words, found in _FAMILIES if re.search(words, name)), Sampling())


def with_sampling(request: ProviderRequest) -> ProviderRequest:
    """Fill in what the request leaves open. A title is sampled as its request says."""
    model = request.model
    if request.purpose == "title" or not model.capabilities.temperature:
        return request
    wanted = sampling_of(model.ref.provider_id, model.api_model)
    return replace(
        request,
        temperature=wanted.temperature if request.temperature is None else request.temperature,
        top_p=wanted.top_p if request.top_p is None else request.top_p,
        top_k=wanted.top_k if request.top_k is None else request.top_k,
    )
