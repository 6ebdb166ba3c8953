"""What bash evaluates once more: arithmetic, indexes, and names that a variable holds. Pure.

There a variable that holds `a[$(rm x)]` runs the command, whatever the line itself says. So what
counts is whether such a place is reached by anything but digits. The texts of whole lines are read
here, quotes and all, as the parser takes some arithmetic for groups of commands.
Source: the sections on arithmetic, parameters, arrays and conditions of the manual of bash.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from tools.shell.words import Word

_ARITHMETIC = re.compile(r"\(\(|\$\[")
_CONDITION = re.compile(r"\[\[\s(?P<inner>.*?)(?:\s\]\]|$)", re.DOTALL)
_COMPARES = re.compile(r"(?:^|\s)-(?:eq|ne|lt|le|gt|ge|v|R)(?:\s|$)")
_NAMED = re.compile(r"[A-Za-z_$`]")
# `${x@P}`, `${!x}` but not the names that begin so, `${x:y}`, `{a[x]}> f`.
_EXPANSION = re.compile(
    r"\$\{(?:[^}]*@P|!(?!\w+(?:\[[@*]\]|[@*])\})"
    r"|#?[\w@*]+(?:\[[^\]]*\])?:(?![-=+?])[^}]*[A-Za-z_$`])"
    r"|(?<!\$)\{\w+\[[^}]*\}[<>]"
)
_KEYED = re.compile(r"\(\s*\[|\s\[[^\]]*\]\+?=")
_FIXED_INDEX = re.compile(r"[\d\s+*/%-]+|@")
# Of these a shell splits nothing and takes nothing for an operator.
_NUMBERS = re.compile(r"\$[?#$!]")
_BINARY = "= == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef -a -o ] )"
_OPERATORS = frozenset(_BINARY.split())


def evaluates_again(source: str) -> bool:
    """Tell whether a line holds arithmetic, a condition or an expansion that does."""
    return bool(
        _EXPANSION.search(source)
        or any(map(_NAMED.search, _arithmetic(source)))
        or any(_COMPARES.search(one["inner"]) for one in _CONDITION.finditer(source))
    )


def index_evaluates(index: str) -> bool:
    """Tell it of what stands between the brackets of `a[1]`."""
    return not _FIXED_INDEX.fullmatch(index)


def array_evaluates(value: str) -> bool:
    """Tell it of `(a b)` or `([0]=a)`."""
    return bool(_KEYED.search(value))


def test_evaluates(words: Sequence[Word]) -> bool:
    """Tell whether `test` or `[` looks for a variable by what may be an index, as `-v` does."""
    operands = words[1:]
    for word, after in zip_longest(operands, operands[1:]):
        if word.fixed in {"-v", "-R"}:
            return True
        if not word.expands or word.fixed or _NUMBERS.fullmatch(word.raw):
            continue
        # Without quotes it may be many words; in quotes it is an operator before another operand.
        if not word.raw.startswith('"') or (after is not None and after.text not in _OPERATORS):
            return True
    return False


def _arithmetic(source: str) -> Iterator[str]:
    """Yield what stands between the brackets, to where they are closed or the text ends."""
    found = _ARITHMETIC.search(source)
    while found:
        opening, closing = ("(", ")") if found[0] == "((" else ("[", "]")
        depth, end = found[0].count(opening), len(source)
        for at in range(found.end(), len(source)):
            depth += (source[at] == opening) - (source[at] == closing)
            if not depth:
                end = at
                break
        yield source[found.end() : end]
        found = _ARITHMETIC.search(source, end)
