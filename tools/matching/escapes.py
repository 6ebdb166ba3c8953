from __future__ import annotations

import re
from collections.abc import Iterator

from tools.matching.search import Search
from tools.matching.text import with_line_ends
from tools.matching.work import PER_LINE

_ESCAPE = re.compile(r"\\([ntr'\"`\\\n$])")
_MEANING = {"n": "\n", "t": "\t", "r": "\r"}


def match_escapes(search: Search) -> Iterator[str]:
    """Yield the wanted text with its escapes resolved, then runs of lines that resolve to it."""
    wanted = _resolve("\n".join(search.wanted))
    in_file = with_line_ends(wanted, of=search.content)
    if in_file in search.content:
        yield in_file
    if "\\" not in search.content:
        return
    first_line, count = wanted.split("\n", 1)[0], wanted.count("\n") + 1
    for first in range(len(search.lines) - count + 1):
        # Most places are decided by their first line, whose end may be escaped.
        search.work.spend(PER_LINE)
        if _resolve(search.lines[first]).removesuffix("\\") != first_line.removesuffix("\\"):
            continue
        block = search.block(first, count)
        search.work.spend(200 * len(block))
        if _resolve(block.replace("\r\n", "\n")) == wanted:
            yield block


def _resolve(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda match: _MEANING.get(match[1], match[1]), text)
