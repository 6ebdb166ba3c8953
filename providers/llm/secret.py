"""A value that must not be shown."""

from __future__ import annotations


class Secret:
    """Text that prints as dots, so that a log line, a repr or a traceback cannot carry it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the text itself; only for the place that sends it to the provider."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return "Secret(•••)"

    def __reduce__(self) -> str:
        # A pickled secret would end up in a broker or a cache in clear.
        msg = "a Secret cannot be pickled"
        raise TypeError(msg)
