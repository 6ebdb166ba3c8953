"""Tables as CSV that people open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

# What a spreadsheet would take for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(lines: Iterable[Sequence[str]]) -> str:
    """Returns: the lines as CSV; no cell is a formula."""
    text = io.StringIO()
    csv.writer(text).writerows([_plain(cell) for cell in line] for line in lines)
    return text.getvalue()


def _plain(text: str) -> str:
    """Put an apostrophe before what a spreadsheet would calculate.

    Source: https://owasp.org/www-community/attacks/CSV_Injection
    """
    return f"'{text}" if text.startswith(_FORMULA) else text
