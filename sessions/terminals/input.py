"""What people type: every piece once and in order, whatever the bus loses or doubles."""

from __future__ import annotations

from collections import OrderedDict

# Sockets that are remembered. Each has sent nothing for long when it is forgotten.
_SOCKETS = 256


class Typed:
    """Which pieces of which socket a worker has taken."""

    def __init__(self) -> None:
        self._taken: OrderedDict[str, int] = OrderedDict()

    def is_next(self, socket: str, number: int) -> bool:
        """Whether it is the piece after the last one that was taken. They count from 1."""
        return number == self.taken(socket) + 1

    def take(self, socket: str, number: int) -> None:
        """Remember that a piece was taken."""
        self._taken[socket] = number
        self._taken.move_to_end(socket)
        if len(self._taken) > _SOCKETS:
            self._taken.popitem(last=False)

    def taken(self, socket: str) -> int:
        """Returns: the number of the last piece that was taken."""
        return self._taken.get(socket, 0)


class Unsent:
    """What a socket has sent and the worker has not taken yet."""

    def __init__(self) -> None:
        self._pieces: OrderedDict[int, str] = OrderedDict()
        self._number = 0
        self.chars = 0

    def add(self, text: str) -> int:
        """Returns: its number."""
        self._number += 1
        self._pieces[self._number] = text
        self.chars += len(text)
        return self._number

    def taken(self, number: int) -> None:
        """The worker has everything up to this one."""
        while self._pieces and next(iter(self._pieces)) <= number:
            self.chars -= len(self._pieces.popitem(last=False)[1])

    def waiting(self) -> list[tuple[int, str]]:
        """Returns: what has to be sent again, in order."""
        return list(self._pieces.items())
