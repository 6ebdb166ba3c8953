from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from opencode_web.lib.errors import Invalid, NotFound
from providers import actions
from providers.access import access_instance_provider, access_own_provider
from providers.effective import effective_providers, keyless_providers
from providers.funding import fund
from providers.kinds import ProviderKind
from providers.llm.messages import ModelRef, ProviderRequest, Text, UserMessage
from providers.models import ProviderConfig
from providers.resolve import default_model, resolve_model
from teams.access import access_team
from teams.actions.budgets import change_budgets
from teams.models import OwnAccounts, Reservation, Team, User
from tests.factories import make_team
from tests.providers.factories import KEY, make_openai

pytestmark = pytest.mark.django_db

GPT = ModelRef("openai", "gpt-4.1")
OWN_KEY = "sk-own-abcdefghijklmnop-1111"
INSTANCE_KEY = "sk-instance-abcdefghijkl-2222"


def make_account(holder: User | None = None, **more: Any) -> ProviderConfig:
    fields = {"name": "OpenAI", "provider_id": "openai", "key": INSTANCE_KEY, "actor": None}
    return actions.create_provider(holder, kind=ProviderKind.OPENAI, **{**fields, **more})


def key_of(team: Team, user: User | None = None, config: Any = None) -> str:
    return resolve_model(team, GPT, config, user=user).api_key.reveal()


def allow(team: Team, policy: OwnAccounts) -> None:
    team.own_accounts = policy
    team.save()


def test_the_account_of_who_prompts_counts_before_the_teams_and_the_instances(
    team: Team, alice: User, bob: User
) -> None:
    make_account()
    assert key_of(team, alice) == INSTANCE_KEY
    make_openai(team)
    assert key_of(team, alice) == KEY
    make_account(alice, key=OWN_KEY)
    assert key_of(team, alice) == OWN_KEY
    assert key_of(team, bob) == KEY
    assert key_of(team) == KEY


def test_an_account_without_a_key_counts_after_one_that_has_it(team: Team, alice: User) -> None:
    row = make_openai(team)
    actions.remove_key(row, actor=alice)
    make_account()
    assert key_of(team, alice) == INSTANCE_KEY
    assert keyless_providers(effective_providers(team).values()) == set()


def test_who_has_signed_out_falls_back_to_the_teams_account(team: Team, alice: User) -> None:
    make_openai(team)
    own = make_account(alice, key=OWN_KEY)
    own.credentials.update(fault="signed-out")
    assert key_of(team, alice) == KEY
    actions.delete_provider(ProviderConfig.objects.get(team=team), actor=alice)
    allow(team, OwnAccounts.ANY)
    with pytest.raises(Invalid, match="Your sign-in to OpenAI has ended"):
        key_of(team, alice)


@pytest.mark.parametrize(
    ("policy", "at_known", "at_unknown"),
    [
        (OwnAccounts.NEVER, KEY, None),
        (OwnAccounts.TEAM, OWN_KEY, None),
        (OwnAccounts.ANY, OWN_KEY, OWN_KEY),
    ],
)
def test_the_policy_of_the_team_says_where_people_use_their_own(
    team: Team, alice: User, policy: OwnAccounts, at_known: str, at_unknown: str | None
) -> None:
    allow(team, policy)
    make_account(alice, key=OWN_KEY)
    if at_unknown is None:
        with pytest.raises(NotFound):
            key_of(team, alice)
    else:
        assert key_of(team, alice) == at_unknown
    make_openai(team)
    assert key_of(team, alice) == at_known


def test_settings_that_name_a_provider_let_people_use_their_own_there(
    team: Team, alice: User
) -> None:
    make_account(alice, key=OWN_KEY)
    config: Any = {"provider": {"openai": {"name": "OpenAI"}}}
    assert key_of(team, alice, config) == OWN_KEY
    assert default_model(team, config=config, user=alice).provider_id == "openai"


def test_an_account_of_the_instance_is_there_for_the_teams_it_is_shared_with(
    team: Team, alice: User, bob: User
) -> None:
    other = make_team(bob, name="Other")
    row = make_account()
    actions.share_provider(row, actor=alice, teams=[other])
    assert key_of(other) == INSTANCE_KEY
    assert effective_providers(team) == {}
    with pytest.raises(NotFound):
        key_of(team)
    actions.share_provider(row, actor=alice, teams=None)
    assert key_of(team) == INSTANCE_KEY


def test_what_a_team_has_switched_off_is_off_for_every_account(team: Team, alice: User) -> None:
    make_account()
    make_account(alice, key=OWN_KEY)
    row = make_openai(team)
    actions.update_provider(row, actor=alice, enabled=False)
    with pytest.raises(Invalid, match="switched off for this team"):
        key_of(team, alice)
    assert effective_providers(team, user=alice) == {}


def test_models_that_admins_have_picked_are_all_there_are(team: Team, alice: User) -> None:
    row = make_openai(team)
    actions.pick_models(row, actor=alice, models={"gpt-4.1": {}})
    make_account(alice, key=OWN_KEY)
    assert [*effective_providers(team, user=alice)["openai"].models] == ["gpt-4.1"]


def test_settings_of_a_team_do_not_move_an_account_that_is_not_the_teams(
    team: Team, alice: User
) -> None:
    actions.create_provider(
        None,
        actor=None,
        kind=ProviderKind.COMPATIBLE,
        name="Azure",
        provider_id="azure",
        key=INSTANCE_KEY,
        connection={"resourceName": "ours"},
    )
    config: Any = {
        "provider": {
            "azure": {"options": {"resourceName": "evil", "baseURL": "https://evil.example/v1"}}
        }
    }
    model = resolve_model(team, ModelRef("azure", "gpt-5.1"), config, user=alice)
    assert model.connection["resourceName"] == "ours"
    assert model.base_url is None


@pytest.mark.parametrize("base_url", ["https://elsewhere.example/v1", "http://127.0.0.1:9/v1"])
def test_people_cannot_give_their_own_accounts_an_address(alice: User, base_url: str) -> None:
    with pytest.raises(Invalid, match="Choose a provider from the catalog"):
        make_account(alice, base_url=base_url)
    with pytest.raises(Invalid, match="Choose a provider from the catalog"):
        make_account(alice, provider_id="mine")


def test_a_person_pays_for_what_their_own_account_is_asked(team: Team, alice: User) -> None:
    make_openai(team)
    make_account(alice, key=OWN_KEY)
    amounts: Any = {"team": Decimal("0.01"), "each": None, "members": {}}
    change_budgets(access_team(alice, team.slug), **amounts)
    team.refresh_from_db()
    model = resolve_model(team, GPT, user=alice)
    asked = ProviderRequest(model, (), (UserMessage((Text("hi"),)),), (), "ses_1")
    funded = fund(asked, team, call_id="one", user_id=alice.pk)
    assert (funded.bound, Reservation.objects.count()) == (None, 0)


def test_only_its_holder_reaches_an_account(team: Team, alice: User, bob: User) -> None:
    own, instance = make_account(alice, key=OWN_KEY), make_account()
    assert access_own_provider(alice, "openai") == own
    with pytest.raises(NotFound):
        access_own_provider(bob, "openai")
    with pytest.raises(NotFound):
        access_instance_provider(bob, "openai")
    bob.is_superuser = True
    assert access_instance_provider(bob, "openai") == instance
