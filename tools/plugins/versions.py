"""Versions of npm packages and the ranges that they name, as npm reads them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

_NUMBER = r"(?:0|[1-9]\d{0,14})"
_REST = r"(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?"
_EXACT = re.compile(rf"[v=\s]*({_NUMBER})\.({_NUMBER})\.({_NUMBER}){_REST}")
_PART = rf"({_NUMBER}|[xX*])"
_TERM = re.compile(rf"(\^|~>?|>=|<=|>|<|=)?\s*[v=]*(?:{_PART}(?:\.{_PART}(?:\.{_PART}{_REST})?)?)?")
_HYPHEN = re.compile(r"(\S+)\s+-\s+(\S+)")
_SPACED = re.compile(r"([\^~<>=]+)\s+")
MAX_RANGE_CHARS = 500

# The numbers, then 1 for a release or 0 and its identifiers for what comes before one.
Key = tuple[int, int, int, int, tuple[tuple[int, int, str], ...]]
_Bound = tuple[str, Key]
_FIRST: tuple[tuple[int, int, str], ...] = ((-1, 0, ""),)


@lru_cache(maxsize=4096)
def version_key(text: str) -> Key | None:
    """Returns: what versions are compared by; None for what is no exact version."""
    found = _EXACT.fullmatch(text)
    if found is None:
        return None
    return _key(int(found[1]), int(found[2]), int(found[3]), found[4] or "")


def best_version(wanted: str, versions: Iterable[str], tags: dict[str, str]) -> str | None:
    """Returns: the version that npm would install for a range or a tag: the latest if it fits, else
    the highest."""
    if wanted in tags:
        return tags[wanted]
    if len(wanted) > MAX_RANGE_CHARS:
        return None
    fitting = [one for one in versions if satisfies(one, wanted)]
    if tags.get("latest") in fitting:
        return tags["latest"]
    return max(fitting, key=lambda one: version_key(one) or _key(0, 0, 0), default=None)


def satisfies(version: str, wanted: str) -> bool:
    """Whether a version lies in a range. One before a release only does where the range names one
    of the same release."""
    key = version_key(version)
    if key is None:
        return False
    return any(_fits(key, bounds) for bounds in _alternatives(wanted) if bounds is not None)


@lru_cache(maxsize=1024)
def _alternatives(wanted: str) -> tuple[tuple[_Bound, ...] | None, ...]:
    return tuple(_bounds(one.strip()) for one in wanted.split("||"))


def _fits(key: Key, bounds: tuple[_Bound, ...]) -> bool:
    for sign, bound in bounds:
        above = key >= bound if sign == ">=" else key > bound
        below = key <= bound if sign == "<=" else key < bound
        if not (above if sign in (">=", ">") else below):
            return False
    named = (bound for _, bound in bounds if not bound[3] and bound[4] != _FIRST)
    return bool(key[3]) or any(bound[:3] == key[:3] for bound in named)


def _bounds(text: str) -> tuple[_Bound, ...] | None:
    if hyphen := _HYPHEN.fullmatch(text):
        text = f">={hyphen[1]} <={hyphen[2]}"
    found: list[_Bound] = []
    for term in _SPACED.sub(r"\1", text).split():
        matched = _TERM.fullmatch(term)
        if matched is None:
            return None
        found += _of_term(matched)
    return tuple(found)


def _of_term(found: re.Match[str]) -> Iterator[_Bound]:
    sign = (found[1] or "=").replace("~>", "~")
    numbers: list[int] = []
    for part in found.group(2, 3, 4):
        if part is None or not part.isdigit():
            break
        numbers.append(int(part))
    major, minor, patch = [*numbers, 0, 0, 0][:3]
    low = _key(major, minor, patch, found[5] or "" if len(numbers) == 3 else "")
    if not numbers:
        if sign in ("<", ">"):
            yield "<", _key(0, 0, 0, first=True)
        return
    if sign == "^":
        # Up to the first number that is not zero may nothing change.
        fixed = next((n for n, one in enumerate(numbers) if one), len(numbers) - 1)
        yield ">=", low
        yield "<", _after(numbers[: fixed + 1])
    elif sign == "~" or (sign == "=" and len(numbers) < 3):
        yield ">=", low
        yield "<", _after(numbers[:2])
    elif sign == "=":
        yield ">=", low
        yield "<=", low
    elif len(numbers) == 3:
        yield sign, low
    elif sign == ">":
        yield ">=", _after(numbers)
    elif sign == "<=":
        yield "<", _after(numbers)
    elif sign == "<":
        yield "<", _key(*low[:3], first=True)
    else:
        yield ">=", low


def _after(numbers: list[int]) -> Key:
    """Below everything that begins with the next numbers, also what comes before a release."""
    *rest, last = numbers
    whole = [*rest, last + 1, 0, 0][:3]
    return _key(whole[0], whole[1], whole[2], first=True)


def _key(major: int, minor: int, patch: int, before: str = "", *, first: bool = False) -> Key:
    if first:
        return major, minor, patch, 0, _FIRST
    if not before:
        return major, minor, patch, 1, ()
    names = tuple((0, int(one), "") if one.isdigit() else (1, 0, one) for one in before.split("."))
    return major, minor, patch, 0, names
