"""One word of a shell line: what bash makes of its quotes, and what only bash can know. Pure.

Source: the sections on quoting and expansions of the manual of bash.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tools.sandbox.mounts import HOME

_ESCAPED_IN_QUOTES = '$`"\\\n'
# What follows a `$` that is more than a dollar.
_EXPANDS = re.compile(r"[A-Za-z0-9_{(\[@*#?$!-]")
_BRACES = re.compile(r"\{[^{}\s]*(?:,|\.\.)[^{}\s]*\}")
_TILDE = re.compile(r"~(?=/|$)")
_ANSI = re.compile(
    r"\\(?:x(?P<hex>[0-9a-fA-F]{1,2})|u(?P<u>[0-9a-fA-F]{1,4})|U(?P<U>[0-9a-fA-F]{1,8})"
    r"|(?P<oct>[0-7]{1,3})|c(?P<control>.)|(?P<one>.))",
    re.DOTALL,
)
_ANSI_ONE = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}


@dataclass(frozen=True)
class Word:
    """A word as the command gets it.

    `text` has no quotes any more; from the first expansion on it is the source as it is. `fixed` is
    the part before that, and the whole text where there is none.
    """

    raw: str
    text: str
    fixed: str
    # Whether a part of it is known only when it runs: a variable, a substitution, braces.
    expands: bool = False
    # Whether names of files may take its place.
    globs: bool = False

    @property
    def is_plain(self) -> bool:
        return not self.expands and not self.globs


def read_word(raw: str) -> Word:
    """Read the source of one word; one whose quotes never end counts as if they did."""
    reader = _Reader(raw)
    reader.read()
    fixed = "".join(reader.out)
    if reader.expands:
        return Word(raw, fixed + raw[reader.at :], fixed, expands=True, globs=reader.globs)
    return Word(raw, fixed, fixed, globs=reader.globs)


class _Reader:
    """Goes through a word once. Stops at the first expansion, which is then at `at`."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.at = 0
        self.out: list[str] = []
        self.expands = False
        self.globs = False

    def read(self) -> None:
        raw = self.raw
        if _TILDE.match(raw):
            self.out.append(str(HOME))
            self.at = 1
        while self.at < len(raw) and not self.expands:
            char = raw[self.at]
            if char == "\\":
                self._escape()
            elif char == "'":
                self._until("'")
            elif char == '"':
                self.at += 1
                self._quoted()
            elif char == "$" and raw.startswith("'", self.at + 1):
                self._ansi()
            elif char == "$" and raw.startswith('"', self.at + 1):
                self.at += 2
                self._quoted()
            elif self._is_expansion(char):
                self.expands = True
            else:
                self.globs = self.globs or char in "*?["
                self.out.append(char)
                self.at += 1

    def _is_expansion(self, char: str) -> bool:
        following = self.raw[self.at + 1 : self.at + 2]
        return (
            char == "`"
            or (char == "$" and bool(_EXPANDS.match(following)))
            or (char in "<>" and following == "(")
            or (char == "{" and bool(_BRACES.match(self.raw, self.at)))
        )

    def _escape(self) -> None:
        following = self.raw[self.at + 1 : self.at + 2]
        # A line that is continued: both characters are gone.
        self.out.append("" if following == "\n" else following)
        self.at += 2

    def _until(self, quote: str) -> None:
        end = self.raw.find(quote, self.at + 1)
        end = len(self.raw) if end < 0 else end
        self.out.append(self.raw[self.at + 1 : end])
        self.at = end + 1

    def _quoted(self) -> None:
        raw = self.raw
        while self.at < len(raw):
            char = raw[self.at]
            if char == '"':
                self.at += 1
                return
            if char == "\\" and raw[self.at + 1 : self.at + 2] in _ESCAPED_IN_QUOTES:
                self._escape()
            elif char == "`" or (char == "$" and _EXPANDS.match(raw[self.at + 1 : self.at + 2])):
                self.expands = True
                return
            else:
                self.out.append(char)
                self.at += 1

    def _ansi(self) -> None:
        at = self.at + 2
        while at < len(self.raw) and self.raw[at] != "'":
            if found := _ANSI.match(self.raw, at):
                self.out.append(_ansi_text(found))
                at = found.end()
            else:
                self.out.append(self.raw[at])
                at += 1
        self.at = at + 1


def _ansi_text(found: re.Match[str]) -> str:
    groups = found.groupdict()
    if digits := groups["hex"] or groups["u"] or groups["U"]:
        code = int(digits, 16)
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"
    if digits := groups["oct"]:
        return chr(int(digits, 8) & 0xFF)
    if control := groups["control"]:
        return chr(ord(control) & 0x1F)
    one = groups["one"]
    return _ANSI_ONE.get(one, one if one in "\\'\"?" else f"\\{one}")
