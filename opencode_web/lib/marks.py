"""The tags that mark what this server says to a model, and how the text of others is kept from
using them. Pure.

A tag of ours loses its first character to `&lt;`: a model still reads what it was, and it opens and
closes nothing. That holds for other cases and spaces, for characters that look alike or are not
seen, and for a tag of which the rest would follow in the next text. What has no tag stays as it is,
and to do it twice changes nothing, so that requests keep their prefix.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import TypeVar, cast

from opencode_web.lib.json import JsonValue

_Json = TypeVar("_Json", bound=JsonValue)

# What only the server says. None of its own texts has one of these but around the whole.
VOICE = (
    *("system-update", "system-reminder", "system-message", "system-notice", "system-prompt"),
    *("system-instruction", "system-instructions"),
)
# Around a part of a text whose other parts are not the server's.
FRAMES = ("instructions", "shell_metadata", "task_result", "skill_content")
MARKS = (*VOICE, *FRAMES)

_NEUTRAL = "&lt;"
_OPEN = (
    "<\uff1c\ufe64\u2039\u3008\u27e8\u2329\u276c\u276e\u2770\u29fc\u02c2\u1438\u00ab\u300a\u27ea"
    "\u226e"
)
_SLASHES = "\uff0f\u2044\u2215\u29f8"
_CONTROL = r"\x00-\x08\x0e-\x1b\x7f"
# Marks, joiners, directions, variations, tags: they are not seen by themselves.
_UNSEEN = (
    r"\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
    r"\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f" + _CONTROL
)
# Whatever is no letter and no digit can stand between two words, but for what ends a tag.
_ENDS = _OPEN + ">\uff1e\u203a"
_JOINT = rf"(?:(?![{_ENDS}])[\W_{_UNSEEN}])*"
_PLAIN_JOINT = r"(?:(?![<>])[\W_])*"
# One character for two letters.
_ST = "\ufb05\ufb06"
# Letters of other alphabets, and what compatibility forms do not know of.
_ALIKE = {
    "a": "\u0430\u03b1\u0251\u1d00\ua4ee",
    "c": "\u0441\u03f2\u1d04\ua4da",
    "d": "\u0501\u0257\u1d05\ua4d3",
    "e": "\u0435\u03b5\u0454\u025b\u212e\u1d07\ua4f0",
    "f": "\u0493\ua730\ua4dd",
    "g": "\u0261\u0262\ua4d6",
    "h": "\u04bb\u043d\u029c\ua4e7",
    "i": "\u0456\u03b9\u0131\u026al1|\u04cf\ua4f2",
    "k": "\u043a\u03ba\u1d0b\ua4d7",
    "l": "\u04cf\u029fi1|\ua4e1",
    "m": "\u043c\u1d0d\ua4df",
    "n": "\u043f\u0578\u0274\ua4e0",
    "o": "\u043e\u03bf\u1d0f0\ua4f3",
    "p": "\u0440\u03c1\u1d18\ua4d1",
    "r": "\u0433\u1d26\u0280\ua4e3",
    "s": "\u0455\ua731\u01bd\ua4e2",
    "t": "\u0442\u03c4\u1d1b\ua4d4",
    "u": "\u03c5\u057d\u1d1c\ua4f4",
    "v": "\u03bd\u0475\u1d20\ua4e6",
    "y": "\u0443\u04af\u03b3\u028f\ua4ec",
}
_COMPATIBLE = (
    *(
        (0xC0, 0x250),
        (0x370, 0x500),
        (0x1D00, 0x2000),
        (0x2070, 0x20A0),
        (0x2100, 0x2150),
        (0x2460, 0x2500),
    ),
    *((0xFF21, 0xFF5B), (0x1D400, 0x1D800), (0x1F130, 0x1F18A)),
)
# In a half of a tag at the end of a text: with all joints, ends of code would be taken for one.
_SKIPPED = re.compile(
    rf"[\s{_UNSEEN}{_SLASHES}/?!.:\-_\u2010-\u2015\u2212\u02d7\u2043\ufe58\ufe63\uff0d\uff3f\u00b7"
    r"\u1806\u2800]*"
)
_RESTORED = re.compile(r"&lt;(?=[\s/]*(?:(?:" + "|".join(MARKS) + r")\b|env\s*>))", re.IGNORECASE)


def defuse(text: str, marks: Collection[str] = MARKS) -> str:
    """Returns: the text with the tags named `marks` made plain."""
    names = tuple(marks)
    plain = text.isascii()
    if plain and "<" not in text:
        return text
    text = _pattern(names, plain=plain).sub(_NEUTRAL, text)
    last = max(text.rfind(sign) for sign in (_OPEN[0] if plain else _OPEN))
    if last >= 0 and _may_go_on(text[last + 1 :], names):
        text = text[:last] + _NEUTRAL + text[last + 1 :]
    return text


def defuse_json(value: _Json) -> _Json:
    """As `defuse`, for every text in it, keys too."""
    if isinstance(value, str):
        return cast(_Json, defuse(value))
    if isinstance(value, list):
        return cast(_Json, [defuse_json(item) for item in value])
    if isinstance(value, dict):
        return cast(_Json, {defuse(key): defuse_json(item) for key, item in value.items()})
    return value


def restore(text: str) -> str:
    """Returns: the text with the tags that `defuse` has made plain, as a file has them."""
    return _RESTORED.sub("<", text)


@lru_cache(maxsize=32)
def _pattern(names: tuple[str, ...], *, plain: bool) -> re.Pattern[str]:
    unseen = _CONTROL if plain else _UNSEEN
    skipped = rf"[\s{unseen}/?!{'' if plain else _SLASHES}]*"
    between = f"[{unseen}]*"
    joint = _PLAIN_JOINT if plain else _JOINT
    st = between.join(map(_alike, "st"))

    def word(letters: str) -> str:
        if plain:
            return between.join(letters)
        return between.join(map(_alike, letters)).replace(st, f"(?:{st}|[{_ST}])")

    # By their first words: most tags of others are told apart by one letter.
    words: dict[str, list[str]] = {}
    for name in names:
        first, _, rest = re.sub("[-_]", " ", name).partition(" ")
        words.setdefault(first, []).append(rest)
    said = [
        f"{word(first)}{joint}(?:{'|'.join(map(word, others))})" for first, others in words.items()
    ]
    ended = rf"{between}(?![\w\-])"
    bare = [f"{word('env')}{joint}[>\uff1e\u203a]"] if VOICE[0] in names else []
    sign = "<" if plain else f"[{_OPEN}]"
    return re.compile(
        f"{sign}(?={skipped}(?:(?:{'|'.join(said)}){ended}{''.join(f'|{one}' for one in bare)}))",
        re.IGNORECASE,
    )


def _alike(letter: str) -> str:
    forms = "".join(one for one, base in _folds().items() if base == letter)
    return f"[{letter}{re.escape(_ALIKE.get(letter, '') + forms)}]"


@lru_cache(maxsize=1)
def _folds() -> dict[str, str]:
    """Characters that are a Latin letter in another form."""
    known = {}
    for number in (n for start, end in _COMPATIBLE for n in range(start, end)):
        base = unicodedata.normalize("NFKD", chr(number))[:1].casefold()
        latin = next((one for one, others in _ALIKE.items() if base and base in others), base)
        if latin.isascii() and latin.isalpha():
            known[chr(number)] = latin
    return known


def _may_go_on(rest: str, names: Iterable[str]) -> bool:
    """Whether the rest of a text is nothing, or how one of the names begins."""
    rest = re.sub(f"[{_ST}]", "st", rest)
    left = {re.sub("[-_]", "", name) for name in (*names, "env")}
    at = _skip(rest, 0)
    while left and at < len(rest):
        left = {name[1:] for name in left if name and _is_letter(rest[at], name[0])}
        at = _skip(rest, at + 1)
    return bool(left)


def _skip(text: str, start: int) -> int:
    found = _SKIPPED.match(text, start)
    return found.end() if found else start


def _is_letter(char: str, letter: str) -> bool:
    folded = char.casefold()
    return letter in (folded, _folds().get(char)) or folded in _ALIKE.get(letter, "")
