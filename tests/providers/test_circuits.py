from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from opencode_web.lib.db import close_pool, in_db
from providers import actions
from providers.account_model import AccountModel
from providers.funding import fund
from providers.health import (
    MAX_FAILURES,
    MAX_REST_S,
    AddressResting,
    KeyResting,
    Part,
    blamed,
    next_opening,
)
from providers.llm.errors import (
    AuthError,
    BadRequest,
    ContentFiltered,
    NetworkError,
    OverflowError_,
    QuotaExceeded,
    RateLimited,
    ServerError,
    UnknownModel,
)
from providers.llm.events import Failed, Finished, StreamEvent
from providers.llm.messages import ModelRef
from providers.models import Credential, ProviderConfig
from providers.resolve import resolve_model
from providers.stream import stream
from teams.models import Team, User
from tests.providers.factories import make_provider
from tests.providers.requests import make_request
from tests.providers.servers import OpenAIServer, Reply
from tests.races import race

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
DOWN = Reply(status=503, error={"error": {"message": "We are down."}})
REFUSED = Reply(status=401, error={"error": {"message": "Invalid key."}})
FINE = Reply(text="Hello.")


def test_an_error_speaks_against_the_address_the_key_or_neither(subtests: pytest.Subtests) -> None:
    cases = [
        (NetworkError("x"), 0, Part.ADDRESS),
        (ServerError("x"), 0, Part.ADDRESS),
        (AuthError("x"), 0, Part.KEY),
        (QuotaExceeded("x"), 0, Part.KEY),
        (RateLimited("x"), 0, None),
        (RateLimited("x"), 1, Part.KEY),
        (BadRequest("x"), 1, None),
        (UnknownModel("x"), 1, None),
        (ContentFiltered("x"), 1, None),
        (OverflowError_("x"), 1, None),
        (AddressResting("x"), 1, None),
        (KeyResting("x"), 1, None),
    ]
    for error, others, part in cases:
        with subtests.test(error=error, others=others):
            assert blamed(error, others=others) is part


def opening_s(failures: int, **fields: Any) -> float | None:
    given = {"part": Part.ADDRESS, "error": ServerError("x"), "others": 0, **fields}
    until = next_opening(given["part"], failures, given["error"], others=given["others"], now=NOW)
    return (until - NOW).total_seconds() if until else None


def test_a_circuit_opens_at_the_fifth_failure_and_for_longer_each_time() -> None:
    assert [opening_s(n) for n in range(1, MAX_FAILURES)] == [None] * 4
    assert [opening_s(n) for n in range(5, 11)] == [30, 60, 120, 240, 480, MAX_REST_S]
    assert opening_s(10_000) == MAX_REST_S


def test_one_of_several_keys_rests_at_once_as_long_as_its_vendor_asks() -> None:
    assert opening_s(1, part=Part.KEY, error=AuthError("x")) is None
    assert opening_s(1, part=Part.KEY, error=AuthError("x"), others=1) == 30
    slow = RateLimited("x", retry_after_s=7)
    assert opening_s(1, part=Part.KEY, error=slow, others=1) == 7


@pytest.fixture(scope="module", autouse=True)
def close_pool_connections(django_db_setup: None) -> Iterator[None]:
    yield
    close_pool()


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    with OpenAIServer([FINE]) as running:
        yield running


def set_up(team: Team, base_url: str) -> ProviderConfig:
    row = make_provider(team, base_url=base_url, key="key-one")
    actions.pick_models(row, actor=None, models={"m": {"name": "M"}})
    return row


def resolved(team: Team) -> AccountModel:
    return resolve_model(team, ModelRef("own", "m"))


async def ask(team: Team, session_id: str = "ses_1") -> StreamEvent:
    model = await in_db(resolved, team)
    request = await in_db(lambda: fund(make_request(model), None, call_id=session_id, user_id=None))
    async with aclosing(stream(request)) as events:
        return [event async for event in events][-1]


def row_of(team: Team) -> ProviderConfig:
    return ProviderConfig.objects.get(provider_id="own")


def pass_the_rest() -> None:
    past = timezone.now() - timedelta(seconds=1)
    for rows in (ProviderConfig, Credential):
        rows.objects.exclude(open_until=None).update(open_until=past)


def serve(server: OpenAIServer, *replies: Reply) -> None:
    server.requests.clear()
    server._replies = list(replies)


@pytest.mark.django_db(transaction=True)
async def test_an_address_that_fails_five_times_is_not_asked_again_until_one_call_goes_well(
    team: Team, server: OpenAIServer
) -> None:
    await in_db(set_up, team, server.base_url)
    serve(server, DOWN)
    for _ in range(MAX_FAILURES):
        event = await ask(team)
        assert isinstance(event, Failed)
        assert type(event.error) is ServerError
    event = await ask(team)
    assert isinstance(event, Failed)
    assert type(event.error) is AddressResting
    assert event.is_free
    assert event.error.message.startswith("Own server has failed 5 times in a row (ServerError)")
    assert 25 < (event.error.retry_after_s or 0) <= 30
    assert len(server.requests) == MAX_FAILURES

    await in_db(pass_the_rest)
    await ask(team)
    assert len(server.requests) == MAX_FAILURES + 1
    row = await in_db(row_of, team)
    assert row.failures == MAX_FAILURES + 1
    assert timedelta(seconds=50) < row.open_until - timezone.now() <= timedelta(seconds=60)

    await in_db(pass_the_rest)
    serve(server, FINE)
    assert isinstance(await ask(team), Finished)
    row = await in_db(row_of, team)
    assert (row.failures, row.failure, row.open_until) == (0, "", None)


