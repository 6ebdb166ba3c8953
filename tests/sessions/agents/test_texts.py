from __future__ import annotations

from pathlib import Path

import pytest

from sessions.agents import texts
from sessions.agents.loader import load_agents
from sessions.agents.texts import family_of, read_text
from sessions.config.model import Config

FAMILIES = ["claude", "gpt4", "codex", "gpt", "gemini", "trinity", "kimi", "default"]


def test_the_family_of_a_model(subtests: pytest.Subtests) -> None:
    cases = [
        ("claude-sonnet-4-5", "anthropic", "claude"),
        ("anthropic/claude-3.7-sonnet", "openrouter", "claude"),
        ("gpt-4.1", "openai", "gpt4"),
        ("o1-mini", "openai", "gpt4"),
        ("o3", "openai", "gpt4"),
        ("gpt-4o-codex", "openai", "gpt4"),
        ("gpt-5-codex", "openai", "codex"),
        ("gpt-5", "openai", "gpt"),
        ("gpt-6", "openai", "gpt"),
        ("gpt-6-codex", "openai", "gpt"),
        ("gpt-oss-120b", "local", "gpt"),
        ("gemini-2.5-pro", "google", "gemini"),
        ("google/gemini-3-flash", "openrouter", "gemini"),
        ("Trinity-Mini", "arcee", "trinity"),
        ("Kimi-K2", "groq", "kimi"),
        ("k2-thinking", "moonshotai", "kimi"),
        ("k2-thinking", "moonshotai-cn", "kimi"),
        ("for-coding", "kimi-for-coding", "kimi"),
        ("muse-claude", "meta", "default"),
        ("qwen3-coder", "local", "default"),
        ("inline", "demo", "default"),
    ]
    for api_model, provider, family in cases:
        with subtests.test(api_model=api_model, provider=provider):
            assert family_of(api_model, provider_id=provider) == family


def test_each_family_has_a_text_of_its_own(subtests: pytest.Subtests) -> None:
    for family in FAMILIES:
        with subtests.test(family=family):
            text = read_text(family)
            lines = text.splitlines()
            assert 25 <= len(lines) <= 80
            assert lines[0].startswith("You are the coding agent of OpenCode Web")
            others = {
                line
                for other in FAMILIES
                if other != family
                for line in read_text(other).split("\n")
            }
            own = [line for line in lines if line and line not in others]
            assert len(own) >= 15


def test_every_text_is_used() -> None:
    there = {path.stem for path in (Path(texts.__file__).parent / "prompts").glob("*.txt")}
    assert there == {*FAMILIES, "basics", "plan", "build_switch", "last_step"}


def test_build_and_plan_work_by_the_text_of_the_models_family() -> None:
    agents = load_agents(Config())
    assert [name for name, agent in agents.items() if not agent.prompt] == ["build", "plan"]
