"""Find what looks like a secret in texts that are about to be shown to others, and take it out.

It knows forms, not values: what has none (a plain word as a password) is not found. Pure, and
linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from opencode_web.lib.json import JsonObject, JsonValue

# What people are told was found, and how it looks. Of two that begin at a place the first counts.
_KINDS = {
    "private key": (
        r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        r"(?s:.*?)(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\Z)"
    ),
    "key of a model provider": r"\b(?:sk|gsk|xai)[-_](?!live_|test_)[A-Za-z0-9_-]{16,200}",
    "payment key": r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{12,200}",
    "token of a code host": (
        r"\bgh[a-z]_[A-Za-z0-9]{20,255}|\bgithub_pat_[A-Za-z0-9_]{20,255}"
        r"|\bglpat-[A-Za-z0-9_-]{16,255}"
    ),
    "cloud key": r"\bA[KS]IA[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,60}",
    "chat token": r"\bxox[a-z]-[A-Za-z0-9-]{10,255}",
    "package token": r"\bnpm_[A-Za-z0-9]{30,100}|\bpypi-[A-Za-z0-9_-]{40,255}",
    "token of this server": r"\bocw_[A-Za-z0-9_-]{16,200}",
    "signed token": r"\beyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{0,4000}",
    "password in an address": r"(?<=://)[^\s/:@\"']{1,100}:[^\s/@\"']{1,200}(?=@)",
    "authorization header": (
        r"(?i:\b(?:bearer|basic)\s{1,3}(?=[^\s\"']{0,80}[0-9])[A-Za-z0-9._~+/=-]{16,4000})"
    ),
}
# `password = "…"`: only the value goes, and only one that is no word or call of a program.
_SETTING = (
    r"(?P<name>(?i:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)"
    r"[\"']?\s{0,3}(?::|=>?)\s{0,3}[\"']?)"
    r"(?P<value>(?=[^\s\"'(\[]{0,80}[0-9])[A-Za-z0-9+/=_.~!@#$%^&*-]{8,400})(?![\w(\[])"
)
_SETTING_KIND = "password or key in a setting"
_NAMES = {f"k{place}": kind for place, kind in enumerate(_KINDS)}
_LOOK = re.compile(
    "|".join(
        f"(?P<{name}>{pattern})" for name, pattern in zip(_NAMES, _KINDS.values(), strict=True)
    )
    + f"|{_SETTING}"
)
# Names and kinds of our own, at the top of messages and parts: what is below comes from others.
_OURS = frozenset({"id", "type", "tool", "role", "messageID", "sessionID", "callID"})


def kinds_in(text: str) -> set[str]:
    """Returns: what was found, in words for people."""
    return {_kind(found) for found in _LOOK.finditer(text)}


def mask_text(text: str) -> str:
    """Put marks in place of what was found."""
    return _LOOK.sub(lambda found: f"{found['name'] or ''}[{_kind(found)}]", text)


def map_texts(data: JsonObject, change: Callable[[str], str]) -> JsonObject:
    """Returns: a copy of a message or part with every text changed that is no name of our own."""
    return {key: item if key in _OURS else _map(item, change) for key, item in data.items()}


def _map(value: JsonValue, change: Callable[[str], str]) -> JsonValue:
    match value:
        case str():
            return change(value)
        case list():
            return [_map(item, change) for item in value]
        case dict():
            return {change(key): _map(item, change) for key, item in value.items()}
        case _:
            return value


def texts_in(data: JsonObject) -> Iterator[str]:
    """Yield what `map_texts` would change."""
    for key, item in data.items():
        if key not in _OURS:
            yield from _texts(item)


def _texts(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _texts(item)
        case dict():
            for key, item in value.items():
                yield key
                yield from _texts(item)


def _kind(found: re.Match[str]) -> str:
    return _SETTING_KIND if found["name"] else _NAMES[found.lastgroup or ""]
