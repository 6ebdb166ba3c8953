"""How well a path fits what somebody typed of it. Pure."""

from __future__ import annotations

_NAME = 4_000.0
_PATH = 3_000.0
_LETTERS = 2_000.0
_START = 500.0


def score(wanted: str, path: str) -> float | None:
    """Rate a path, the letters of `wanted` in this order being the least that it must have.

    Case does not matter. A name that has it as a whole is better than a path that has it, and that
    is better than scattered letters; among equals the shorter path wins.

    Returns: None when it does not fit.
    """
    wanted, folded = wanted.casefold(), path.casefold()
    cost = len(path) / 10
    if not wanted:
        return -(path.rstrip("/").count("/") * 100 + cost)
    name = folded.rstrip("/").rpartition("/")[2]
    if wanted in name:
        return _NAME + (_START if name.startswith(wanted) else 0) - cost
    if wanted in folded:
        return _PATH - cost
    span = _span(wanted, folded)
    return None if span is None else _LETTERS - 10 * (span - len(wanted)) - cost


def is_whole(rate: float, wanted: str) -> bool:
    """Whether what `score` has rated has the wanted text in one piece."""
    return not wanted or rate > (_LETTERS + _PATH) / 2


def _span(wanted: str, path: str) -> int | None:
    """Returns: how many characters the letters are spread over, read from the end of the path."""
    end = place = len(path)
    for number, letter in enumerate(reversed(wanted)):
        place = path.rfind(letter, 0, place)
        if place < 0:
            return None
        if number == 0:
            end = place + 1
    return end - place
