"""How many commands run at the same time; the others wait in line."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Protocol


class Places(Protocol):
    """What limits the number of commands."""

    def hold(self) -> AbstractAsyncContextManager[None]:
        """Wait for a place, and give it back at the end."""
        ...


class AnyNumber:
    """Limits nothing."""

    def hold(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()


ANY_NUMBER = AnyNumber()
