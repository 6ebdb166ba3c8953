"""What a team's settings can do with an account of the instance or of a person."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from opencode_web.lib.errors import Invalid, NotFound
from providers import actions
from providers.account_model import AccountModel, with_options
from providers.funding import UnpricedModel, require_price
from providers.kinds import ProviderKind
from providers.llm.connection import build
from providers.llm.messages import ModelRef
from providers.llm.route import route_of
from providers.models import ProviderConfig
from providers.resolve import resolve_model
from teams.access import access_team
from teams.actions.budget_limits import put_instance_limit
from teams.actions.budgets import change_budgets
from teams.budgets import Limit, Scope
from teams.models import OwnAccounts, Period, Team, User
from tests.factories import make_user
from tests.providers.factories import make_provider
from tests.providers.requests import make_request

pytestmark = pytest.mark.django_db

HOST = "https://gw.example.com/v1"
PRICE: Any = {"input": 5, "output": 5}


@pytest.fixture
def instance() -> ProviderConfig:
    row = actions.create_provider(
        None,
        actor=None,
        kind=ProviderKind.COMPATIBLE,
        name="Shared",
        provider_id="own",
        base_url=HOST,
        key="sk-instance-key",
    )
    return actions.pick_models(row, actor=None, models={"m": {"name": "M", "cost": PRICE}})


def resolved(team: Team, block: Any, model_id: str = "m") -> AccountModel:
    return resolve_model(team, ModelRef("own", model_id), {"provider": {"own": block}})


def test_settings_add_no_model_to_those_that_operators_have_picked(
    team: Team, instance: ProviderConfig
) -> None:
    block = {"models": {"dear": {"id": "gpt-dearest", "cost": {"input": 0, "output": 0}}}}
    with pytest.raises(NotFound):
        resolved(team, block, "dear")


def test_settings_change_neither_which_model_it_is_nor_its_price_nor_where_it_is(
    team: Team, instance: ProviderConfig
) -> None:
    plain = resolved(team, {})
    model = resolved(
        team,
        {
            "npm": "@ai-sdk/openai",
            "options": {"headers": {"X-Team": "a"}, "models": ["gpt-dearest"]},
            "models": {
                "m": {
                    "id": "gpt-dearest",
                    "cost": {"input": 0, "output": 0},
                    "headers": {"X-Model": "b"},
                    "provider": {"npm": "@ai-sdk/openai", "api": f"{HOST}/elsewhere"},
                    "experimental": {"modes": {"x": {"cost": {"input": 0, "output": 0}}}},
                    "supported_endpoints": ["/elsewhere"],
                    "options": {"models": ["gpt-dearest"], "route": "fallback", "seed": 1},
                    "variants": {"fast": {"provider": {"only": ["dear"]}, "seed": 2}},
                }
            },
        },
    )
    assert (model.api_model, model.cost, model.npm) == ("m", plain.cost, plain.npm)
    assert (model.base_url, model.headers, model.connection) == (HOST, {}, {})
    assert model.options == {"seed": 1}
    assert with_options(model, {"models": ["x"], "top_k": 3}).options == {"seed": 1, "top_k": 3}


def test_no_team_takes_the_servers_own_account_out_of_the_servers_budget(
    team: Team, alice: User, instance: ProviderConfig
) -> None:
    actions.pick_models(instance, actor=None, models={"m": {"name": "M"}})
    root = make_user("root@example.com", operator=True)
    soft = Limit(Scope.INSTANCE, Period.MONTH, is_soft=True)
    put_instance_limit(root, soft, amount=Decimal(1))
    change_budgets(
        access_team(alice, team.pk), team=Decimal(1), each=None, members={}, allows_unpriced=True
    )
    team.refresh_from_db()
    require_price(resolved(team, {}), team)
    put_instance_limit(root, replace(soft, is_soft=False), amount=Decimal(1))
    with pytest.raises(UnpricedModel, match="budget of this server"):
        require_price(resolved(team, {}), team)
    own = make_provider(team, key="key-one", provider_id="ours")
    actions.pick_models(own, actor=None, models={"m": {}})
    require_price(resolve_model(team, ModelRef("ours", "m")), team)


def test_settings_still_say_how_a_model_is_asked_and_leave_some_out(
    team: Team, instance: ProviderConfig
) -> None:
    limit: Any = {"context": 1_000, "output": 100}
    said: Any = {"name": "Ours", "limit": limit, "variants": {"calm": {"temperature": 0}}}
    block = {"options": {"timeout": 900_000}, "models": {"m": said}}
    model = resolve_model(team, ModelRef("own", "m", "calm"), {"provider": {"own": block}})
    assert (model.name, model.limit.context, model.timeouts.total) == ("Ours", 1_000, 900)
    assert model.options == {"temperature": 0}
    with pytest.raises(NotFound):
        resolved(team, {"blacklist": ["m"]})


def test_the_settings_of_a_team_count_in_full_for_its_own_account(team: Team) -> None:
    actions.pick_models(make_provider(team, key="key-one"), actor=None, models={"m": {}})
    over: Any = {"id": "other", "cost": {"input": 1, "output": 2}, "headers": {"X-Model": "b"}}
    model = resolved(team, {"models": {"dear": over}, "options": {"models": ["x"]}}, "dear")
    assert (model.api_model, model.cost.base.input) == ("other", Decimal(1))
    assert model.headers == over["headers"]


def test_settings_add_no_header_to_what_a_persons_key_goes_with(team: Team, alice: User) -> None:
    team.own_accounts = OwnAccounts.ANY
    team.save()
    openai: Any = {"kind": ProviderKind.OPENAI, "name": "OpenAI", "provider_id": "openai"}
    actions.create_provider(alice, actor=alice, key="sk-own-abcdefghijkl", **openai)
    config: Any = {"provider": {"openai": {"options": {"headers": {"X-Forward": "evil"}}}}}
    model = resolve_model(team, ModelRef("openai", "gpt-4.1"), config, user=alice)
    assert model.is_personal
    assert model.headers == {}


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "connection"])
@pytest.mark.parametrize("is_of_model", [False, True])
def test_a_header_that_steers_the_connection_is_refused(
    team: Team, name: str, is_of_model: bool
) -> None:
    headers: Any = {"headers": {name: "evil.example.net"}}
    block = {"models": {"m": headers}} if is_of_model else {"options": headers}
    with pytest.raises(Invalid, match=name):
        resolved(team, block)
    row = make_provider(team, key="key-one")
    with pytest.raises(Invalid, match=name):
        actions.pick_models(row, actor=None, models={"m": headers})


def test_a_header_that_was_stored_before_is_not_sent(team: Team) -> None:
    row = make_provider(team, key="key-one")
    row.picked = {"m": {"headers": {"Host": "evil.example.net", "X-Model": "b"}}}
    row.save()
    request = make_request(resolved(team, {}))
    sent = build(request, route_of(request))
    assert sent.headers["host"] == "models.example.com"
    assert sent.headers["x-model"] == "b"


def test_a_models_own_address_does_not_leave_https(team: Team) -> None:
    row = make_provider(team, key="key-one", base_url=HOST)
    wire: Any = {"npm": "@ai-sdk/openai", "api": "http://gw.example.com/elsewhere"}
    actions.pick_models(row, actor=None, models={"m": {"provider": wire}})
    assert resolved(team, {}).base_url == HOST
