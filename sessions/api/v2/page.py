"""Pages of a list, with an anchor to go on from in either direction."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Annotated, Any, Generic, Literal, NotRequired, TypeVar

from django.db.models import Model, QuerySet
from ninja import Field, Schema
from typing_extensions import TypedDict

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonValue

Row = TypeVar("Row", bound=Model)
Data = TypeVar("Data")
Direction = Literal["next", "previous"]
MAX_LISTED = 200


class PageQuery(Schema):
    """`cursor` is one that a page gave; it keeps the order of that page."""

    limit: Annotated[int, Field(ge=1, le=MAX_LISTED)] = 50
    order: Literal["asc", "desc"] = "desc"
    cursor: str = Field(default="", max_length=500)


@dataclass(frozen=True)
class _Anchor:
    place: Any  # of the column that the list is in the order of
    order: str
    direction: str


class Cursors(TypedDict):
    previous: NotRequired[str]
    next: NotRequired[str]


class Paged(TypedDict, Generic[Data]):
    data: Data
    cursor: Cursors


def take_page(
    rows: QuerySet[Row], query: PageQuery, *, column: str, newest_last: bool
) -> tuple[list[Row], Cursors]:
    """Cut a page out of a list in the order of a unique column.

    `newest_last`: whether the newest row has the highest value in it.
    Returns: the rows, and `{previous?, next?}` with the cursors of the pages beside.
    Raises: Invalid for a cursor that is none.
    """
    anchor = _read(query.cursor) if query.cursor else None
    order = anchor.order if anchor else query.order
    back = anchor is not None and anchor.direction == "previous"
    # Whether the values of the column rise within the page as it is shown.
    rises = (order == "asc") is newest_last
    if anchor is not None:
        rows = rows.filter(**{f"{column}__{'gt' if rises is not back else 'lt'}": anchor.place})
    found = list(rows.order_by(column if rises is not back else f"-{column}")[: query.limit + 1])
    has_more = len(found) > query.limit
    found = found[: query.limit]
    if back:
        found.reverse()
    cursors: Cursors = {}
    if found and (anchor is not None if not back else has_more):
        cursors["previous"] = _write(getattr(found[0], column), order, "previous")
    if found and (has_more if not back else True):
        cursors["next"] = _write(getattr(found[-1], column), order, "next")
    return found, cursors


def _write(place: JsonValue, order: str, direction: Direction) -> str:
    data = {"place": place, "order": order, "direction": direction}
    text = json.dumps(data, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read(cursor: str) -> _Anchor:
    try:
        data = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        anchor = _Anchor(data["place"], data["order"], data["direction"])
    except (binascii.Error, ValueError, KeyError, TypeError) as exc:
        raise Invalid("The cursor is not valid.", kind="Query") from exc
    known = anchor.order in {"asc", "desc"} and anchor.direction in {"next", "previous"}
    place = anchor.place
    is_number = isinstance(place, int) and not isinstance(place, bool) and abs(place) < 2**63
    is_text = isinstance(place, str) and "\0" not in place
    if not known or not (is_number or is_text):
        raise Invalid("The cursor is not valid.", kind="Query")
    return anchor
