"""Tables as CSV that people open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Iterable, Sequence

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils import timezone

# What a spreadsheet would take for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(lines: Iterable[Sequence[str]]) -> str:
    """Returns: the lines as CSV; no cell is a formula."""
    text = io.StringIO()
    csv.writer(text).writerows([_plain(cell) for cell in line] for line in lines)
    return text.getvalue()


def csv_download(content: str | AsyncIterator[str], name: str) -> HttpResponseBase:
    """Returns: a download of CSV, whole or as it is made, named after `name` and the day."""
    file = f"{name}-{timezone.now():%Y-%m-%d}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{file}"'}
    kind = HttpResponse if isinstance(content, str) else StreamingHttpResponse
    return kind(content, content_type="text/csv; charset=utf-8", headers=headers)


def _plain(text: str) -> str:
    """Put an apostrophe before what a spreadsheet would calculate.

    Source: https://owasp.org/www-community/attacks/CSV_Injection
    """
    return f"'{text}" if text.startswith(_FORMULA) else text
