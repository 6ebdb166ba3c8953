from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from providers import catalog_file
from providers.catalog import (
    COMPATIBLE_NPM,
    build_model,
    catalog_models,
    known_provider,
    known_providers,
    unusable_providers,
)
from providers.kinds import Obstacle
from providers.pricing import is_priced

API = {
    "acme": {
        "id": "acme",
        "name": "Acme AI",
        "npm": "@ai-sdk/openai-compatible",
        "api": "https://ai.acme.example/v1",
        "env": ["ACME_KEY"],
        "models": {
            "m1": {
                "name": "M One",
                "reasoning": True,
                "tool_call": True,
                "id": "m1",
                "description": "For everything",
                "knowledge": "2025-08",
                "last_updated": "2026-01-02",
                "open_weights": True,
                "structured_output": True,
                "reasoning_options": [{"type": "effort", "values": ["none", "high"]}],
                "experimental": {"modes": {"fast": {"provider": {"body": {"speed": "fast"}}}}},
                "status": "beta",
                "cost": {"input": 1, "output": 2, "context_over_200k": {"input": 3, "output": 4}},
                "limit": {"context": 1000, "output": 100},
                "modalities": {"input": ["text", "image"], "output": ["text"]},
                "interleaved": {"field": "reasoning_content"},
            },
            "painter": {
                "limit": {"context": 1000, "output": 1},
                "modalities": {"output": ["image"]},
            },
            "text-embedding-1": {"limit": {"context": 1000, "output": 1}},
        },
    },
    "empty": {"id": "empty", "name": "Empty", "npm": "x", "models": {}},
}


pytestmark = pytest.mark.django_db


@pytest.fixture
def data_dir(tmp_path: Path, settings: Any) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path


def write(path: Path, api: Any = API) -> Path:
    path.write_text(json.dumps(api))
    return path


def test_the_bundled_catalog_names_its_source_and_date() -> None:
    head = catalog_file.read_head()
    assert "models.dev" in str(head["source"])
    assert date.fromisoformat(str(head["date"])) >= date(2026, 8, 18)
    assert catalog_file.BUNDLED.stat().st_size < 400_000


def test_a_refresh_takes_the_place_of_the_bundled_catalog(data_dir: Path) -> None:
    assert "gpt-5" in catalog_models("openai")
    call_command("refresh_catalog", str(write(data_dir / "api.json")), "--force", verbosity=0)
    assert catalog_models("openai") == {}
    assert list(catalog_models("acme")) == ["m1", "painter", "text-embedding-1"]
    given: dict[str, Any] = API["acme"]["models"]["m1"]  # type: ignore[assignment,index]
    kept = {key: value for key, value in given.items() if key not in ("id", "description")}
    assert catalog_models("acme")["m1"] == kept
    known = known_provider("acme")
    assert known is not None
    assert (known.name, known.base_url) == ("Acme AI", "https://ai.acme.example/v1")
    assert known_provider("empty") is None


def test_the_same_data_gives_the_same_file(data_dir: Path) -> None:
    files = []
    for name in ("a", "b"):
        path = data_dir / f"{name}.gz"
        catalog_file.write_catalog(path, API, source="s", date="2026-01-01")
        files.append(path.read_bytes())
    assert files[0] == files[1]


def test_a_gzipped_api_is_read(data_dir: Path) -> None:
    path = data_dir / "api.json.gz"
    path.write_bytes(gzip.compress(json.dumps(API).encode()))
    assert catalog_file.read_source(path)["acme"]["name"] == "Acme AI"


def test_gaps_are_filled_from_older_data(data_dir: Path) -> None:
    older = json.loads(json.dumps(API))
    old = older["acme"]["models"]["m1"]
    old["release_date"] = "2025-01-02"
    old["cost"]["tiers"] = [{"input": 9, "output": 9, "tier": {"type": "context", "size": 272_000}}]
    api = json.loads(json.dumps(API))
    catalog_file.fill_from_older(api, older)
    assert api["acme"]["models"]["m1"]["release_date"] == "2025-01-02"
    assert api["acme"]["models"]["m1"]["cost"]["tiers"] == old["cost"]["tiers"]
    changed = json.loads(json.dumps(API))
    changed["acme"]["models"]["m1"]["cost"]["input"] = 5
    catalog_file.fill_from_older(changed, older)
    assert "tiers" not in changed["acme"]["models"]["m1"]["cost"]


