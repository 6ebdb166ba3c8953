from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from opencode_web.lib.errors import Invalid, NotFound
from providers import actions
from providers.catalog import catalog_models, known_provider, known_providers
from providers.effective import effective_providers, keyless_providers
from providers.kinds import ProviderKind
from providers.llm import has_adapter
from providers.llm.connection import build
from providers.llm.errors import AuthError
from providers.llm.messages import ModelRef
from providers.llm.route import route_of
from providers.models import Credential, ProviderConfig
from providers.resolve import default_model, list_providers, parse_ref, resolve_model
from teams.models import Team, User
from tests.providers.factories import KEY, make_openai, make_provider
from tests.providers.requests import make_request

LIMIT = {"limit": {"context": 1000, "output": 100}}


def block(**fields: Any) -> dict[str, Any]:
    return {"provider": {"own": fields}}


def test_a_catalog_model_has_its_price_limits_and_abilities(team: Team) -> None:
    make_openai(team)
    model = resolve_model(team, ModelRef("openai", "gpt-5"))
    assert model.npm == "@ai-sdk/openai"
    assert model.base_url is None
    assert model.api_key.reveal() == KEY
    assert model.limit.context == 400_000
    assert model.cost.base.input == Decimal("1.25")
    assert "image" in model.capabilities.input


def test_without_picks_all_current_models_are_offered(team: Team) -> None:
    make_openai(team)
    models = effective_providers(team)["openai"].models
    catalog = catalog_models("openai")
    assert "gpt-5" in models
    assert len(models) < len(catalog)
    assert all(model.status != "deprecated" for model in models.values())


def test_picked_models_are_the_only_ones(team: Team, alice: User) -> None:
    row = make_openai(team)
    actions.pick_models(row, actor=alice, models={"gpt-5": {"name": "Ours"}, "gpt-4": {}})
    models = effective_providers(team)["openai"].models
    assert list(models) == ["gpt-4", "gpt-5"]
    assert models["gpt-5"].name == "Ours"
    assert models["gpt-5"].limit.context == 400_000
    assert models["gpt-4"].status == "deprecated"


def test_an_own_server_offers_what_was_added(team: Team, alice: User) -> None:
    row = make_provider(team)
    assert "own" not in effective_providers(team)
    actions.pick_models(row, actor=alice, models={"org/m:7b": LIMIT})
    model = resolve_model(team, ModelRef("own", "org/m:7b"))
    assert model.api_model == "org/m:7b"
    assert model.base_url == "https://models.example.com/v1"
    assert not model.api_key


def test_settings_add_models_and_options_over_a_row(team: Team) -> None:
    make_openai(team)
    config = {
        "provider": {
            "openai": {
                "name": "Our OpenAI",
                "options": {"serviceTier": "flex", "apiKey": "ignored", "chunkTimeout": 5000},
                "models": {
                    "gpt-5": {"options": {"reasoningEffort": "low"}},
                    "fast": {"id": "gpt-5-mini", "limit": {"context": 9, "output": 9}},
                },
            }
        }
    }
    assert effective_providers(team, config)["openai"].name == "Our OpenAI"
    big = resolve_model(team, ModelRef("openai", "gpt-5"), config)
    assert big.options == {"serviceTier": "flex", "reasoningEffort": "low"}
    assert big.timeouts.idle == 5
    fast = resolve_model(team, ModelRef("openai", "fast"), config)
    assert (fast.api_model, fast.limit.context) == ("gpt-5-mini", 9)
    assert fast.api_key.reveal() == KEY


def test_settings_cannot_send_a_stored_key_to_another_address(team: Team, alice: User) -> None:
    row = make_provider(team, key=KEY)
    actions.pick_models(row, actor=alice, models={"m": LIMIT})
    config = block(
        options={"baseURL": "https://evil.example.com/v1"},
        npm="@ai-sdk/anthropic",
        api="https://evil.example.com/v1",
        models={"m": {"provider": {"api": "https://evil.example.com", "npm": "x"}}},
    )
    model = resolve_model(team, ModelRef("own", "m"), config)
    assert model.base_url == "https://models.example.com/v1"


