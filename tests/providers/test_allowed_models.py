from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.errors import Invalid
from providers.account_model import with_options
from providers.effective import effective_provider, effective_providers
from providers.llm.messages import ModelRef
from providers.resolve import default_model, resolve_model
from teams.models import Team
from tests.providers.test_resolve import make_openai

pytestmark = pytest.mark.django_db
MINI, BIG = ModelRef("openai", "gpt-5-mini"), ModelRef("openai", "gpt-5")


def only(*patterns: str) -> dict[str, Any]:
    return {"limits": {"models": list(patterns)}}


def offered(team: Team, config: dict[str, Any]) -> set[str]:
    found = effective_providers(team, config).values()
    return {f"{one.id}/{key}" for one in found for key in one.models}


def test_what_is_not_on_the_list_is_neither_offered_nor_taken(team: Team) -> None:
    make_openai(team)
    team.config = only("openai/*-mini", "anthropic/*")
    assert "openai/gpt-5-mini" in offered(team, team.config)
    assert "openai/gpt-5" not in offered(team, team.config)
    one = effective_provider(team, "openai", team.config)
    assert one is not None
    assert "gpt-5" not in one.models
    assert default_model(team).model_id.endswith("-mini")
    assert resolve_model(team, MINI).ref == MINI
    with pytest.raises(Invalid, match=r"is not among the allowed models\. Choose another model"):
        resolve_model(team, BIG)


def test_a_project_narrows_the_list_of_its_team_and_cannot_widen_it(team: Team) -> None:
    make_openai(team)
    team.config = only("openai/gpt-5-mini", "openai/gpt-5-nano")
    assert offered(team, only("openai/gpt-5-mini")) == {"openai/gpt-5-mini"}
    assert offered(team, only("*")) == {"openai/gpt-5-mini", "openai/gpt-5-nano"}
    assert offered(team, only()) == set()
    with pytest.raises(Invalid, match="not among the allowed"):
        resolve_model(team, BIG, only("*"))


def test_no_option_has_a_model_called_that_is_not_on_a_list(team: Team) -> None:
    make_openai(team)
    routing: dict[str, Any] = {"models": ["gpt-5"], "Fallbacks": ["gpt-5"], "route": "fallback"}
    hosts: Any = {"gateway": {"only": ["azure"]}}
    nested: Any = {"providerOptions": {"gateway": {**hosts["gateway"], "models": ["gpt-5"]}}}
    said: Any = {"options": {**nested, "seed": 1}, "variants": {"v": {**routing, "top_k": 2}}}
    block = {"openai": {"options": routing, "models": {"gpt-5-mini": said}}}
    team.config = {"provider": block}
    ref = ModelRef("openai", "gpt-5-mini", "v")
    assert with_options(resolve_model(team, ref), routing).options.keys() >= routing.keys()
    team.config = {"provider": block, **only("openai/gpt-5-mini")}
    model = with_options(resolve_model(team, ref), {**routing, "temperature": 0})
    # Who serves it is not a matter of the list.
    left = {"providerOptions": hosts, "seed": 1, "top_k": 2, "temperature": 0}
    assert model.options == left


def test_no_option_has_a_model_called_that_a_budget_does_not_count(team: Team) -> None:
    make_openai(team)
    routing: dict[str, Any] = {"models": ["gpt-5"], "route": "fallback"}
    said: Any = {"gpt-5-mini": {"options": {**routing, "seed": 1}}}
    team.config = {"provider": {"openai": {"models": said}}}
    assert resolve_model(team, MINI).options.keys() >= routing.keys()
    team.has_budgets = True
    assert with_options(resolve_model(team, MINI), routing).options == {"seed": 1}


def test_the_list_of_the_server_holds_for_every_team(
    team: Team, settings: Any, tmp_path: Path
) -> None:
    make_openai(team)
    file = tmp_path / "server.json"
    file.write_text('{"limits": {"models": ["openai/gpt-5-mini"]}}')
    settings.INSTANCE_CONFIG = str(file)
    assert offered(team, only("openai/*")) == {"openai/gpt-5-mini"}


def test_another_name_for_a_model_neither_gets_around_a_list_nor_is_refused_by_it(
    team: Team,
) -> None:
    make_openai(team)
    names = {"gpt-5-mini-2": {"id": "gpt-5"}, "ours": {"id": "gpt-5-mini"}}
    team.config = {**only("openai/gpt-5-mini*"), "provider": {"openai": {"models": names}}}
    assert "openai/ours" in offered(team, team.config)
    assert "openai/gpt-5-mini-2" not in offered(team, team.config)
    assert resolve_model(team, ModelRef("openai", "ours")).api_model == "gpt-5-mini"
    with pytest.raises(Invalid, match="not among the allowed"):
        resolve_model(team, ModelRef("openai", "gpt-5-mini-2"))
    # Nor does a model of the catalog that the settings make another one.
    team.config["provider"]["openai"]["models"] = {"gpt-5-mini": {"id": "gpt-5"}}
    with pytest.raises(Invalid, match="not among the allowed"):
        resolve_model(team, MINI)
