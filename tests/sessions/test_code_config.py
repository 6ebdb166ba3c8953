from __future__ import annotations

from typing import Any

import pytest

from opencode_web.lib.errors import Invalid
from sessions.config.model import Config, parse_settings
from sessions.config.programs import formatters_of, language_servers
from sessions.config.public import MASK, public_config

MINE = {"command": ["mine"], "extensions": [".my"]}


@pytest.mark.parametrize("settings", [{}, {"lsp": False, "formatter": False}])
def test_both_are_off_until_somebody_wants_them(settings: dict[str, Any]) -> None:
    config = Config.model_validate(settings)
    assert language_servers(config.lsp) == ()
    assert formatters_of(config.formatter) == ()
    assert not config.features().lsp


@pytest.mark.parametrize("value", [True, {}])
def test_a_switch_turns_on_what_is_known(value: Any) -> None:
    config = Config.model_validate({"lsp": value, "formatter": value})
    assert {"pyright", "gopls"} <= {spec.id for spec in language_servers(config.lsp)}
    assert {"ruff", "gofmt"} <= {one.name for one in formatters_of(config.formatter)}
    assert config.features().lsp


def test_an_object_changes_and_adds() -> None:
    servers = {"mine": {**MINE, "env": {"A": "1"}, "initialization": {"x": [1]}}}
    formatters = {"mine": {**MINE, "environment": {"A": "1"}}, "ruff": {"disabled": True}}
    config = parse_settings(
        {"lsp": {**servers, "gopls": {"disabled": True}}, "formatter": formatters}
    )
    specs = {spec.id: spec for spec in language_servers(config.lsp)}
    assert specs["mine"].commands == (("mine",),)
    assert specs["mine"].options == {"x": [1]}
    assert specs["mine"].env == (("A", "1"),)
    assert "gopls" not in specs
    formatted = {one.name: one for one in formatters_of(config.formatter)}
    assert formatted["mine"].env == (("A", "1"),)
    assert not {"ruff", "uv"} & formatted.keys()


def test_what_is_wrong_is_refused_by_its_name(subtests: pytest.Subtests) -> None:
    cases = [
        ({"lsp": {"mine": {"command": ["x"]}}}, "lsp: .*mine is not known here, so it needs"),
        ({"formatter": {"mine": {}}}, "formatter: .*mine is not known here, so it needs"),
        ({"lsp": {"mine": {**MINE, "command": "x"}}}, "lsp.mine.command"),
        ({"lsp": {"mine": {**MINE, "env": {"A": 1}}}}, "lsp.mine.env.A"),
        ({"lsp": "yes"}, "lsp"),
        ({"lsp": {f"s{n}": MINE for n in range(101)}}, "more than 100"),
    ]
    for settings, message in cases:
        with subtests.test(message=message), pytest.raises(Invalid, match=message):
            parse_settings(settings)


def test_variables_of_programs_are_masked() -> None:
    settings: dict[str, Any] = {
        "lsp": {"mine": {**MINE, "env": {"TOKEN": "s3cret"}}},
        "formatter": {"mine": {**MINE, "environment": {"TOKEN": "s3cret"}}},
    }
    shown = public_config(settings)
    assert "s3cret" not in str(shown)
    assert shown["lsp"] == {"mine": {**MINE, "env": {"TOKEN": MASK}}}
