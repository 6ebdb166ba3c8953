"""Requests that wait for their answer, and what a server asks in the meantime."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field

from opencode_web.lib.json import JsonObject, JsonValue

ELICIT, SAMPLE = "elicitation/create", "sampling/createMessage"
# Asks that may wait at a time, and how often a model may be asked for one call.
_MOST_ASKS = 8
_MOST_SAMPLES = 8


@dataclass(frozen=True)
class Ask:
    """What a server wants to know: `ELICIT` of a person, `SAMPLE` of a model.

    `number` counts those of a model in its call, from 1.
    """

    id: int | str
    params: JsonObject
    method: str = ELICIT
    number: int = 0


@dataclass
class Call:
    """A request whose answer is awaited.

    Who `follows` it looks at the rest whenever it is `stirred`: how far it is, as the server said
    last, and what it wants to know.
    """

    method: str
    number: int
    answer: asyncio.Future[JsonObject]
    follows: bool = False
    stirred: asyncio.Event = field(default_factory=asyncio.Event)
    progress: JsonObject | None = None
    asks: deque[Ask] = field(default_factory=deque)
    # What a model is being asked: the id of the ask, and what waits for the model.
    sampling: tuple[int | str, asyncio.Task[JsonObject]] | None = None
    _samples: int = 0

    def take(self, ask: Ask) -> bool:
        """Have an ask wait for its answer. Returns: whether it may."""
        if len(self.asks) >= _MOST_ASKS:
            return False
        if ask.method == SAMPLE:
            if self._samples >= _MOST_SAMPLES:
                return False
            self._samples += 1
            ask = Ask(ask.id, ask.params, ask.method, self._samples)
        self.asks.append(ask)
        self.stirred.set()
        return True

    def withdraw(self, number: JsonValue) -> None:
        """The server waits no longer for the answer to what it has asked with this id."""
        self.asks = deque(ask for ask in self.asks if ask.id != number)
        if self.sampling is not None and self.sampling[0] == number:
            self.sampling[1].cancel()
