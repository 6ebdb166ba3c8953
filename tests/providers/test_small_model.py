from __future__ import annotations

from typing import Any

import pytest

from providers.messages import ModelRef
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
