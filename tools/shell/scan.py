"""The commands of a line that the parser cannot have or cannot read: cut at every separator. Pure.

Quotes are not respected, so it finds commands that bash would not run; it misses none that is
written in the line. That is right for what is denied, and nothing is allowed by it alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tools.shell.command import Command
from tools.shell.words import read_word
from tools.shell.wrappers import behind_wrappers

_CUTS = re.compile(r"[;&|\n(){}`]+")
_KEYWORDS = "! case coproc do elif else function if in then time until while"
_BEFORE_COMMANDS = frozenset(_KEYWORDS.split())
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_REDIRECTION = re.compile(r"\d*(?:<<<|<<-?|<>|>>|>\||[<>])&?(?P<target>.*)", re.DOTALL)


def scan(source: str) -> Iterator[Command]:
    """Yield what may be a command, each text once. Linear in the source."""
    joined = source.replace("\\\n", "")
    for segment in dict.fromkeys(_CUTS.split(joined)):
        # Of `sh -c "rm x` the command begins behind a quote.
        for text in dict.fromkeys((segment, *re.split(r"[\"']", segment)[1:])):
            raw = _words(text.split())
            words = tuple(map(read_word, raw))
            for one in dict.fromkeys((words, behind_wrappers(words))):
                if one:
                    yield Command(" ".join(word.raw for word in one), one)


def _words(raw: list[str]) -> list[str]:
    index = 0
    while index < len(raw):
        found = _REDIRECTION.fullmatch(raw[index])
        if found:
            index += 1 if found["target"] else 2
        elif raw[index] in _BEFORE_COMMANDS or _ASSIGNMENT.match(raw[index]):
            index += 1
        else:
            break
    return raw[index:]