@pytest.mark.parametrize("content", ["{", "[]", '{"a": 1}', '{"a": {"models": []}}'])
def test_what_is_no_catalog_changes_nothing(data_dir: Path, content: str) -> None:
    path = data_dir / "bad.json"
    path.write_text(content)
    with pytest.raises(CommandError, match="was not changed"):
        call_command("refresh_catalog", str(path), verbosity=0)
    assert not catalog_file.refreshed_path().exists()


def test_without_a_source_it_says_what_to_set(data_dir: Path, settings: Any) -> None:
    settings.MODELS_URL = ""
    with pytest.raises(CommandError, match="MODELS_URL"):
        call_command("refresh_catalog", "", verbosity=0)


def test_the_database_of_the_package_is_read(data_dir: Path) -> None:
    path = data_dir / "_db.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            """
            CREATE TABLE providers (id, name, npm, api, doc, env);
            CREATE TABLE models (full_id, provider_id, id, name, family, attachment, reasoning,
              tool_call, interleaved_field, temperature, limit_context, limit_input, limit_output,
              status, provider_npm, provider_api);
            CREATE TABLE model_modalities (model_full_id, direction, position, value);
            CREATE TABLE pricing (model_full_id, experimental_mode_name, min_context, cost_input,
              cost_output, cost_cache_read, cost_cache_write);
            INSERT INTO providers VALUES ('p', 'P', 'n', NULL, 'd', 'A;B');
            INSERT INTO models VALUES ('p:m', 'p', 'm', 'M', NULL, 1, 0, 1, 'reasoning_content',
              NULL, 10, NULL, 5, 'beta', NULL, NULL);
            INSERT INTO model_modalities VALUES ('p:m', 'input', 0, 'text');
            INSERT INTO model_modalities VALUES ('p:m', 'input', 1, 'pdf');
            INSERT INTO pricing VALUES ('p:m', NULL, 200000, 2, 3, NULL, NULL);
            INSERT INTO pricing VALUES ('p:m', NULL, 0, 1, 2, 0.1, NULL);
            INSERT INTO pricing VALUES ('p:m', 'fast', 0, 9, 9, NULL, NULL);
            """
        )
        database.commit()
    provider = catalog_file.read_source(path)["p"]
    assert provider["env"] == ["A", "B"]
    model = provider["models"]["m"]
    assert model["attachment"] is True
    assert "temperature" not in model
    assert model["limit"] == {"context": 10, "output": 5}
    assert model["modalities"]["input"] == ["text", "pdf"]
    assert model["cost"] == {
        "input": 1,
        "output": 2,
        "cache_read": 0.1,
        "tiers": [{"input": 2, "output": 3, "tier": {"type": "context", "size": 200000}}],
    }


def test_a_description_without_anything_gets_the_defaults() -> None:
    model = build_model("p", "m", {}, npm=COMPATIBLE_NPM, base_url="http://x")
    wire: Any = model.to_wire()
    assert wire["capabilities"]["toolcall"] is True
    assert wire["limit"] == {"context": 0, "output": 0}
    assert wire["cost"] == {"input": 0.0, "output": 0.0, "cache": {"read": 0.0, "write": 0.0}}
    assert wire["status"] == "active"
    assert wire["variants"] == {}


def test_a_price_is_known_when_both_halves_of_it_are(subtests: pytest.Subtests) -> None:
    cases = [
        ({}, False),
        ({"input": 3}, False),
        ({"output": 15}, False),
        ({"input": 3, "output": 15}, True),
        ({"input": 0, "output": 0}, True),
    ]
    for cost, priced in cases:
        with subtests.test(cost=cost):
            description: Any = {"cost": cost}
            model = build_model("p", "m", description, npm=COMPATIBLE_NPM, base_url="")
            assert is_priced(model.cost) is priced


def test_variants_of_reasoning_models_can_be_changed_and_switched_off() -> None:
    description: Any = {
        "reasoning": True,
        "variants": {"low": {"disabled": True}, "max": {"thinking": {"budgetTokens": 5}}},
    }
    model = build_model("p", "m", description, npm="@ai-sdk/anthropic", base_url="")
    assert dict(model.variants) == {
        "medium": {"reasoningEffort": "medium"},
        "high": {"reasoningEffort": "high"},
        "max": {"thinking": {"budgetTokens": 5}},
    }


def test_prices_over_200k_are_shown_both_ways() -> None:
    model = build_model("p", "m", API["acme"]["models"]["m1"], npm=COMPATIBLE_NPM, base_url="")
    wire: Any = model.to_wire()["cost"]
    over = {"input": 3.0, "output": 4.0, "cache": {"read": 0.0, "write": 0.0}}
    assert wire["experimentalOver200K"] == over
    assert wire["tiers"] == [{**over, "tier": {"type": "context", "size": 200_000}}]


def test_a_provider_is_known_or_said_to_be_unusable() -> None:
    listed: Any = catalog_file.read_head()["providers"]
    unusable = {one.id: one.obstacle for one in unusable_providers()}
    known = {one.id for one in known_providers()}
    assert {one["id"] for one in listed} == known | unusable.keys()
    assert not known & unusable.keys()
    assert unusable["salad-cloud"] is Obstacle.WIRE


def test_the_bundled_catalog_says_how_models_reason() -> None:
    assert catalog_models("openai")["gpt-5"]["reasoning_options"] == [
        {"type": "effort", "values": ["minimal", "low", "medium", "high"]}
    ]


def listed_variants(npm: str, model_id: str, *options: Any, output: int = 64_000) -> Any:
    description: Any = {
        "reasoning": True,
        "limit": {"context": 200_000, "output": output},
        "reasoning_options": list(options),
    }
    return dict(build_model("p", model_id, description, npm=npm, base_url="").variants)


def test_a_list_of_efforts_names_the_variants_in_its_order() -> None:
    efforts = {"type": "effort", "values": [None, "max", "low"]}
    found = listed_variants("@ai-sdk/groq", "m", {"type": "toggle"}, efforts)
    assert list(found.items()) == [
        ("max", {"reasoningEffort": "max"}),
        ("low", {"reasoningEffort": "low"}),
    ]


def test_efforts_come_before_budgets_whatever_is_listed_first() -> None:
    budget = {"type": "budget_tokens", "min": 1024}
    efforts = {"type": "effort", "values": ["low", "high"]}
    found = listed_variants("@ai-sdk/anthropic", "claude-opus-4-5", budget, efforts)
    assert [one["effort"] for one in found.values()] == ["low", "high"]


def test_budgets_are_half_of_the_largest_and_the_largest_with_room_for_an_answer(
    subtests: pytest.Subtests,
) -> None:
    cases = [
        ({"min": 1024}, 64_000, 16_000, 31_999),
        ({"min": 0, "max": 24_576}, 65_536, 12_288, 24_576),
        ({"min": 128, "max": 32_768}, 65_536, 16_000, 31_999),
        ({"min": 9_000, "max": 10_000}, 65_536, 9_000, 10_000),
        ({}, 8_192, 8_191, 8_191),
    ]
    for budget, output, high, most in cases:
        with subtests.test(budget=budget):
            option = {"type": "budget_tokens", **budget}
            claude = listed_variants("@ai-sdk/anthropic", "claude-haiku-4-5", option, output=output)
            assert {key: one["thinking"]["budgetTokens"] for key, one in claude.items()} == {
                "high": high,
                "max": most,
            }
            gemini = listed_variants("@ai-sdk/google", "gemini-2.5-flash", option, output=output)
            assert gemini["max"]["thinkingConfig"]["thinkingBudget"] == most
            router = listed_variants("@openrouter/ai-sdk-provider", "a/b", option, output=output)
            assert router["high"] == {"reasoning": {"max_tokens": high}}


def test_a_wire_without_a_word_for_budgets_has_the_variants_of_the_family() -> None:
    budget = {"type": "budget_tokens", "min": 1024}
    assert list(listed_variants(COMPATIBLE_NPM, "some-model", budget)) == ["low", "medium", "high"]


def test_an_empty_list_leaves_nothing_to_choose_and_a_toggle_says_too_little() -> None:
    assert listed_variants(COMPATIBLE_NPM, "some-model") == {}
    toggled = listed_variants("@openrouter/ai-sdk-provider", "a/claude-4.5", {"type": "toggle"})
    assert list(toggled) == ["low", "medium", "high"]
    cohere = listed_variants(
        "@ai-sdk/cohere", "m", {"type": "toggle"}, {"type": "budget_tokens", "min": 1}
    )
    assert list(cohere) == ["none", "high", "max"]


def test_a_vendor_that_is_not_told_how_hard_to_think_has_no_variants() -> None:
    efforts = {"type": "effort", "values": ["low", "high"]}
    assert listed_variants("@ai-sdk/perplexity", "sonar-reasoning-pro", efforts) == {}


def test_a_price_of_long_prompts_holds_from_where_its_tier_begins() -> None:
    cost: Any = catalog_models("openai")["gpt-5.4"]["cost"]
    assert "context_over_200k" in cost
    model = build_model("p", "m", {"cost": cost}, npm=COMPATIBLE_NPM, base_url="")
    assert [tier.above_tokens for tier in model.cost.tiers] == [272_000]
