from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connections, transaction
from django.utils import timezone

from opencode_web.lib.errors import NotFound
from providers import actions
from providers.account_model import AccountModel
from providers.actions.room import leave, leave_line, take_key
from providers.funding import FundedRequest, fund
from providers.llm.messages import ModelRef
from providers.models import KeyUse, ProviderConfig
from providers.resolve import resolve_model
from providers.room import NoRoom
from teams.models import Team, User
from tests.providers.factories import make_provider
from tests.providers.requests import make_request
from tests.races import race

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def row(team: Team) -> ProviderConfig:
    row = make_provider(team, key="key-one")
    actions.pick_models(row, actor=None, models={"m": {}})
    return row


def limit(row: ProviderConfig, most: int) -> None:
    for key in row.credentials.all():
        actions.limit_key(row, key.pk, actor=None, max_calls=most)


def take(team: Team, call: str, user: User | None = None) -> AccountModel:
    with transaction.atomic():
        model = resolve_model(team, ModelRef("own", "m"), user=user)
        request = fund(make_request(model), None, call_id=call, user_id=None)
        assert isinstance(request, FundedRequest)
        taken = take_key(request, call=call).model
    assert isinstance(taken, AccountModel)
    return taken


def test_of_two_workers_one_takes_the_last_place(team: Team, row: ProviderConfig) -> None:
    limit(row, 1)
    faults = race(lambda: take(team, "ses_1"), lambda: take(team, "ses_2"))
    assert faults[0] is None
    assert isinstance(faults[1], NoRoom)
    assert KeyUse.objects.exclude(started_at=None).count() == 1


def test_of_many_workers_as_many_take_a_place_as_there_are(team: Team, row: ProviderConfig) -> None:
    actions.add_key(row, actor=None, key="key-two")
    limit(row, 3)

    def work(number: int) -> int:
        try:
            return take(team, f"ses_{number}").credential_id or 0
        except NoRoom:
            return 0
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        taken = [key for key in pool.map(work, range(16)) if key]
    assert sorted(map(taken.count, set(taken))) == [3, 3]


def test_two_workers_that_choose_at_once_choose_two_keys(team: Team, row: ProviderConfig) -> None:
    actions.add_key(row, actor=None, key="key-two")
    chosen: list[int | None] = []
    faults = race(
        lambda: chosen.append(take(team, "ses_1").credential_id),
        lambda: chosen.append(take(team, "ses_2").credential_id),
    )
    assert faults == [None, None]
    assert len(set(chosen)) == 2
    assert not KeyUse.objects.exists()


def test_a_place_that_is_given_back_rings_for_who_has_waited_longest(
    team: Team, row: ProviderConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[str] = []
    monkeypatch.setattr("providers.room_bell._bells", [rung.extend])
    limit(row, 1)
    first = take(team, "ses_1")
    for call in ("ses_2", "ses_3"):
        with pytest.raises(NoRoom):
            take_kept(team, call)
    assert rung == []
    assert first.use is not None
    leave(first.use, tokens=12)
    assert rung == ["ses_2"]
    with transaction.atomic():
        leave_line("ses_2")
    assert rung == ["ses_2", "ses_3"]
    assert take(team, "ses_3").use is not None


def test_many_sessions_of_one_person_do_not_go_before_those_of_others(
    team: Team, row: ProviderConfig, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[str] = []
    monkeypatch.setattr("providers.room_bell._bells", [rung.extend])
    limit(row, 1)
    first = take(team, "ses_0")
    for call, user in (("ses_1", bob), ("ses_2", bob), ("ses_3", bob), ("ses_4", alice)):
        with pytest.raises(NoRoom):
            take_kept(team, call, user)
    assert first.use is not None
    leave(first.use, tokens=0)
    second = take(team, "ses_1", bob)
    assert second.use is not None
    leave(second.use, tokens=0)
    assert rung == ["ses_1", "ses_4"]
    with pytest.raises(NoRoom):
        take_kept(team, "ses_2", bob)
    assert take(team, "ses_4", alice).use is not None


def take_kept(team: Team, call: str, user: User | None = None) -> None:
    """As a drain does: the place in the line is committed."""
    found: NoRoom | None = None
    with transaction.atomic():
        model = resolve_model(team, ModelRef("own", "m"), user=user)
        request = fund(make_request(model), None, call_id=call, user_id=None)
        try:
            take_key(request, call=call)
        except NoRoom as exc:
            found = exc
    if found is not None:
        raise found


def test_who_was_not_heard_of_loses_the_place_and_keeps_the_order(
    team: Team, row: ProviderConfig
) -> None:
    limit(row, 1)
    take(team, "ses_1")
    for call in ("ses_2", "ses_3"):
        with pytest.raises(NoRoom):
            take_kept(team, call)
    gone = timezone.now() - timedelta(seconds=1)
    KeyUse.objects.filter(call__in=("ses_1", "ses_2")).update(alive_until=gone)
    assert take(team, "ses_3").use is not None
    KeyUse.objects.filter(call="ses_3").update(ended_at=gone)
    assert take(team, "ses_2").use is not None


def test_a_key_that_is_taken_away_meanwhile_is_not_found(team: Team, row: ProviderConfig) -> None:
    second = actions.add_key(row, actor=None, key="key-two")
    faults = race(
        lambda: actions.remove_credential(second, actor=None),
        lambda: actions.limit_key(row, second.pk, actor=None, max_calls=2),
    )
    assert faults[0] is None
    assert isinstance(faults[1], NotFound)
