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
from providers.catalog import build_model, catalog_models, known_provider
from providers.facts import ProviderKind
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
                "id": "m1",
                "name": "M One",
                "reasoning": True,
                "tool_call": True,
                "unused": "x",
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
    call_command("refresh_catalog", str(write(data_dir / "api.json")), verbosity=0)
    assert catalog_models("openai") == {}
    assert list(catalog_models("acme")) == ["m1"]
    assert "unused" not in catalog_models("acme")["m1"]
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
    model = build_model("p", "m", {}, kind=ProviderKind.COMPATIBLE, base_url="http://x")
    wire: Any = model.to_wire()
    assert wire["capabilities"]["toolcall"] is True
    assert wire["limit"] == {"context": 0, "output": 0}
    assert wire["cost"] == {"input": 0.0, "output": 0.0, "cache": {"read": 0.0, "write": 0.0}}
    assert wire["status"] == "active"
    assert wire["variants"] == {}


@pytest.mark.parametrize(
    ("cost", "priced"),
    [
        ({}, False),
        ({"input": 3}, False),
        ({"output": 15}, False),
        ({"input": 3, "output": 15}, True),
        ({"input": 0, "output": 0}, True),
    ],
)
def test_a_price_is_known_when_both_halves_of_it_are(cost: Any, priced: bool) -> None:
    description: Any = {"cost": cost}
    model = build_model("p", "m", description, kind=ProviderKind.COMPATIBLE, base_url="")
    assert is_priced(model.cost) is priced


def test_variants_of_reasoning_models_can_be_changed_and_switched_off() -> None:
    description: Any = {
        "reasoning": True,
        "variants": {"low": {"disabled": True}, "max": {"thinking": {"budgetTokens": 5}}},
    }
    model = build_model("p", "m", description, kind=ProviderKind.ANTHROPIC, base_url="")
    assert dict(model.variants) == {
        "medium": {"reasoningEffort": "medium"},
        "high": {"reasoningEffort": "high"},
        "max": {"thinking": {"budgetTokens": 5}},
    }


def test_prices_over_200k_are_shown_both_ways() -> None:
    model = build_model(
        "p", "m", API["acme"]["models"]["m1"], kind=ProviderKind.COMPATIBLE, base_url=""
    )
    wire: Any = model.to_wire()["cost"]
    over = {"input": 3.0, "output": 4.0, "cache": {"read": 0.0, "write": 0.0}}
    assert wire["experimentalOver200K"] == over
    assert wire["tiers"] == [{**over, "tier": {"type": "context", "size": 200_000}}]
