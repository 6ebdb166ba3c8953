"""Who may use which of an account's keys now, and who stands in line. Pure.

A line belongs to an account and is served in rounds, in each of which everybody has one turn;
within a round who came first gets the first place at any of its keys. So who has many turns in it
does not keep the others waiting for all of them. Keys without limits have endless places. A key's
tokens count for a minute from the moment its call began, at first as estimated and then as its
provider has counted them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import inf

from opencode_web.lib.errors import Conflict
from opencode_web.lib.reasons import Cause
from providers.reasons import ProviderReason

MINUTE = timedelta(seconds=60)
# A call whose process has not said within that that it goes on has died with it.
ALIVE = timedelta(seconds=60)
# Who waits looks again after that, should nobody wake them.
LOOK = timedelta(seconds=20)
_NEVER = datetime.min.replace(tzinfo=UTC)


class NoRoom(Conflict):
    """Every key of an account is in use as much as it may be."""

    def __init__(self, name: str, *, until: datetime) -> None:
        super().__init__(Cause(ProviderReason.WAITING, {"name": name}))
        # When to look again, if nobody wakes the turn before.
        self.until = until


@dataclass(frozen=True, slots=True)
class Key:
    """A key that works. `used_at`: when it was chosen last."""

    id: int
    used_at: datetime | None = None
    max_calls: int | None = None
    tokens_per_minute: int | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """A `KeyUse`: it waits, runs, or has ended within the last minute."""

    id: int
    call: str
    key_id: int | None
    tokens: int
    started_at: datetime | None
    ended_at: datetime | None
    alive_until: datetime
    asker: str = ""
    turn: int = 0


@dataclass(frozen=True, slots=True)
class KeyPool:
    """The keys of an account and their use at one moment."""

    keys: Sequence[Key]
    uses: Sequence[Use]
    now: datetime

    def choose(self, call: str, *, tokens: int, asker: str = "") -> Key | None:
        """Returns: the key for a call that wants so many tokens, the one used least lately.

        None when it has to wait, because there is no room or what there is belongs to others.
        """
        ahead = self._ahead(call, asker)
        free = {key.id: self._places(key, tokens) for key in self.keys}
        if sum(free.values()) <= ahead:
            return None
        found = [key for key in self.keys if free[key.id]]
        return min(found, key=lambda key: (key.used_at or _NEVER, key.id))

    def next_calls(self) -> list[str]:
        """Returns: who in line can be woken, as there may be room for them."""
        waiting = [use.call for use in self._waiting()]
        places = sum(self._places(key, 1) for key in self.keys)
        return waiting if places == inf else waiting[: int(places)]

    def look_again_at(self) -> datetime:
        """Returns: when there may be room without anybody ending a call."""
        began = [
            use.started_at + MINUTE
            for use in self.uses
            if use.started_at is not None and use.started_at + MINUTE > self.now
        ]
        limited = any(key.tokens_per_minute is not None for key in self.keys)
        return min([*(began if limited else []), self.now + LOOK])

    def turn_of(self, asker: str) -> int:
        """Returns: in which round a new call of this asker is served.

        It is stored with the call, so that what was served long ago need not be known.
        """
        own = [use.turn for use in self.uses if use.asker == asker]
        if own:
            return max(own) + 1
        return min((use.turn for use in self._waiting()), default=0)

    def _ahead(self, call: str, asker: str) -> int:
        waiting = self._waiting()
        calls = [use.call for use in waiting]
        if call in calls:
            return calls.index(call)
        turn = self.turn_of(asker)
        return sum(1 for use in waiting if use.turn <= turn)

    def _waiting(self) -> list[Use]:
        uses = sorted(self.uses, key=lambda use: (use.turn, use.id))
        return [use for use in uses if use.started_at is None and use.alive_until > self.now]

    def _places(self, key: Key, tokens: int) -> float:
        mine = [use for use in self.uses if use.key_id == key.id]
        running = sum(1 for use in mine if use.ended_at is None and use.alive_until > self.now)
        places = inf if key.max_calls is None else max(0, key.max_calls - running)
        if key.tokens_per_minute is None:
            return places
        # What is more than a whole minute's worth goes when nothing else has.
        most = key.tokens_per_minute
        spent = sum(
            min(use.tokens, most)
            for use in mine
            if use.started_at is not None and use.started_at + MINUTE > self.now
        )
        is_full = spent + min(tokens, most) > most
        # One at a time: how much is left behind it is known only then.
        return 0 if is_full else min(places, 1)
