from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from opencode_web.lib.errors import Conflict
from providers import actions
from providers.kinds import ProviderKind
from sessions.actions.change_approval import approve_request
from sessions.actions.change_requests import reject_request, set_approvals
from sessions.actions.settings import update_project_settings, update_team_settings
from sessions.approvals.hold import NeedsApproval
from sessions.models import ChangeKind, ChangeRequest, Project
from teams.actions.budget_limits import put_limit
from teams.models import Team, User
from tests.providers.factories import make_openai, make_provider
from tests.providers.views.test_model_page import facts, page_of
from tests.providers.views.test_pages import url
from tests.sessions.held_changes import HARD, Status, ask, at, of, priced
from tests.sessions.views.test_approvals import read
from tests.sessions.views.whole_settings import save_settings

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
TIER = {"input": 6, "output": 22, "tier": {"type": "context", "size": 200_000}}
DEAR = {"input": 3, "output": 15, "cache_read": 1, "reasoning": 20, "tiers": [TIER]}


@pytest.fixture
def held(team: Team, alice: User, adam: User) -> Team:
    set_approvals(of(alice, team), [ChangeKind.BUDGETS])
    team.refresh_from_db()
    return team


def costs(**models: Any) -> Any:
    return {"provider": {"own": {"models": models}}}


def is_held(user: User, team: Team, patch: Any) -> bool:
    try:
        update_team_settings(of(user, team), patch)
    except NeedsApproval:
        return True
    return False


@pytest.mark.parametrize(
    "lower",
    [
        {"input": 2},
        {"output": 14.99},
        {"cache_read": 0.5},
        {"cache_write": 0.5},
        {"reasoning": 16},
        {"tiers": [{**TIER, "output": 21}]},
        {"tiers": None},
        {"tiers": [TIER, {**TIER, "tier": {"type": "context", "size": 400_000}, "input": 5}]},
    ],
    ids=str,
)
def test_every_price_that_becomes_lower_is_held(team: Team, adam: User, lower: Any) -> None:
    update_team_settings(of(adam, team), costs(m={"cost": DEAR}))
    team.refresh_from_db()
    team.needs_approval = [ChangeKind.BUDGETS]
    team.save()
    assert is_held(adam, team, costs(m={"cost": lower}))
    for higher in ({"input": 4}, {"cache_read": None}, {"tiers": [{**TIER, "input": 7}]}):
        assert not is_held(adam, team, costs(m={"cost": higher}))


def test_what_costs_no_less_is_not_held(held: Team, project: Project, adam: User) -> None:
    assert not is_held(adam, held, priced(2, 20))
    other = {"name": "Five", "limit": {"context": 9_000, "output": 1_000}}
    assert not is_held(adam, held, {"provider": {"openai": {"models": {"gpt-5": other}}}})
    # An end to what has raised it.
    assert is_held(adam, held, {"provider": None})
    # What a project says counts over the team, whose price is another.
    update_project_settings(at(adam, project), priced(3, 30))
    with pytest.raises(NeedsApproval):
        update_project_settings(at(adam, project), priced(2.5, 30))
    with pytest.raises(NeedsApproval):
        update_project_settings(at(adam, project), {"provider": None})


def test_a_price_of_the_account_counts_where_settings_say_none(held: Team, adam: User) -> None:
    row = make_openai(held)
    actions.pick_models(row, actor=None, models={"gpt-5": {"cost": {"input": 5, "output": 50}}})
    assert is_held(adam, held, priced(4, 50))
    assert not is_held(adam, held, priced(6, 50))


def test_another_name_makes_a_model_no_cheaper(held: Team, adam: User) -> None:
    def of_openai(**models: Any) -> Any:
        return {"provider": {"openai": {"models": models}}}

    free = {"input": 0, "output": 0}
    assert is_held(adam, held, of_openai(mine={"id": "gpt-5", "cost": free}))
    # It would be called for the price of the small one.
    assert is_held(adam, held, of_openai(**{"gpt-5-mini": {"id": "gpt-5"}}))
    same = {"input": 1.25, "output": 10, "cache_read": 0.125}
    assert not is_held(adam, held, of_openai(mine={"id": "gpt-5", "cost": same}))


def test_a_model_without_a_price_is_free_or_cannot_be_called(
    held: Team, alice: User, adam: User
) -> None:
    free, dear = ({"cost": {"input": price, "output": price}} for price in (0, 9))
    # No budget holds, so that it has been free before.
    assert not is_held(adam, held, costs(m=dear))
    assert is_held(adam, held, costs(m={"cost": None}))
    put_limit(of(alice, held), HARD, amount=Decimal(10))
    assert not is_held(adam, held, costs(m={"cost": None}))
    assert is_held(adam, held, costs(m=free))
    Team.objects.update(allows_unpriced_models=True)
    assert not is_held(adam, held, costs(m=dear))
    assert is_held(adam, held, costs(m={"cost": None}))


def test_other_settings_of_providers_wait_along_and_no_others(
    held: Team, alice: User, adam: User
) -> None:
    named: Any = {"provider": {"openai": {"name": "Ours", "models": priced_models(0)}}}
    with pytest.raises(Conflict, match="Save them separately"):
        update_team_settings(of(adam, held), {**named, "model": "openai/gpt-5"})
    row = ask(lambda: update_team_settings(of(adam, held), named))
    update_team_settings(of(alice, held), {"model": "openai/gpt-5"})
    assert approve_request(of(alice, held), row).status == Status.APPROVED
    assert Team.objects.get().config == {**named, "model": "openai/gpt-5"}


