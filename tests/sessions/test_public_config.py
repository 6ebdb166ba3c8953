from __future__ import annotations

from typing import Any

import pytest

from opencode_web.lib.errors import Invalid
from sessions.config.public import MASK, keep_masked, public_config

SECRET = "s3cret-value"
OPTIONS = {"baseURL": "http://x/v1", "timeout": 5, "setCacheKey": True}


def in_options(**values: Any) -> dict[str, Any]:
    return {"provider": {"mine": {"options": values}}}


def test_what_can_be_secret_is_masked_and_comes_back_unharmed(subtests: pytest.Subtests) -> None:
    cases = [
        {"mcp": {"x": {"headers": {"Authorization": SECRET}}}},
        {"mcp": {"x": {"environment": {"A": {"deep": [SECRET]}}}}},
        {"mcp": {"x": {"oauth": {"clientSecret": SECRET, "clientId": SECRET}}}},
        {"formatter": {"black": {"environment": {"A": SECRET}}}},
        in_options(headers={"X-Anything": SECRET}),
        in_options(accessKeyId=SECRET),
        in_options(somethingNew=SECRET),
        in_options(somethingNew={"deep": [SECRET]}),
        {"provider": {"mine": {"models": {"m": {"headers": {"X": SECRET}}}}}},
        {"provider": {"mine": {"models": {"m": {"options": {"apiKey": SECRET}}}}}},
        {"plugins": [{"github_token": SECRET}]},
        {"anything": {"privateKey": SECRET, "password": SECRET, "dbPassword": SECRET}},
        {"env": {"A": SECRET}},
    ]
    for config in cases:
        with subtests.test(config=config):
            shown = public_config(config)
            assert SECRET not in str(shown)
            assert MASK in str(shown)
            assert keep_masked(shown, config) == config


def test_what_is_not_secret_is_shown(subtests: pytest.Subtests) -> None:
    cases = [
        in_options(**OPTIONS),
        {"permission": {"bash": {"cat secret": "deny"}, "token": "ask"}},
        {"agent": {"secret": {"prompt": "x", "permission": {"key": "deny"}}}},
        {"provider": {"key": {"name": "Key", "env": ["MY_API_KEY"], "models": {"token": {}}}}},
        {"provider": {"x": {"models": {"m": {"options": {"max_tokens": 5}}}}}},
        {"mcp": {"token": {"type": "remote", "url": "https://x", "oauth": False}}},
        {"model": "demo/tour", "instructions": ["a.md"]},
    ]
    for config in cases:
        with subtests.test(config=config):
            assert public_config(config) == config


def test_a_mask_without_a_stored_value_is_left_out() -> None:
    assert keep_masked({"a": {"b": MASK, "c": 1}, "d": MASK}, {}) == {"a": {"c": 1}}
    assert keep_masked({"a": {"b": MASK}}, {"a": {"b": {"c": 1}}}) == {"a": {}}


def test_a_mask_in_a_list_needs_its_value() -> None:
    assert keep_masked({"a": [MASK, 2]}, {"a": ["x", 1]}) == {"a": ["x", 2]}
    with pytest.raises(Invalid, match=r"a\.1"):
        keep_masked({"a": [1, MASK]}, {"a": [1]})
