"""Look through a session before it is shown to people outside, for what looks like a secret."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from opencode_web.lib.json import JsonObject
from sessions.models import Part, Session
from sessions.secrets import project_redactor
from sessions.shares.secrets import kinds_in, texts_in

# About two seconds of work.
MAX_CHARS = 8_000_000
_OF_PROJECT = "secret of this project"


@dataclass(frozen=True)
class Findings:
    """`kinds` in words for people. Not `whole`: the session is too long to look through."""

    kinds: list[str]
    whole: bool

    def __bool__(self) -> bool:
        return bool(self.kinds) or not self.whole


def scan_session(session: Session, *, details: bool) -> Findings:
    """Look at what a link would show. Whatever is found is also taken out of what it shows."""
    redactor, kinds, chars = project_redactor(session.project_id), set[str](), 0
    for text in _texts(session, details=details):
        chars += len(text)
        if chars > MAX_CHARS:
            return Findings(sorted(kinds), whole=False)
        kinds |= kinds_in(text)
        if redactor.text(text) != text:
            kinds.add(_OF_PROJECT)
    return Findings(sorted(kinds), whole=True)


def without_contents(part: JsonObject) -> JsonObject:
    """Returns: a part without the files in it, which no link shows and which may be large."""
    if str(part.get("url", "")).startswith("data:"):
        return {**part, "url": ""}
    state = part.get("state")
    if not isinstance(state, dict) or not isinstance(files := state.get("attachments"), list):
        return part
    return {**part, "state": {**state, "attachments": [{} for _ in files]}}


def _texts(session: Session, *, details: bool) -> Iterator[str]:
    yield session.title
    rows = Part.objects.visible(session).filter(type__in=["text", "tool", "reasoning"])
    for kind, data in rows.order_by("-seq").values_list("type", "data").iterator(chunk_size=200):
        if details or kind == "text":
            yield from texts_in(without_contents(data))
        elif kind == "tool":
            # Its row still says what it was called for.
            yield from texts_in(data.get("state", {}).get("input", {}))
