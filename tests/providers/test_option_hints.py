from __future__ import annotations

import logging

import pytest

from opencode_web.lib.json import JsonObject
from providers.effective import effective_providers
from providers.option_hints import log_unused, option_hints
from providers.resolve import parse_ref, resolve_model
from teams.models import Team
from tests.providers.factories import KEY, make_openai

pytestmark = pytest.mark.django_db


def hints(team: Team, config: JsonObject) -> list[str]:
    return option_hints(config, effective_providers(team, config), "openai/gpt-5.4")


def test_an_option_that_nothing_reads_is_named_with_its_place(team: Team) -> None:
    make_openai(team, key=KEY)
    options: JsonObject = {"apiTokens": "x", "timeout": 1000, "setCacheKey": True}
    config: JsonObject = {"provider": {"openai": {"options": options}}}
    assert hints(team, config) == [
        "provider.openai.options: these options have no effect: apiTokens."
    ]


def test_an_option_for_all_models_has_to_fit_one_of_them(team: Team) -> None:
    make_openai(team, key=KEY)
    options: JsonObject = {"reasoningEffort": "low", "thinkingConfig": {"thinkingLevel": "low"}}
    config: JsonObject = {"provider": {"openai": {"options": options}}}
    assert hints(team, config) == [
        "provider.openai.options: these options have no effect: thinkingConfig."
    ]


def test_options_of_models_variants_and_agents_are_looked_at(team: Team) -> None:
    make_openai(team, key=KEY)
    model: JsonObject = {
        "options": {"effort": "low", "store": True},
        "variants": {"quick": {"reasoningEffort": "low", "budget": 1}},
    }
    config: JsonObject = {
        "provider": {"openai": {"models": {"gpt-5.4": model}}},
        "agent": {
            "one": {"options": {"speed": "fast", "serviceTier": "flex"}},
            "two": {"model": "gone/gone", "options": {"speed": "fast"}},
        },
    }
    assert [
        hint.partition(": these options have no effect: ")[::2] for hint in hints(team, config)
    ] == [
        ("provider.openai.models.gpt-5.4.options", "effort."),
        ("provider.openai.models.gpt-5.4.variants.quick", "budget."),
        ("agent.one.options", "speed."),
    ]


def test_settings_without_options_have_no_hints(team: Team) -> None:
    make_openai(team, key=KEY)
    assert hints(team, {"agent": {"one": {"prompt": "x"}}, "provider": {"openai": {}}}) == []


def test_a_call_logs_what_it_leaves_out_once(team: Team, caplog: pytest.LogCaptureFixture) -> None:
    make_openai(team, key=KEY)
    models: JsonObject = {"gpt-5.4": {"options": {"logged_once": 1, "store": True}}}
    config: JsonObject = {"provider": {"openai": {"models": models}}}
    model = resolve_model(team, parse_ref("openai/gpt-5.4"), config)
    with caplog.at_level(logging.WARNING):
        log_unused(model)
        log_unused(model)
    assert [record.getMessage() for record in caplog.records] == [
        "option without effect: model=openai/gpt-5.4 option=logged_once"
    ]
