"""Output of terminal programs to HTML: colours are kept, nothing else a terminal can do."""

from __future__ import annotations

import re

import nh3
from ansi2html import Ansi2HTMLConverter
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

# Select Graphic Rendition is what is kept; in order: other CSI, OSC and its kin, other escapes.
_SGR = r"\x1b\[[0-9;]*m"
_OTHER = re.compile(
    rf"(?!{_SGR})"
    r"(?:\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?)"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x0c\x0e-\x1a\x1c-\x1f\x7f\x80-\x9f]")
_BACKSPACED = re.compile(r"[^\n\x08]\x08")
MAX_LINE_CHARS = 4_000


def to_plain_lines(text: str) -> list[str]:
    """What stands in each line at the end, after carriage returns and backspaces; colours kept."""
    text = _OTHER.sub("", text.replace("\r\n", "\n"))
    for _ in range(3):
        text = _BACKSPACED.sub("", text)
    return [_CONTROL.sub("", _overwritten(line))[:MAX_LINE_CHARS] for line in text.split("\n")]


def _overwritten(line: str) -> str:
    """A progress bar writes over itself; what it wrote last is what is seen."""
    return next((piece for piece in reversed(line.split("\r")) if piece), "")


def lines_to_html(lines: list[str]) -> SafeString:
    """Lines of `to_plain_lines` to escaped text with colour spans."""
    text = "\n".join(lines)
    if "\x1b" not in text:
        return escape(text)
    html = Ansi2HTMLConverter(inline=False).convert(text, full=False)
    return mark_safe(  # noqa: S308 - only spans with classes come through
        nh3.clean(html, tags={"span"}, attributes={"span": {"class"}})
    )
