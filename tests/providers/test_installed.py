from __future__ import annotations

from pathlib import Path

import pytest

from opencode_web.lib.plugins.loading import installed_plugins
from providers.catalog import catalog_models, known_provider
from providers.catalog_file import read_all
from providers.installed import register_installed
from providers.llm.sign_in import sign_in_of
from tests.installed_plugins import loaded, write_package

MODELS = """
    from providers.llm.sign_in import SignIn

    @hookimpl
    def providers():
        described = {"name": "Mine", "npm": "%s", "api": "https://m.example/v1", "models": %s}
        return [PluginProvider("mine", described%s)]
"""
COMPATIBLE = "@ai-sdk/openai-compatible"


def test_fr_03_a_provider_is_known_as_long_as_its_package_is_loaded(tmp_path: Path) -> None:
    write_package(tmp_path, "mine", MODELS % (COMPATIBLE, "{'m': {'name': 'M'}}", ""))
    with loaded(tmp_path):
        register_installed()
        known = known_provider("mine")
        assert known is not None
        assert (known.name, known.base_url) == ("Mine", "https://m.example/v1")
        assert catalog_models("mine") == {"m": {"name": "M"}}
        # What refreshes the catalog keeps it apart.
        assert "mine" not in read_all()
        assert known_provider("openai") is not None
    assert known_provider("mine") is None


@pytest.mark.parametrize(
    ("npm", "models", "more", "why"),
    [
        ("unknown", "{}", "", "mine has no adapter, and unknown is not known here."),
        (COMPATIBLE, "{}", ", sign_in=3", "the sign-in of mine is none, or another provider's."),
        (COMPATIBLE, "{}", ", sign_in=SignIn('poe')", "is none, or another provider's."),
        (COMPATIBLE, "[]", "", "mine has no models."),
        ("", "{}", "", "mine has no name, or no npm."),
    ],
)
def test_one_that_cannot_be_called_says_why(
    tmp_path: Path, npm: str, models: str, more: str, why: str
) -> None:
    poe = sign_in_of("poe")
    write_package(tmp_path, "mine", MODELS % (npm, models, more))
    with loaded(tmp_path):
        register_installed()
        [plugin] = installed_plugins()
        assert why in plugin.failed
        assert known_provider("mine") is None
    assert sign_in_of("poe") is poe
