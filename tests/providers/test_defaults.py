from __future__ import annotations

from typing import Any

import pytest

from providers.defaults import best_model
from providers.effective import effective_providers
from teams.models import Team

# By the bundled catalog, of September 2026.
CHOSEN = {
    "openai": "gpt-6-sol",
    "anthropic": "claude-opus-5-5",
    "google": "gemini-3.8-flash",
    "amazon-bedrock": "global.anthropic.claude-opus-5-5",
    "azure": "gpt-6-sol",
    "google-vertex": "gemini-3.8-flash",
    "google-vertex-anthropic": "claude-opus-5-5@default",
    "github-copilot": "claude-opus-5.5",
    "openrouter": "anthropic/claude-opus-5.5",
    "opencode": "claude-opus-5-5",
    "xai": "grok-4.7",
    "mistral": "mistral-medium-2604",
    "groq": "qwen/qwen3.8-27b",
    "deepseek": "deepseek-v4-pro",
    "cohere": "command-a-plus-05-2026",
    "cerebras": "qwen-3.8-27b",
    "togetherai": "zai-org/GLM-5.3",
    "deepinfra": "Qwen/Qwen3.8-2.4T-A95B",
    "fireworks-ai": "accounts/fireworks/models/kimi-k3",
    "moonshotai": "kimi-k3",
    "alibaba": "qwen3.8-max",
    "zai": "glm-5.3",
    "minimax": "MiniMax-M3",
    "huggingface": "Qwen/Qwen3.8-2.4T-A95B",
    "nebius": "zai-org/GLM-5.3",
    "nvidia": "z-ai/glm-5.3",
    "requesty": "claude-opus-5-5",
}


@pytest.mark.parametrize(("provider", "model"), CHOSEN.items())
def test_what_the_best_known_providers_start_with(team: Team, provider: str, model: str) -> None:
    found = effective_providers(team, {"provider": {provider: {}}})
    assert best_model(found[provider]).id == model


def best_of(team: Team, models: dict[str, Any]) -> str:
    described = {
        key: {"reasoning": True, "tool_call": True, "release_date": "2026-09-01", **fields}
        for key, fields in models.items()
    }
    own = {"options": {"baseURL": "https://x.example/v1"}, "models": described}
    config: Any = {"provider": {"own": own}}
    return best_model(effective_providers(team, config)["own"]).id


PAID = {"cost": {"input": 1, "output": 5}}


@pytest.mark.parametrize(
    ("better", "other"),
    [
        # What is free beside what is paid for, unless most is.
        ({"a": PAID, "b": PAID}, {"c": {"release_date": "2026-09-30"}}),
        ({"a": {}, "b": {}}, {"c-preview": {"release_date": "2026-09-30"}}),
        ({"b/m1": PAID, "c": PAID}, {"x/m1-fast": {"cost": {"input": 5, "output": 9}}}),
        ({"m1": PAID, "c": PAID}, {"m1@eu": {"cost": {"input": 5, "output": 9}}}),
        # A number is a newer version.
        ({"m-5-5": {"release_date": "2026-09-02"}}, {"m-5": {}}),
        # Within a generation the dearer one is stronger.
        ({"a": PAID}, {"b": {"cost": {"input": 1, "output": 2}, "release_date": "2026-09-20"}}),
        ({"b": {"release_date": "2026-12-20"}}, {"a": {}}),
        ({"a": PAID, "c": PAID}, {"b": {"cost": {"input": 9, "output": 90}}}),
        ({"a": PAID}, {"b-latest": {**PAID, "release_date": "2026-09-20"}}),
        # Many providers offer it, or all the others of this one are of its maker.
        ({"a": {"family": "claude-opus"}}, {"b": {"family": "unheard-of", **PAID}}),
        (
            {key: {"family": f"acme-{key}"} for key in ("a", "b", "c")},
            {"d": {"family": "claude-opus", "release_date": "2026-09-20"}},
        ),
        ({"a": {"family": "own-large"}}, {"d": {"family": "claude-opus"}}),
    ],
)
def test_what_is_better(team: Team, better: Any, other: Any) -> None:
    for models in ({**better, **other}, {**other, **better}):
        assert best_of(team, models) in better


def test_the_worst_is_better_than_none(team: Team) -> None:
    assert best_of(team, {"m-preview": {"status": "deprecated", "release_date": "soon"}})
