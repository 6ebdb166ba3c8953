from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from django.db import transaction

from opencode_web.lib.db import close_pool, in_db
from providers import actions
from providers.actions.room import take_key
from providers.funding import fund
from providers.health import MAX_FAILURES, AddressResting, KeyResting
from providers.kinds import ProviderKind
from providers.llm.events import Failed, Finished, StreamEvent
from providers.llm.messages import ModelRef
from providers.models import Credential, ProviderConfig
from providers.resolve import resolve_model
from providers.stream import stream
from teams.models import Team, User
from tests.factories import make_team
from tests.providers.requests import make_request
from tests.providers.servers import OpenAIServer, Reply

pytestmark = pytest.mark.django_db(transaction=True)

FINE = Reply(text="Hello.")
DOWN = Reply(status=503, error={"error": {"message": "We are down."}})
FORBIDDEN = Reply(status=403, error={"error": {"message": "Not for you."}})
OF_MODEL = Reply(status=403, error={"error": {"message": "x", "code": "model_not_found"}})
SLOW = Reply(status=429, error={"error": {"message": "Slow down."}})
REFUSED = Reply(status=401, error={"error": {"message": "Invalid key."}})
OPENS = MAX_FAILURES + 3


@pytest.fixture(scope="module", autouse=True)
def close_pool_connections(django_db_setup: None) -> Iterator[None]:
    yield
    close_pool()


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer([FINE]) as running:
        yield running


@pytest.fixture
def others(bob: User) -> Team:
    return make_team(bob, name="Others")


@pytest.fixture
def row(server: OpenAIServer) -> ProviderConfig:
    found = actions.create_provider(
        None,
        actor=None,
        kind=ProviderKind.COMPATIBLE,
        name="Shared",
        provider_id="own",
        base_url=server.base_url,
        key="sk-instance-key",
    )
    return actions.pick_models(found, actor=None, models={"m": {"name": "M"}})


async def ask(
    team: Team, server: OpenAIServer, reply: Reply, *, user: User | None = None, call: str = "ses_1"
) -> StreamEvent:
    server._replies = [reply]

    def prepare() -> Any:
        with transaction.atomic():
            model = resolve_model(team, ModelRef("own", "m"), user=user)
            asked = replace(make_request(model), session_id=call)
            return take_key(fund(asked, None, call_id=call, user_id=None), call=call)

    request = await in_db(prepare)
    async with aclosing(stream(request)) as events:
        return [event async for event in events][-1]


@pytest.mark.parametrize("reply", [DOWN, FORBIDDEN, OF_MODEL])
async def test_one_team_closes_what_teams_share_with_none_of_its_sessions(
    team: Team, others: Team, row: ProviderConfig, server: OpenAIServer, reply: Reply
) -> None:
    for number in range(OPENS):
        await ask(team, server, reply, call=f"ses_{number}")
    assert isinstance(await ask(others, server, FINE), Finished)
    assert len(server.requests) == OPENS + 1


@pytest.mark.parametrize("reply", [FORBIDDEN, OF_MODEL, SLOW])
async def test_one_team_rests_none_of_several_keys_that_teams_share(
    team: Team, others: Team, row: ProviderConfig, server: OpenAIServer, reply: Reply
) -> None:
    await in_db(lambda: actions.add_key(row, actor=None, key="sk-instance-two"))
    for number in range(OPENS):
        await ask(team, server, reply, call=f"ses_{number}")
    assert not await in_db(lambda: Credential.objects.exclude(open_until=None).exists())
    assert isinstance(await ask(others, server, FINE), Finished)


async def test_one_person_in_two_teams_counts_once(
    team: Team, others: Team, bob: User, row: ProviderConfig, server: OpenAIServer
) -> None:
    for number in range(OPENS):
        await ask((team, others)[number % 2], server, FORBIDDEN, user=bob)
    assert isinstance(await ask(others, server, FINE), Finished)


@pytest.mark.parametrize(("reply", "kind"), [(DOWN, AddressResting), (FORBIDDEN, KeyResting)])
async def test_what_different_teams_meet_closes_it_to_all(
    team: Team, others: Team, row: ProviderConfig, server: OpenAIServer, reply: Reply, kind: Any
) -> None:
    for number in range(MAX_FAILURES):
        await ask((team, others)[number % 2], server, reply)
    event = await ask(team, server, FINE)
    assert isinstance(event, Failed)
    assert type(event.error) is kind


async def test_a_key_that_is_refused_itself_rests_whoever_meets_that(
    team: Team, others: Team, row: ProviderConfig, server: OpenAIServer
) -> None:
    for _ in range(MAX_FAILURES):
        await ask(team, server, REFUSED)
    event = await ask(others, server, FINE)
    assert isinstance(event, Failed)
    assert type(event.error) is KeyResting


async def test_the_only_team_of_a_server_is_protected_as_by_an_account_of_its_own(
    team: Team, row: ProviderConfig, server: OpenAIServer
) -> None:
    for number in range(MAX_FAILURES):
        await ask(team, server, DOWN, call=f"ses_{number}")
    event = await ask(team, server, FINE)
    assert isinstance(event, Failed)
    assert type(event.error) is AddressResting


async def test_a_time_that_settings_have_chosen_speaks_against_no_address(
    team: Team, others: Team, row: ProviderConfig, server: OpenAIServer
) -> None:
    def hurry(config: Any) -> None:
        for one in (team, others):
            one.config = config
            one.save()

    await in_db(hurry, {"provider": {"own": {"options": {"timeout": 1}}}})
    for number in range(OPENS):
        event = await ask((team, others)[number % 2], server, FINE, call=f"ses_{number}")
        assert isinstance(event, Failed)
    await in_db(hurry, {})
    assert isinstance(await ask(others, server, FINE), Finished)
