"""What all streams of one loop want when a body arrives, read once for all of them."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")

# Bodies that are remembered. A stream that is further behind reads for itself.
REMEMBERED = 256


class Once(Generic[T]):
    """Answers by body. The bus hands the very object to every watcher, so that is what counts."""

    def __init__(self) -> None:
        self._loops: WeakKeyDictionary[
            asyncio.AbstractEventLoop,
            OrderedDict[int, tuple[Mapping[str, object], asyncio.Task[T]]],
        ] = WeakKeyDictionary()

    async def of(
        self, body: Mapping[str, object], read: Callable[[], Coroutine[None, None, T]]
    ) -> T:
        """Returns: what `read` returns, or returned to the first who asked about this body.

        Raises: whatever `read` raises, to everybody who asked.
        """
        answers = self._loops.setdefault(asyncio.get_running_loop(), OrderedDict())
        # The body is kept with its answer, so that its identity is nobody else's meanwhile.
        if id(body) not in answers:
            answers[id(body)] = (body, asyncio.create_task(read()))
            while len(answers) > REMEMBERED:
                answers.popitem(last=False)
        # Shielded: a client that goes must not take the answer from the others.
        return await asyncio.shield(answers[id(body)][1])