@pytest.mark.parametrize(
    "said",
    [
        {"npm": "@ai-sdk/groq"},
        {"npm": "@ai-sdk/azure", "options": {"resourceName": "evil"}},
        {"models": {"gpt-5": {"provider": {"npm": "@ai-sdk/groq"}}}},
        {"models": {"gpt-5": {"provider": {"npm": "@ai-sdk/groq", "api": "https://evil.example"}}}},
        {"models": {"new": {**LIMIT, "provider": {"npm": "@ai-sdk/anthropic"}}}},
        {"options": {"baseURL": "https://evil.example/v1", "endpoint": "https://evil.example"}},
    ],
    ids=str,
)
def test_settings_cannot_send_a_stored_key_to_another_vendor(team: Team, said: Any) -> None:
    make_openai(team)
    config = {"provider": {"openai": said}}
    for name in said.get("models", {"gpt-5": {}}):
        model = resolve_model(team, ModelRef("openai", name), config)
        assert model.api_key.reveal() == KEY
        url = build(request := make_request(model), route_of(request)).url
        assert str(url) == "https://api.openai.com/v1/responses"


def test_a_row_with_an_address_speaks_the_wire_that_settings_name(team: Team) -> None:
    row = make_provider(team, key=KEY)
    actions.pick_models(row, actor=None, models={"m": LIMIT})
    model = resolve_model(team, ModelRef("own", "m"), block(npm="@ai-sdk/anthropic"))
    assert model.npm == "@ai-sdk/anthropic"
    assert model.base_url == "https://models.example.com/v1"


def test_a_provider_can_come_from_settings_alone(team: Team) -> None:
    config = block(
        npm="@ai-sdk/openai-compatible",
        options={"baseURL": "http://127.0.0.1:11434/v1", "headers": {"X-Team": "a"}},
        models={"m": {**LIMIT, "headers": {"X-Model": "b"}}},
    )
    model = resolve_model(team, ModelRef("own", "m"), config)
    assert (model.base_url, model.npm) == (
        "http://127.0.0.1:11434/v1",
        "@ai-sdk/openai-compatible",
    )
    assert model.headers == {"X-Team": "a", "X-Model": "b"}
    assert not Credential.objects.exists()


def test_a_team_without_config_argument_uses_its_own(team: Team) -> None:
    team.config = block(options={"baseURL": "https://x.example/v1"}, models={"m": LIMIT})
    assert resolve_model(team, ModelRef("own", "m")).base_url == "https://x.example/v1"


def test_whitelist_and_blacklist_narrow_the_models(team: Team) -> None:
    make_openai(team)
    config = {
        "provider": {"openai": {"whitelist": ["gpt-5", "gpt-5-mini"], "blacklist": ["gpt-5"]}}
    }
    assert list(effective_providers(team, config)["openai"].models) == ["gpt-5-mini"]


@pytest.mark.parametrize(
    "config", [{"disabled_providers": ["openai"]}, {"enabled_providers": ["anthropic"]}]
)
def test_settings_switch_providers_off(team: Team, config: Any) -> None:
    make_openai(team)
    assert effective_providers(team, config) == {}


def test_a_disabled_provider_is_not_offered(team: Team, alice: User) -> None:
    actions.update_provider(make_openai(team), actor=alice, enabled=False)
    assert list_providers(team) == []


@pytest.mark.parametrize(
    ("change", "config", "name"),
    [
        ({"picked": {"gpt-5-mini": {}}}, {}, "GPT-5"),
        ({"enabled": False}, {}, "OpenAI"),
        ({}, {"disabled_providers": ["openai"]}, "OpenAI"),
    ],
)
def test_what_is_switched_off_is_refused_with_what_to_do(
    change: dict[str, Any], config: dict[str, Any], name: str, team: Team
) -> None:
    row = make_openai(team)
    ProviderConfig.objects.filter(pk=row.pk).update(**change)
    with pytest.raises(Invalid, match=f"^{name} is switched off for this team. Choose another"):
        resolve_model(team, ModelRef("openai", "gpt-5"), config)


def test_another_teams_provider_does_not_exist(team: Team, charlie: User) -> None:
    make_openai(Team.objects.get(slug="globex"))
    with pytest.raises(NotFound):
        resolve_model(team, ModelRef("openai", "gpt-5"))


