from __future__ import annotations

from typing import Any

import pytest

from providers.llm.messages import ModelRef
from providers.small_model import small_model
from teams.models import Team


def config(*names: str, **more: Any) -> dict[str, Any]:
    models = {name: {} for name in names}
    block = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": "http://127.0.0.1:9/v1"},
        "models": models,
    }
    return {"provider": {"local": block}, **more}


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["big", "claude-haiku-4-5", "claude-3-5-haiku"], "claude-haiku-4-5"),
        (["gemini-2.5-flash", "gemini-2.5-flash-lite"], "gemini-2.5-flash-lite"),
        (["gpt-5", "gpt-5-mini", "gpt-5-nano"], "gpt-5-nano"),
        (["gpt-4o-mini", "gpt-4.1-mini"], "gpt-4o-mini"),
        (["big", "gemini-3-pro"], "big"),
    ],
)
def test_a_small_model_of_the_same_provider(team: Team, names: list[str], chosen: str) -> None:
    found = small_model(team, ModelRef("local", "big", "high"), config(*names))
    assert found == ModelRef("local", chosen)


def test_the_settings_decide_when_the_team_has_what_they_name(team: Team) -> None:
    named = config("big", "tiny", "x-mini", small_model="local/tiny")
    assert small_model(team, ModelRef("local", "big"), named) == ModelRef("local", "tiny")
    gone = config("big", "x-mini", small_model="local/gone")
    assert small_model(team, ModelRef("local", "big"), gone) == ModelRef("local", "x-mini")


# Source: the recorded title calls of OpenCode 1.18.33, by the catalog inside it.
@pytest.mark.parametrize(
    ("provider", "chosen", "variant"),
    [
        ("openai", "gpt-5.4-nano", "none"),
        ("opencode", "gpt-5.4-nano", "none"),
        ("anthropic", "claude-haiku-4-5-20251001", None),
        ("google-vertex-anthropic", "claude-haiku-4-5@20251001", None),
        ("amazon-bedrock", "global.anthropic.claude-haiku-4-5-20251001-v1:0", None),
        ("google", "gemini-3.8-flash", "low"),
        ("google-vertex", "gemini-3.8-flash", "low"),
        ("openrouter", "google/gemini-3.8-flash", "low"),
        ("github-copilot", "gpt-5.4-mini", "none"),
    ],
)
def test_vendors_have_a_small_model_that_thinks_as_little_as_it_can(
    team: Team, provider: str, chosen: str, variant: str | None
) -> None:
    found = small_model(team, ModelRef(provider, "big", "max"), {"provider": {provider: {}}})
    assert found == ModelRef(provider, chosen, variant)


@pytest.mark.parametrize(
    ("provider", "model", "variant"),
    [
        ("azure", "gpt-5.4", "none"),
        ("mistral", "mistral-medium-latest", "none"),
        ("deepseek", "deepseek-v4-pro", "low"),
        ("cerebras", "gpt-oss-120b", "low"),
        ("moonshotai", "kimi-k2.6", None),
    ],
)
def test_at_other_vendors_the_model_of_the_prompt_does_small_tasks(
    team: Team, provider: str, model: str, variant: str | None
) -> None:
    # Named, as some of these are on their way out.
    settings: Any = {"provider": {provider: {"models": {model: {}}}}}
    found = small_model(team, ModelRef(provider, model, "high"), settings)
    assert found == ModelRef(provider, model, variant)


def dated(family: str, release_date: str, **more: Any) -> dict[str, Any]:
    return {"family": family, "release_date": release_date, **more}


def test_the_newest_of_the_family_that_can_be_relied_on(team: Team) -> None:
    models = {
        "old": dated("gpt-nano", "2026-01-01"),
        "new": dated("gpt-nano", "2026-05-01"),
        "trial": dated("gpt-nano", "2026-06-01", status="beta"),
        "gone": dated("gpt-nano", "2026-07-01", status="deprecated"),
        "big": dated("gpt", "2026-08-01"),
    }
    settings: Any = {"provider": {"openai": {"models": models, "whitelist": [*models]}}}
    assert small_model(team, ModelRef("openai", "big"), settings) == ModelRef("openai", "new")


def test_a_named_small_model_thinks_as_little_as_it_can_as_well(team: Team) -> None:
    named = config("big", "tiny", small_model="local/tiny")
    named["provider"]["local"]["models"]["tiny"] = {"reasoning": True}
    assert small_model(team, ModelRef("local", "big"), named) == ModelRef("local", "tiny", "low")
