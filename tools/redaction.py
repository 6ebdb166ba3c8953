"""Take secrets out of what is shown, stored and given to models, however it was cut into pieces.

A secret is found as it is and in the common spellings of it: base64 wherever it stands in the
encoded text, hexadecimal, escaped for URLs, JSON and HTML. What somebody encodes in other ways
(turns round, encrypts, spells out) is not found: redaction is against accidents, and the boundary
is who may have the secret in their commands at all. Pure.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterator, Mapping
from copy import copy
from typing import TypeVar, cast
from urllib.parse import quote, quote_plus

from opencode_web.lib.json import JsonValue
from opencode_web.lib.known_keys import MARK, KeyStream, KnownKeys

# Shorter values would be found by chance everywhere, and say where the secret was.
MIN_CHARS = 6
# Lines of a text like a key are shown one by one, with numbers in front of them.
_MIN_LINE_CHARS = 16
_FENCE = "-----"
_GLANCE_BYTES = 8
_Json = TypeVar("_Json", bound=JsonValue)
# In no text that is encoded as UTF-8.
_BETWEEN = b"\xff"


class Redactor:
    """Knows the secrets of one project, by name, and with `keys` the forms of well-known keys.
    Without any it gives back what it gets.

    It has no text form of its own that would show them.
    """

    def __init__(self, secrets: Mapping[str, str], *, keys: KnownKeys | None = None) -> None:
        self.secrets = dict(secrets)
        # What commands have in their environment.
        self.lent = self.secrets
        self.keys = keys
        self._marks = {
            needle: mark_of(name).encode()
            for name, value in sorted(secrets.items(), key=lambda item: len(item[1]))
            for needle in _spellings(value)
        }
        # Where one begins with another, the longer one is meant.
        self._needles = sorted(self._marks, key=len, reverse=True)
        self._by_first: dict[int, list[bytes]] = {}
        for needle in self._needles:
            self._by_first.setdefault(needle[0], []).append(needle)

    def __bool__(self) -> bool:
        return bool(self._needles) or self.keys is not None

    def withheld(self) -> Redactor:
        """Returns: one that hides the same, and lends nothing to commands."""
        made = copy(self)
        made.lent = {}
        return made

    @property
    def longest(self) -> int:
        """Bytes of the longest spelling."""
        return len(self._needles[0]) if self._needles else 0

    def data(self, data: bytes) -> bytes:
        """Put marks in place of the secrets in a whole."""
        clean = self.named(data)
        return clean if self.keys is None else self.keys.data(clean)

    def named(self, data: bytes) -> bytes:
        """Like `data`, with well-known keys left as they are."""
        pieces, position = [], 0
        for start, end, mark in self.found(data):
            pieces += [data[position:start], mark]
            position = end
        return b"".join([*pieces, data[position:]]) if pieces else data

    def text(self, text: str) -> str:
        """Like `data`, for a text."""
        if not self:
            return text
        data = text.encode("utf-8", "surrogatepass")
        clean = self.data(data)
        return text if clean is data else clean.decode("utf-8", "surrogatepass")

    def json(self, value: _Json, *, keys: bool = True) -> _Json:
        """Like `data`, for every text in it; for keys too, unless all of them are names of ours."""
        if not self:
            return value
        texts = _texts_in(value, keys=keys)
        # In one search: that is much faster than one in each of thousands of short texts.
        data = _BETWEEN.join(text.encode("utf-8", "surrogatepass") for text in texts)
        clean = self.data(data)
        if clean is data:
            return value
        changed = (one.decode("utf-8", "surrogatepass") for one in clean.split(_BETWEEN))
        return cast(_Json, _with_texts(value, changed, keys=keys))

    def marks_in(self, text: str) -> int:
        """How many times it has what is shown in place of one of the secrets."""
        return sum(text.count(mark_of(name)) for name in self.secrets)

    def stands_in(self, text: str) -> str:
        """Returns: the first mark in a text that stands for something hidden, or nothing."""
        named = next((mark_of(name) for name in self.secrets if mark_of(name) in text), "")
        if named or self.keys is None:
            return named
        found = MARK.search(text.encode("utf-8", "surrogatepass"))
        return found[0].decode() if found else ""

    def is_overwritten(self, old: bytes, new: bytes) -> bool:
        """Whether a change puts marks into a text that has secrets: somebody has edited what they
        were shown."""
        marks = {mark_of(name).encode() for name in self.secrets}
        if self.keys is not None:
            marks |= set(MARK.findall(new))
        adds = any(new.count(mark) > old.count(mark) for mark in marks)
        return adds and self.data(old) is not old

    def stream(self, *, eager: int = 0) -> RedactedStream:
        """Begin to redact what comes in pieces; see `RedactedStream`."""
        return RedactedStream(self, eager=eager)

    def found(self, data: bytes) -> Iterator[tuple[int, int, bytes]]:
        """Yield the secrets in it from left to right: start, end, and what is put in their place.

        Of several that begin at a place the longest one counts, and none begins inside another.
        """
        # Searching for one after the other is many times faster than trying all at every place.
        ahead = {needle: at for needle in self._needles if (at := data.find(needle)) >= 0}
        while ahead:
            start, _, needle = min((at, -len(needle), needle) for needle, at in ahead.items())
            end = start + len(needle)
            yield start, end, self._marks[needle]
            for passed in [one for one, at in ahead.items() if at < end]:
                ahead[passed] = data.find(passed, end)
                if ahead[passed] < 0:
                    del ahead[passed]

    def unfinished(self, data: bytes, start: int) -> int:
        """Find from `start` on where a secret may have begun of which the rest is still to come.

        Returns: the end when there is no such place.
        """
        for at in range(max(start, len(data) - self.longest + 1), len(data)):
            for needle in self._by_first.get(data[at], ()):
                begins = needle.startswith(data[at : at + _GLANCE_BYTES])
                if begins and len(needle) > len(data) - at and needle.startswith(data[at:]):
                    return at
        return len(data)


NO_SECRETS = Redactor({})


def mark_of(name: str) -> str:
    """What is shown in place of a secret."""
    return f"[secret {name}]"


class RedactedStream:
    """Redacts pieces to what redacting their whole would give, in bounded memory.

    It holds back what may be the beginning of a secret, so no more than its longest spelling. Of
    that `eager` bytes are given out at once, for people who type: the rest of them never is.
    """

    def __init__(self, redactor: Redactor, *, eager: int = 0) -> None:
        self._redactor = redactor
        self._eager = eager
        # Not where people type: what may become a key would show only when it is whole.
        self._keys = KeyStream(redactor.keys) if redactor.keys and not eager else None
        self.held = b""
        # Of what is held, so much was given out already.
        self._given = 0
        self._hid = False

    @property
    def hid(self) -> bool:
        """Whether anything was taken out so far."""
        return self._hid or (self._keys is not None and self._keys.hid)

    def feed(self, data: bytes) -> bytes:
        """Take a piece. Returns: what can be given out by now."""
        clean = self._feed(data) if self._redactor.longest else data
        return clean if self._keys is None else self._keys.feed(clean)

    def _feed(self, data: bytes) -> bytes:
        data, given = self.held + data, self._given
        pieces, hold = self._settled(data)
        # What was given out before it was sure stands first, unless it has become part of a mark.
        pieces[0] = pieces[0][given:]
        self.held, self._given = data[hold:], max(0, given - hold)
        if len(self.held) <= self._eager:
            pieces.append(self.held[self._given :])
            self._given = len(self.held)
        return b"".join(pieces)

    def finish(self) -> bytes:
        """Returns: the rest."""
        clean = self._redactor.named(self.held)
        rest = clean[self._given :] if clean == self.held else clean
        self._hid = self._hid or clean != self.held
        self.held, self._given = b"", 0
        return rest if self._keys is None else self._keys.feed(rest) + self._keys.finish()

    def _settled(self, data: bytes) -> tuple[list[bytes], int]:
        """Returns: the pieces that are sure, at least one, and where they end."""
        pieces: list[bytes] = []
        position, hold = 0, self._redactor.unfinished(data, 0)
        for start, end, mark in self._redactor.found(data):
            # Something longer may have begun before it, or at the same place.
            if hold <= start:
                break
            pieces += [data[position:start], mark]
            self._hid = True
            position = end
            if hold < position:
                hold = self._redactor.unfinished(data, position)
        return [*pieces, data[position:hold]], hold


def _texts_in(value: JsonValue, *, keys: bool) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _texts_in(item, keys=keys)
        case dict():
            for key, item in value.items():
                if keys:
                    yield key
                yield from _texts_in(item, keys=keys)


def _with_texts(value: JsonValue, texts: Iterator[str], *, keys: bool) -> JsonValue:
    """Put `texts` in place of those that `_texts_in` yields."""
    match value:
        case str():
            return next(texts)
        case list():
            return [_with_texts(item, texts, keys=keys) for item in value]
        case dict():
            return {
                next(texts) if keys else key: _with_texts(item, texts, keys=keys)
                for key, item in value.items()
            }
        case _:
            return value


def _spellings(value: str) -> Iterator[bytes]:
    texts = [value, value.strip()]
    lines = [line.strip() for line in value.splitlines()]
    if len(lines) > 1:
        texts.append("\r\n".join(lines))
        yield from (
            one.encode() for one in lines if len(one) >= _MIN_LINE_CHARS and _FENCE not in one
        )
    for text in dict.fromkeys(texts):
        if len(text) >= MIN_CHARS:
            yield from dict.fromkeys(_of_text(text))


def _of_text(text: str) -> Iterator[bytes]:
    data = text.encode()
    yield data
    for spelled in (
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
        html.escape(text),
        *_percent(text),
        data.hex(),
        data.hex().upper(),
    ):
        yield spelled.encode()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before in range(3):
            # Those characters that bits of nothing else go into.
            first, last = (before * 8 + 5) // 6, (before + len(data)) * 8 // 6
            yield encode(bytes(before) + data)[first:last]


def _percent(text: str) -> Iterator[str]:
    for spelled in (quote(text), quote(text, safe=""), quote_plus(text)):
        yield spelled
        yield re.sub("%..", lambda found: found[0].lower(), spelled)
