"""Code to runs of classified text, line by line. Colours are the style sheet's."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import STANDARD_TYPES, Token, _TokenType
from pygments.util import ClassNotFound

# Lexers are regular expressions on hostile text: above this, code is shown plain.
MAX_CHARS = 60_000
_MAX_LINE_CHARS = 2_000

_PLAIN = (Token.Text, Token.Punctuation, Token.Operator, Token.Error, Token.Generic)

# (class, text); the class is empty for plain text.
Run = tuple[str, str]
Line = list[Run]


@lru_cache(maxsize=64)
def lexer_named(name: str) -> Lexer | None:
    """Returns: None for a language that is not known."""
    try:
        return get_lexer_by_name(name[:40].strip().lower(), ensurenl=False, stripnl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=64)
def _lexer_for_name_of_file(name: str) -> Lexer | None:
    try:
        return get_lexer_for_filename(name, ensurenl=False, stripnl=False)
    except ClassNotFound:
        return None


def lexer_for_path(path: str) -> Lexer | None:
    """Returns: None for a kind of file that is not known."""
    name = path.rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    return _lexer_for_name_of_file(f"file.{ending}" if dot and stem else name)


def split_runs(code: str, lexer: Lexer | None) -> list[Line]:
    """Returns: one list of runs for each line of `code`, without line ends."""
    if lexer is None or len(code) > MAX_CHARS or _has_huge_line(code):
        return [[("", line)] if line else [] for line in code.split("\n")]
    lines: list[Line] = [[]]
    for kind, text in lexer.get_tokens(code):
        name = _class_of(kind)
        for index, piece in enumerate(text.split("\n")):
            if index:
                lines.append([])
            if not piece:
                continue
            line = lines[-1]
            if line and line[-1][0] == name:
                piece = line.pop()[1] + piece
            line.append((name, piece))
    # Some lexers end with a line end of their own.
    wanted = code.count("\n") + 1
    return lines[:wanted] + [[] for _ in range(wanted - len(lines))]


def _has_huge_line(code: str) -> bool:
    return any(len(line) > _MAX_LINE_CHARS for line in code.split("\n"))


@lru_cache(maxsize=512)
def _class_of(kind: _TokenType) -> str:
    while kind not in STANDARD_TYPES and kind.parent is not None:
        kind = kind.parent
    # Names, operators and punctuation stay in the text's colour: fewer nodes, calmer pages.
    if kind is Token.Name or any(
        kind in plain  # type: ignore[comparison-overlap]  # a token type contains its own kinds
        for plain in _PLAIN
    ):
        return ""
    return STANDARD_TYPES[kind]


def runs_to_html(runs: Iterable[Run]) -> SafeString:
    """Escaped text in spans."""
    return mark_safe(  # noqa: S308 - every piece is escaped here
        "".join(
            f'<span class="{name}">{escape(text)}</span>' if name else escape(text)
            for name, text in runs
        )
    )


def highlight(code: str, lexer: Lexer | None) -> SafeString:
    """Returns: highlighted, escaped code for a `<pre>`."""
    lines = split_runs(code, lexer)
    return mark_safe("\n".join(runs_to_html(line) for line in lines))  # noqa: S308 - escaped above