def test_a_missing_model_comes_with_suggestions(team: Team) -> None:
    make_openai(team)
    with pytest.raises(
        NotFound, match=r"Model not found: openai/gtp-5\. Did you mean: .*gpt-5"
    ) as info:
        resolve_model(team, ModelRef("openai", "gtp-5"))
    assert len(info.value.data["suggestions"]) == 3


def test_a_missing_key_is_said_before_the_call(team: Team) -> None:
    make_openai(team, key="")
    with pytest.raises(Invalid, match="no credential for OpenAI"):
        resolve_model(team, ModelRef("openai", "gpt-5"))


def test_a_key_of_another_secret_key_is_said_in_words(team: Team, settings: Any) -> None:
    make_openai(team)
    settings.SECRET_KEY = "another-" + "y" * 40
    with pytest.raises(Invalid, match="Enter it again"):
        resolve_model(team, ModelRef("openai", "gpt-5"))


def test_a_private_address_is_refused_where_the_operator_says_so(team: Team, settings: Any) -> None:
    settings.ALLOWED_PRIVATE_ADDRESSES = []
    config = block(options={"baseURL": "http://10.0.0.5/v1"}, models={"m": LIMIT})
    with pytest.raises(Invalid, match="private"):
        resolve_model(team, ModelRef("own", "m"), config)


def test_a_variant_adds_its_options(team: Team) -> None:
    make_openai(team)
    model = resolve_model(team, ModelRef("openai", "gpt-5", "high"))
    assert model.options["reasoningEffort"] == "high"
    with pytest.raises(Invalid, match="It has: minimal, low, medium, high"):
        resolve_model(team, ModelRef("openai", "gpt-5", "huge"))


@pytest.mark.parametrize(
    ("config", "where"),
    [
        ({"provider": []}, "must be an object"),
        ({"provider": {"x": {"models": {"m": {"limit": {"context": "many"}}}}}}, "limit.context"),
        (
            {"provider": {"x": {"options": {"headers": {"Authorization": "s3cret"}}}}},
            "Authorization",
        ),
        ({"provider": {"x": {"models": {"m": {"headers": {"x-api-key": "s3cret"}}}}}}, "x-api-key"),
    ],
)
def test_malformed_settings_are_refused_by_field(team: Team, config: Any, where: str) -> None:
    with pytest.raises(Invalid, match=where) as info:
        effective_providers(team, config)
    assert "s3cret" not in info.value.message


def test_the_default_is_a_real_model_that_has_answered_before_the_demo(
    team: Team, alice: User
) -> None:
    actions.create_demo(team, actor=alice)
    assert default_model(team) == ModelRef("demo", "tour")
    make_openai(team)
    assert default_model(team) == ModelRef("demo", "tour")
    actions.note_success(resolve_model(team, ModelRef("openai", "gpt-5")))
    assert not resolve_model(team, ModelRef("openai", "gpt-5")).is_unproven
    assert default_model(team).provider_id == "openai"
    assert default_model(team).model_id == "gpt-6-sol"
    assert default_model(team, config={"model": "demo/inline"}) == ModelRef("demo", "inline")
    assert default_model(team, wanted="openai/gpt-4.1") == ModelRef("openai", "gpt-4.1")
    assert default_model(team, wanted="openai/gone", config={"model": "demo/tour"}) == ModelRef(
        "demo", "tour"
    )


def test_a_new_account_takes_the_place_of_no_default_that_works(team: Team, alice: User) -> None:
    make_openai(team)
    actions.note_success(resolve_model(team, ModelRef("openai", "gpt-5")))
    anthropic = make_provider(
        team, ProviderKind.ANTHROPIC, name="Anthropic", provider_id="anthropic", key=KEY
    )
    assert default_model(team).provider_id == "openai"
    actions.record_test(anthropic, actor=alice, error=AuthError("no"))
    actions.note_success(resolve_model(team, ModelRef("anthropic", "claude-opus-5-5")))
    assert default_model(team).provider_id == "openai"
    # A failed call alone takes nothing back, and without any that answered the untested one counts.
    ProviderConfig.objects.update(answered_at=None)
    assert default_model(team).provider_id == "openai"


def test_a_team_without_models_is_told_what_to_do(team: Team) -> None:
    with pytest.raises(Invalid, match="Add a provider"):
        default_model(team)


