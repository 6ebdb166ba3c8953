"""What the row of a fetched page shows."""

from __future__ import annotations

from urllib.parse import urlsplit

from opencode_web.lib.json import number_of, text_of
from sessions.events.stored import StoredState
from sessions.present.conversation.bodies import (
    ALL_LINES,
    OUTPUT_LINES,
    PageBody,
    pictures_of,
    said_lines,
)
from sessions.present.data import first_line
from sessions.present.place import Place


def host_of(address: str) -> str:
    """The host of an address; the address itself where it names none."""
    try:
        return urlsplit(address).hostname or address
    except ValueError:
        return address


def page_body(state: StoredState, *, place: Place, url: str, whole: bool, part_id: str) -> PageBody:
    """Show a page that has come."""
    metadata = state.get("metadata", {})
    address = text_of(metadata, "url") or text_of(state.get("input", {}), "url")
    output, hidden = said_lines(state, place, most=ALL_LINES if whole else OUTPUT_LINES)
    return PageBody(
        address=first_line(address),
        link=address if address.lower().startswith(("http://", "https://")) else "",
        title=first_line(text_of(metadata, "title")),
        status=number_of(metadata, "status"),
        size_bytes=number_of(metadata, "bytes"),
        mime=text_of(metadata, "mime"),
        output="\n".join(output),
        hidden=hidden,
        url=url,
        pictures=pictures_of(state, place, part_id),
    )
