from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from providers import actions
from providers.catalog_file import read_all
from providers.defaults import best_model
from providers.effective import effective_providers, offered_models
from providers.llm.messages import ModelRef
from providers.offers import is_listed, is_offered
from providers.resolve import resolve_model
from teams.models import Team, User
from tests.providers.factories import make_openai


def chat(**fields: Any) -> dict[str, Any]:
    return {"tool_call": True, "reasoning": True, **fields}


def best_of(team: Team, **models: Any) -> str:
    own = {"options": {"baseURL": "https://x.example/v1"}, "models": models}
    config: Any = {"provider": {"own": own}}
    return best_model(effective_providers(team, config)["own"]).id


ROOM = {"context": 200_000, "output": 8_000}


@pytest.mark.parametrize(
    ("better", "other"),
    [
        (chat(), chat(tool_call=False, release_date="2026-09-01")),
        (chat(), chat(status="beta", release_date="2026-09-01")),
        (chat(), chat(status="deprecated", release_date="2026-09-01")),
        (chat(), chat(status="hidden", release_date="2026-09-01")),
        (chat(), chat(modalities={"output": ["image"]}, release_date="2026-09-01")),
        (chat(), chat(reasoning=False, release_date="2026-09-01")),
        (chat(limit=ROOM), chat(limit={"context": 32_000, "output": 1}, release_date="2026-09-01")),
        (chat(release_date="2026-09-02"), chat(release_date="2026-09-01")),
        (chat(limit=ROOM), chat(limit={**ROOM, "context": 150_000})),
        (chat(cost={"input": 2, "output": 10}), chat(cost={"input": 0.1, "output": 0.5})),
    ],
)
def test_the_best_model_is_the_most_able_then_the_newest(
    team: Team, better: Any, other: Any
) -> None:
    assert best_of(team, a=better, b=other) == "a"
    assert best_of(team, b=better, a=other) == "b"


def test_of_equal_models_the_dated_one_is_the_best_and_some_is_better_than_none(team: Team) -> None:
    assert best_of(team, **{"m-2": chat(), "m-latest": chat(), "m-1": chat()}) == "m-2"
    assert best_of(team, only=chat(status="deprecated")) == "only"


def test_a_model_of_one_region_is_no_default_beside_one_of_all(team: Team) -> None:
    models = {"us.x": chat(cost={"input": 3, "output": 3}), "x": chat(cost={"input": 2})}
    config: Any = {"provider": {"amazon-bedrock": {"models": models, "whitelist": ["us.x", "x"]}}}
    assert best_model(effective_providers(team, config)["amazon-bedrock"]).id == "x"


def test_models_for_other_work_than_chat_are_not_offered(team: Team) -> None:
    row = make_openai(team)
    for offered in (effective_providers(team)["openai"].models, offered_models(row)):
        assert "gpt-5" in offered
        assert not {"gpt-realtime-2.1", "gpt-image-2", "text-embedding-3-small"} & offered.keys()
    google = effective_providers(team, {"provider": {"google": {}}})["google"].models
    assert "gemini-3.8-flash" in google
    assert not [key for key in google if "tts" in key or "live" in key or "embedding" in key]


def test_a_model_is_offered_as_far_as_its_own_wire_is_spoken(team: Team) -> None:
    bedrock = effective_providers(team, {"provider": {"amazon-bedrock": {}}})["amazon-bedrock"]
    assert bedrock.models["anthropic.claude-opus-5-5"].npm == "@ai-sdk/amazon-bedrock"
    assert bedrock.models["openai.gpt-6-sol"].npm == "@ai-sdk/amazon-bedrock/mantle"
    assert not is_listed("m", {"provider": {"npm": "no-such-package"}})


@pytest.mark.parametrize(
    "named",
    [
        {"model": "openai/gpt-4"},
        {"small_model": "openai/gpt-4"},
        {"agent": {"review": {"model": "openai/gpt-4"}}},
        {"command": {"review": {"model": "openai/gpt-4"}}},
        {"provider": {"openai": {"models": {"gpt-4": {}}}}},
    ],
)
def test_a_deprecated_model_is_offered_where_settings_name_it(team: Team, named: Any) -> None:
    row = make_openai(team)
    assert "gpt-4" not in effective_providers(team)["openai"].models
    assert "gpt-4" not in offered_models(row)
    assert effective_providers(team, named)["openai"].models["gpt-4"].status == "deprecated"
    assert resolve_model(team, ModelRef("openai", "gpt-4"), named).name == "GPT-4"


def test_a_deprecated_model_that_is_picked_can_be_unpicked(team: Team, alice: User) -> None:
    row = make_openai(team)
    actions.pick_models(row, actor=alice, models={"gpt-4": {}})
    row.refresh_from_db()
    assert offered_models(row)["gpt-4"].name == "GPT-4"


def test_what_chats_is_told_by_abilities_then_by_name(subtests: pytest.Subtests) -> None:
    cases = [
        ("gpt-x", {}, True),
        ("gpt-x", {"tool_call": False}, True),
        ("gpt-x", {"modalities": {"input": ["audio"], "output": ["text"]}}, False),
        ("gpt-x", {"modalities": {"input": ["text"], "output": ["text", "image"]}}, True),
        (
            "gpt-x",
            {"tool_call": False, "modalities": {"input": ["text"], "output": ["text", "image"]}},
            False,
        ),
        ("gpt-x", {"limit": {"context": 8_192, "output": 1_024}}, False),
        ("gpt-x", {"limit": {"context": 32_768, "output": 1}}, False),
        ("gpt-x", {"limit": {"context": 0, "output": 0}}, True),
        ("bge-m3", {"tool_call": False, "cost": {"input": 0.02, "output": 0}}, False),
        ("model-router", {"tool_call": True, "cost": {"input": 0.02, "output": 0}}, True),
        ("free", {"tool_call": False, "cost": {"input": 0, "output": 0}}, True),
        ("e5-large", {"family": "text-embedding"}, False),
        ("openai/gpt-oss-safeguard-20b", {}, False),
        ("qwen3guard-gen-8b", {}, False),
        ("lightonai/LightOnOCR-2-1B", {}, False),
        ("gemini-2.5-computer-use-preview", {}, False),
        ("o3-deep-research", {}, False),
        ("sonar-deep-research", {"tool_call": False}, True),
        ("gemini-3-pro-image", {}, False),
        ("studiovoice", {}, False),
        ("deliverance-1", {}, True),
        ("olive-2", {}, True),
        ("imagery-llm", {}, True),
        ("sttar-1", {}, True),
    ]
    for model_id, description, is_right in cases:
        with subtests.test(model_id=model_id, description=description):
            assert is_listed(model_id, {"tool_call": True, **description}) is is_right


def test_most_of_the_catalog_is_offered_and_only_what_chats() -> None:
    catalog = read_all()
    counts = Counter(
        (is_listed(key, model), is_offered(key, model))
        for provider in catalog.values()
        for key, model in provider["models"].items()
    )
    # Of 8,261, 256 are deprecated; the rest makes or reads other things than text.
    assert counts[True, True] == 6_857
    assert counts[True, False] == 561
    offered = {
        (key, name): model
        for key, provider in catalog.items()
        for name, model in provider["models"].items()
        if is_offered(name, model)
    }
    assert not [
        name
        for name, model in offered.items()
        if model["limit"]["output"] == 1 or model.get("family") in ("text-embedding", "gpt-image")
    ]
