"""Patterns of permission rules: `*` is any text, `?` one character. Pure; linear in the text."""

from __future__ import annotations

import re
from functools import lru_cache


def matches(text: str, pattern: str) -> bool:
    """Match a whole text, case-sensitively. `git *` matches `git` too; `\\\\` counts as `/`."""
    text = text.replace("\\", "/")
    pattern = pattern.replace("\\", "/")
    return _glob(text, pattern) or (pattern.endswith(" *") and _glob(text, pattern[:-2]))


@lru_cache(maxsize=4096)
def names_match(name: str, pattern: str) -> bool:
    """As `matches`, for names of permissions: few, and each is compared in every step."""
    return matches(name, pattern)


def may_match(start: str, pattern: str) -> bool:
    """Tell whether a text that begins with `start` can match; never says no when one does."""
    pattern = pattern.replace("\\", "/")
    start = start.replace("\\", "/")
    fixed = _fixed(pattern)
    return fixed.startswith(start) or (fixed != pattern and start.startswith(fixed))


def must_match(start: str, pattern: str) -> bool:
    """Tell whether every text that begins with `start` matches; never says yes when one does not.

    A text that is longer than `start` is meant: what follows is unknown, but it is something.
    """
    pattern = pattern.replace("\\", "/")
    fixed = _fixed(pattern)
    return pattern == f"{fixed}*" and start.replace("\\", "/").startswith(fixed)


def _fixed(pattern: str) -> str:
    return re.split(r"[*?]", pattern, maxsplit=1)[0]


def _glob(text: str, pattern: str) -> bool:
    if "*" not in pattern and "?" not in pattern:
        return text == pattern
    return _compile(pattern).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _compile(pattern: str) -> re.Pattern[str]:
    # Each `*` takes as little as it can and, by the atomic group, never gives it back: that finds a
    # match whenever there is one, and `*a*a*a*b` against a long hostile command takes no minutes.
    head, *rest = (_literal(part) for part in re.split(r"\*+", pattern))
    *middle, last = rest or [""]
    found = "".join(f"(?>.*?{part})" for part in middle)
    return re.compile(f"{head}{found}.*{last}" if rest else head, re.DOTALL)


def _literal(part: str) -> str:
    return "".join("." if char == "?" else re.escape(char) for char in part)
