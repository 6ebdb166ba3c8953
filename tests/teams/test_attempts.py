from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.utils import timezone

from opencode_web.lib.errors import TooManyRequests
from teams.actions import attempts
from teams.actions.attempts import (
    MAX_WAIT_S,
    OF_ACCOUNT,
    OF_ADDRESS,
    Kind,
    count_attempt,
    forgive_attempt,
    prune_attempts,
)
from teams.models import AuditEntry, FailedAttempt, User

ALICE = "alice@example.com"


class Clock:
    def __init__(self) -> None:
        self.now = timezone.now()

    def later(self, seconds: float) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(attempts.timezone, "now", lambda: clock.now)
    return clock


def fail(account: str = ALICE, address: str | None = "192.0.2.1") -> int:
    """Returns: how long the next attempt has to wait; 0 when it was counted."""
    try:
        count_attempt(Kind.PASSWORD, address=address, account=account)
    except TooManyRequests as exc:
        return int(str(exc.data["retryAfter"]))
    return 0


def test_each_further_failure_doubles_the_wait(db: None, clock: Clock) -> None:
    assert [fail() for _ in range(OF_ACCOUNT.free)] == [0] * OF_ACCOUNT.free
    waits = []
    for _ in range(5):
        waits.append(fail())
        clock.later(waits[-1])
        assert fail() == 0
    assert waits == [30, 60, 120, 240, 480]
    for _ in range(20):
        clock.later(fail())
        fail()
    assert fail() == MAX_WAIT_S


def test_what_was_refused_does_not_count(db: None, clock: Clock) -> None:
    for _ in range(50):
        fail()
    clock.later(31)
    assert fail() == 0
    assert fail() == 60


def test_failures_are_forgotten_as_time_passes(db: None, clock: Clock) -> None:
    for _ in range(OF_ACCOUNT.free):
        fail()
    clock.later(OF_ACCOUNT.free * OF_ACCOUNT.forget_s)
    assert [fail() for _ in range(OF_ACCOUNT.free)] == [0] * OF_ACCOUNT.free


def test_a_good_attempt_clears_its_own_account_only(db: None) -> None:
    for _ in range(OF_ACCOUNT.free - 1):
        fail()
        fail("bob@example.com")
    fail()
    forgive_attempt(Kind.PASSWORD, address="192.0.2.1", account=ALICE)
    assert fail() == 0
    assert fail("bob@example.com") == 0
    assert fail("bob@example.com") > 0
    # Signing in to an own account in between does not hide guesses at others.
    row = FailedAttempt.objects.get(account="")
    assert row.failures == pytest.approx(2 * OF_ACCOUNT.free, abs=0.5)


def test_an_address_that_tries_many_accounts_is_slowed_down(db: None, clock: Clock) -> None:
    tried = [fail(f"{n}@example.com") for n in range(OF_ADDRESS.free)]
    assert set(tried) == {0}
    assert fail("another@example.com") == 60
    assert fail("another@example.com", "192.0.2.2") == 0


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        (None, None, True),
        ("192.0.2.1", "192.0.2.2", False),
    ],
)
def test_which_addresses_count_as_one(
    db: None, first: str | None, second: str | None, same: bool
) -> None:
    for _ in range(OF_ACCOUNT.free):
        fail(address=first)
    assert (fail(address=second) > 0) is same


@pytest.fixture
def threads(transactional_db: None) -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool
        for _ in range(8):
            pool.submit(connections.close_all)


def test_of_many_attempts_at_once_no_more_get_through(threads: ThreadPoolExecutor) -> None:
    def attempt(_: int) -> int:
        try:
            return fail()
        finally:
            connections.close_all()

    results = list(threads.map(attempt, range(40)))
    assert results.count(0) == OF_ACCOUNT.free


def test_an_operator_unlocks_an_account_on_the_command_line(
    alice: User, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(OF_ACCOUNT.free):
        fail()
    assert fail() > 0
    call_command("unlock", "Alice@example.com")
    assert "1 addresses" in capsys.readouterr().out
    assert fail() == 0
    assert AuditEntry.objects.filter(action="user.unlocked", actor=None).exists()
    with pytest.raises(CommandError, match="no account"):
        call_command("unlock", "nobody@example.com")


def test_old_attempts_are_removed(db: None, clock: Clock) -> None:
    fail()
    assert prune_attempts() == 0
    clock.later(3 * 24 * 3600)
    assert prune_attempts() == 2
    with suppress(TooManyRequests):
        count_attempt(Kind.SETUP, address=None)
    assert not FailedAttempt.objects.exists()
