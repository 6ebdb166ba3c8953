"""Lines and columns as people count them, and as a server does. Pure.

A column of ours counts characters from 1; a server's counts units of UTF-16 from 0: that is the
one encoding that every server has to know, so no other is offered.
Source: LSP 3.17, "Text Documents" and "Position".
"""

from __future__ import annotations

import re

ENCODING = "utf-16"
_LINE_END = re.compile("\r\n|\n|\r")


def split_lines(text: str) -> list[str]:
    """Cut a text as the protocol does, and as the read tool numbers it."""
    return _LINE_END.split(text)


def to_units(line: str, column: int) -> int:
    """Turn a column of ours into a server's. One after the end of the line is its end."""
    return _size(line[: column - 1])


def to_column(line: str, units: int) -> int:
    """Turn a server's column into ours. One within a character is that character's."""
    if line.isascii():
        return min(units, len(line)) + 1
    seen = 0
    for index, character in enumerate(line):
        seen += _size(character)
        if seen > units:
            return index + 1
    return len(line) + 1


def _size(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)
