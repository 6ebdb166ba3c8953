"""Which people a prompt mentions by `@` and their name, as the metadata of its text keeps them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from opencode_web.lib.json import JsonObject, JsonValue
from sessions.events.parts import TextPart
from sessions.models import Session
from sessions.visibility import people_who_see
from teams.models import User

KEY = "people"
MAX_PEOPLE = 20
# Neither in code, nor a part of an address or a path.
_NAMED = re.compile(r"(?<![\w`@/.-])@[\w-]++(?!/|\.\w)")


def with_people(part: TextPart, typed: str, *, session: Session, author: User) -> TextPart:
    """Returns: the part with whom of those who see the session the typed text mentions, but for
    who has written it."""
    if not _NAMED.search(typed):
        return part
    others = (one for one in people_who_see(session.project, session) if one.pk != author.pk)
    people: list[JsonValue] = [
        {"text": written, "id": user_id} for written, user_id in find_people(typed, others)
    ]
    metadata = {**(part.metadata or {}), KEY: people}
    return part.model_copy(update={"metadata": metadata}) if people else part


def find_people(text: str, people: Iterable[User]) -> list[tuple[str, int]]:
    """Returns: the first MAX_PEOPLE mentions as they are written, with who is called so."""
    by_name: dict[str, list[int]] = {}
    for one in people:
        if one.handle:
            by_name.setdefault(f"@{one.handle}".casefold(), []).append(one.pk)
    written = dict.fromkeys(found[0].rstrip("-") for found in _NAMED.finditer(text))
    named = ((name, pk) for name in written for pk in by_name.get(name.casefold(), ()))
    return list(islice(named, MAX_PEOPLE))


def people_in(metadata: JsonObject | None) -> Sequence[tuple[str, int]]:
    """Returns: what `with_people` has kept in the metadata of a text. That of an imported session
    can be anything."""
    kept = (metadata or {}).get(KEY)
    return [
        (text, user_id)
        for one in (kept if isinstance(kept, list) else ())
        if isinstance(one, dict)
        and isinstance(text := one.get("text"), str)
        and isinstance(user_id := one.get("id"), int)
    ]