@pytest.mark.django_db(transaction=True)
async def test_a_good_call_forgets_the_failures_before_it(team: Team, server: OpenAIServer) -> None:
    await in_db(set_up, team, server.base_url)
    serve(server, DOWN, DOWN, DOWN, DOWN, FINE, DOWN, DOWN, DOWN, DOWN, FINE)
    for _ in range(10):
        event = await ask(team)
    assert isinstance(event, Finished)
    assert len(server.requests) == 10


@pytest.mark.django_db(transaction=True)
async def test_a_call_that_goes_well_asks_and_writes_nothing(
    team: Team, server: OpenAIServer, django_assert_num_queries: Any
) -> None:
    await in_db(set_up, team, server.base_url)
    # The first one is written down.
    await ask(team)
    model = await in_db(resolved, team)
    assert (model.faults, model.shares, model.is_unproven) == ((), False, False)
    request = fund(make_request(model), None, call_id="x", user_id=None)
    seen: list[Any] = []

    def count(execute: Any, sql: str, *rest: Any) -> Any:
        seen.append(sql)
        return execute(sql, *rest)

    def watch() -> None:
        connections["default"].execute_wrappers.append(count)

    await in_db(watch)
    async with aclosing(stream(request)) as events:
        last = [event async for event in events][-1]
    assert isinstance(last, Finished)
    assert seen == []


@pytest.mark.django_db(transaction=True)
async def test_a_request_that_a_provider_makes_nothing_of_closes_no_address(
    team: Team, server: OpenAIServer
) -> None:
    await in_db(set_up, team, server.base_url)
    serve(server, Reply(status=400, error={"error": {"message": "What?"}}))
    for _ in range(MAX_FAILURES + 2):
        await ask(team)
    assert len(server.requests) == MAX_FAILURES + 2
    assert (await in_db(row_of, team)).failures == 0


@pytest.mark.django_db(transaction=True)
async def test_a_key_that_was_refused_five_times_is_said_to_be_and_a_new_one_is_used_at_once(
    team: Team, server: OpenAIServer
) -> None:
    row = await in_db(set_up, team, server.base_url)
    serve(server, REFUSED)
    for _ in range(MAX_FAILURES):
        await ask(team)
    event = await ask(team)
    assert isinstance(event, Failed)
    assert type(event.error) is KeyResting
    assert not event.error.retryable
    assert event.error.message.startswith("Own server has refused the key 5 times in a row")
    await in_db(lambda: actions.set_key(row, actor=None, key="key-two"))
    serve(server, FINE)
    assert isinstance(await ask(team), Finished)


@pytest.mark.django_db(transaction=True)
async def test_a_new_address_begins_anew(team: Team, server: OpenAIServer) -> None:
    row = await in_db(set_up, team, server.base_url)
    serve(server, DOWN)
    for _ in range(MAX_FAILURES):
        await ask(team)
    moved = await in_db(
        lambda: actions.update_provider(row, actor=None, base_url="https://new.example.com/v1")
    )
    assert (moved.failures, moved.open_until) == (0, None)


@pytest.mark.django_db(transaction=True)
async def test_one_team_alone_does_not_close_an_account_of_the_instance(
    team: Team, server: OpenAIServer
) -> None:
    await in_db(set_up, team, server.base_url)
    await in_db(lambda: ProviderConfig.objects.update(team=None))
    serve(server, DOWN)
    for _ in range(MAX_FAILURES + 3):
        await ask(team, "ses_1")
    assert len(server.requests) == MAX_FAILURES + 3
    assert (await in_db(row_of, team)).open_until is None


@pytest.mark.django_db(transaction=True)
def test_of_two_workers_one_tries_a_half_open_circuit(team: Team, alice: User) -> None:
    row = set_up(team, "https://models.example.com/v1")
    past = timezone.now() - timedelta(seconds=1)
    ProviderConfig.objects.update(failures=5, failure="ServerError", open_until=past)
    (fault,) = resolved(team).faults
    won: list[bool] = []
    faults = race(*[lambda: won.append(actions.claim_probe(fault))] * 2)
    assert faults == [None, None]
    assert sorted(won) == [False, True]
    assert row.pk == fault.id


@pytest.mark.django_db(transaction=True)
def test_failures_of_two_workers_are_both_counted(team: Team) -> None:
    set_up(team, "https://models.example.com/v1")
    model = resolved(team)

    def fail(session_id: str) -> None:
        actions.note_failure(model, ServerError("x"), session_id=session_id, tried=False)

    assert race(lambda: fail("ses_1"), lambda: fail("ses_2")) == [None, None]
    assert row_of(team).failures == 2


@pytest.mark.django_db
def test_what_was_under_way_when_a_circuit_opened_does_not_keep_it_open_for_longer(
    team: Team,
) -> None:
    set_up(team, "https://models.example.com/v1")
    model = resolved(team)

    def fail(*, tried: bool = False) -> ProviderConfig:
        actions.note_failure(model, ServerError("x"), session_id="ses_1", tried=tried)
        return row_of(team)

    opened = [fail() for _ in range(MAX_FAILURES)][-1]
    assert opened.open_until is not None
    late = fail()
    assert (late.failures, late.open_until) == (MAX_FAILURES, opened.open_until)
    assert fail(tried=True).failures == MAX_FAILURES + 1