def priced_models(price: float) -> Any:
    return {"gpt-5": {"cost": {"input": price, "output": price}}}


def test_a_rejected_price_stays(held: Team, alice: User, adam: User) -> None:
    row = ask(lambda: update_team_settings(of(adam, held), priced(0, 0)))
    assert reject_request(of(alice, held), row, note="No").status == Status.REJECTED
    assert Team.objects.get().config == {}


@pytest.mark.parametrize("where", ["settings/config", "p/{project}/settings"])
def test_settings_pages_send_a_request_that_shows_the_prices(
    client_for: ClientFor, held: Team, project: Project, alice: User, adam: User, where: str
) -> None:
    page = f"/t/acme/{where.format(project=project.pk)}"
    text = '{"provider": {"openai": {"models": {"gpt-5": {"cost": {"input": 0, "output": 10}}}}}}'
    answer = save_settings(client_for(adam), page, text)
    assert (answer.status_code, answer["Location"]) == (302, "/t/acme/settings/approvals")
    shown = read(client_for(alice))
    assert "Lower prices of models in the settings of" in shown
    assert "<dt>openai/gpt-5 · Input price</dt> <dd>$1.25 → $0</dd>" in shown
    assert "openai/gpt-5 · Output price<" not in shown
    assert (Team.objects.get().config, Project.objects.get().config) == ({}, {})


def test_pages_of_an_account_send_a_request_that_shows_the_prices(
    client_for: ClientFor, held: Team, alice: User, adam: User
) -> None:
    row = make_openai(held)
    asker, approver = client_for(adam), client_for(alice)
    place = page_of("openai", "gpt-5")
    assert "A second person must approve lower prices." in read(asker, place)
    sent = asker.post(place, facts(asker, place, input_price="0"), follow=True)
    assert sent.redirect_chain == [("/t/acme/settings/approvals", 302)]
    shown = " ".join(sent.content.decode().split())
    assert "Lower prices of models of OpenAI" in shown
    assert "<dt>openai/gpt-5 · Input price</dt> <dd>$1.25 → $0</dd>" in shown
    assert "Alice can decide." in shown
    row.refresh_from_db()
    assert row.picked == {}

    change = ChangeRequest.objects.get()
    approver.post(f"/t/acme/settings/approvals/{change.pk}", {"act": "approve"})
    row.refresh_from_db()
    override: Any = row.picked["gpt-5"]
    assert override["cost"]["input"] == 0
    # What costs more, or nothing else, needs nobody.
    for changed in ({"input_price": "9"}, {"name": "Five"}, {"act": "off"}):
        before = row.picked
        sent = asker.post(place, facts(asker, place, **changed) | changed)
        row.refresh_from_db()
        if changed.get("act") == "off":
            # With the model its price is forgotten, and would be the catalog's again.
            assert (sent["Location"], row.picked) == ("/t/acme/settings/approvals", before)
        else:
            assert (sent["Location"], row.picked != before) == (place, True)


def facts_of(price: int) -> dict[str, int]:
    names = {"context": 9_000, "output": 1_000, "input_price": price, "output_price": price}
    return {f"model-{name}": value for name, value in names.items()}


@pytest.mark.parametrize(
    ("page", "sent"),
    [
        ("model_add", {"model-id": "gpt-5", **facts_of(1)}),
        ("models_pick", {"shown": ["gpt-5", "gpt-5-mini"], "model": ["gpt-5-mini"]}),
        ("check", {"step": "pick", "model": ["gpt-5"], "input:gpt-5": "1", "output:gpt-5": "1"}),
        ("provider_delete", {}),
    ],
)
def test_no_other_page_of_an_account_lowers_a_price(
    client_for: ClientFor, held: Team, adam: User, page: str, sent: Any
) -> None:
    row = make_openai(held)
    raised = {"gpt-5": {"cost": {"input": 5, "output": 50}}, "gpt-5-mini": {}}
    actions.pick_models(row, actor=adam, models=raised)
    answer = client_for(adam).post(url(page, "openai"), sent)
    assert (answer.status_code, answer["Location"]) == (302, "/t/acme/settings/approvals")
    row.refresh_from_db()
    assert row.picked == raised
    assert ChangeRequest.objects.get().told["changes"][0]["after"] in {"1.0", "1.25"}


def test_a_first_price_on_a_page_is_held_where_a_budget_needs_one(
    client_for: ClientFor, held: Team, alice: User, adam: User
) -> None:
    row = make_provider(held)
    actions.pick_models(row, actor=adam, models={"big": {}})
    place = page_of("own", "big")
    put_limit(of(alice, held), HARD, amount=Decimal(10))
    asker = client_for(adam)
    sent = asker.post(place, {"act": "facts", **facts_of(0)})
    assert sent["Location"] == "/t/acme/settings/approvals"
    row.refresh_from_db()
    assert row.picked == {"big": {}}
    change = ChangeRequest.objects.get()
    assert reject_request(of(alice, held), change, note="No").status == Status.REJECTED
    row.refresh_from_db()
    assert row.picked == {"big": {}}


def test_own_accounts_and_those_of_the_server_are_held_by_no_team(
    client_for: ClientFor, held: Team, adam: User
) -> None:
    adam.is_superuser = True
    adam.save()
    for holder, address in ((adam, "/me/models"), (None, "/ops/models")):
        kind, name = ProviderKind.OPENAI, "OpenAI"
        actions.create_provider(holder, actor=adam, kind=kind, name=name, provider_id="openai")
        place = f"{address}/p/openai/m/gpt-5"
        client = client_for(adam)
        assert client.post(place, facts(client, place, input_price="0"))["Location"] == place