def test_a_ref_keeps_slashes_of_the_models_own_id() -> None:
    assert parse_ref("openrouter/z-ai/glm-4.6") == ModelRef("openrouter", "z-ai/glm-4.6")
    with pytest.raises(Invalid):
        parse_ref("gpt-5")


def test_the_wire_shape_is_complete_and_holds_no_key(team: Team) -> None:
    make_openai(team)
    wire = list_providers(team)[0].to_wire()
    assert wire.keys() == {"id", "name", "source", "env", "options", "models"}
    assert wire["source"] == "api"
    model: Any = wire["models"]["gpt-5.4"]
    assert model["api"] == {"id": "gpt-5.4", "url": "", "npm": "@ai-sdk/openai"}
    assert model["capabilities"]["input"] == {
        "text": True, "audio": False, "image": True, "video": False, "pdf": True,
    }  # fmt: skip
    assert model["capabilities"]["interleaved"] is False
    assert model["cost"]["tiers"] == [
        {
            "input": 5.0,
            "output": 22.5,
            "cache": {"read": 0.5, "write": 0.0},
            "tier": {"type": "context", "size": 272000},
        }
    ]
    assert model["limit"] == {"context": 1050000, "output": 128000, "input": 922000}
    assert model["release_date"] == "2026-03-05"
    assert model.keys() >= {"options", "headers", "variants", "status", "family", "name"}
    assert KEY not in json.dumps(wire)


def test_known_providers_can_be_reached() -> None:
    known = known_providers()
    assert len(known) > 100
    for one in known:
        assert has_adapter(one.npm)
        assert one.base_url or one.template or one.npm != "@ai-sdk/openai-compatible"
        assert "${" not in one.base_url
    groq = known_provider("groq")
    assert groq is not None
    assert groq.npm == "@ai-sdk/groq"


def test_a_provider_without_its_key_is_no_default_until_it_is_named(
    team: Team, alice: User
) -> None:
    row = make_openai(team)
    row.credential.delete()
    with pytest.raises(Invalid, match="A key is still missing for"):
        default_model(team)
    actions.create_demo(team, actor=alice)
    assert default_model(team) == ModelRef("demo", "tour")
    assert default_model(team, wanted="openai/gpt-4.1") == ModelRef("openai", "gpt-4.1")
    assert keyless_providers(effective_providers(team).values()) == {"openai"}


def test_the_name_of_an_azure_resource_is_where_its_key_goes_and_stays(
    team: Team, alice: User
) -> None:
    options = {"apiKey": KEY, "resourceName": "acme", "apiVersion": "preview"}
    config = {"provider": {"azure": {"options": options}}}
    team.config = actions.absorb_keys(team, config, actor=alice)
    team.save()
    elsewhere = {"provider": {"azure": {"options": {"resourceName": "evil"}}}}
    for settings in (team.config, elsewhere):
        model = resolve_model(team, ModelRef("azure", "gpt-5.2"), settings)
        url = route_of(make_request(model)).url
        assert url.startswith("https://acme.openai.azure.com/openai/v1/responses?api-version=")
    moved = {"provider": {"azure": {"options": {**options, "resourceName": "other"}}}}
    actions.absorb_keys(team, moved, actor=alice)
    row = ProviderConfig.objects.get(team=team, provider_id="azure")
    assert row.base_url == "https://other.openai.azure.com/openai/v1"


def test_the_keys_of_a_cloud_account_are_taken_out_of_settings(team: Team, alice: User) -> None:
    secrets = {"accessKeyId": "AKIAEXAMPLE1234567", "secretAccessKey": "never-in-settings"}
    block = {"options": {"region": "eu-central-1", **secrets}}
    config = actions.absorb_keys(team, {"provider": {"amazon-bedrock": block}}, actor=alice)
    assert "never-in-settings" not in str(config)
    stored = Credential.objects.get(provider__team=team)
    assert "never-in-settings" not in stored.secret
    ref = ModelRef("amazon-bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0")
    model = resolve_model(team, ref, config)
    request = make_request(model)
    sent = build(request, route_of(request))
    assert sent.url.host == "bedrock-runtime.eu-central-1.amazonaws.com"
    assert "/eu-central-1/bedrock/aws4_request" in sent.headers["authorization"]
    assert "never-in-settings" not in str(sent.headers)
    assert keyless_providers(effective_providers(team, config).values()) == set()
