"""All Context Sources, and how their texts come together: always in the order of their keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from opencode_web.lib.json import JsonObject
from opencode_web.lib.marks import defuse_json
from sessions.repository.reading import Unavailable
from sessions.runner.context import (
    agent,
    basics,
    configured,
    day,
    environment,
    global_instructions,
    installed,
    instructions,
    mcp,
    mcp_resources,
    mode,
    prompt,
    references,
    remote,
    skills,
)
from sessions.runner.context.source import ContextInputs, Source

# Any: each source has its own type of value.
SOURCES: tuple[Source[Any], ...] = (
    agent.SOURCE,
    basics.SOURCE,
    day.SOURCE,
    environment.SOURCE,
    instructions.SOURCE,
    configured.SOURCE,
    global_instructions.SOURCE,
    remote.SOURCE,
    mcp.SOURCE,
    mcp_resources.SOURCE,
    mode.SOURCE,
    prompt.SOURCE,
    references.SOURCE,
    skills.SOURCE,
)


def all_sources(inputs: ContextInputs, known: JsonObject) -> Sequence[Source[Any]]:
    """Returns: ours, then those of installed plugins, of which there may be others each time.

    One that is gone stays among them while the model knows it, so that it can be taken back.
    """
    return (*SOURCES, *installed.sources(inputs.place, known))


CHANGED = (
    "The following has changed since the conversation began or since you were last told of it. "
    "It comes from the server and takes the place of what was said before about the same things."
)


class Incompatible(Exception):
    """What the model knows cannot be brought up to date by a message; another epoch has to begin.

    `moved` tells a session in another place from values or sources that are read no more.
    """

    def __init__(self, key: str, *, moved: bool = False) -> None:
        super().__init__(key)
        self.moved = moved


def observe(
    inputs: ContextInputs, snapshot: JsonObject, *, sources: Sequence[Source[Any]] = SOURCES
) -> JsonObject:
    """Returns: the value of each source that has something to tell, by key.

    `snapshot` is what the model knows, empty for a new epoch; a source that is not available now
    keeps its value of it.
    Raises: Incompatible.
    """
    values: JsonObject = {}
    for source in sources:
        known = _load(source, snapshot) if source.key in snapshot else None
        try:
            value = source.observe(inputs, known)
        except Unavailable:
            value = known
        if value is None:
            continue
        # Most of it is written by others, down to the names of folders.
        value = source.load(defuse_json(source.dump(value)))
        if known is not None and not source.is_compatible(known, value):
            raise Incompatible(source.key, moved=True)
        values[source.key] = source.dump(value)
    return values


def missing_pages(inputs: ContextInputs, snapshot: JsonObject) -> list[str]:
    """Returns: addresses to fetch (`remote.fetch_pages`) before these inputs are observed."""
    key = remote.SOURCE.key
    try:
        known = _load(remote.SOURCE, snapshot) if key in snapshot else None
    except Incompatible:
        known = None
    return remote.wanted(inputs, known)


def _load(source: Source[Any], snapshot: JsonObject) -> Any:  # the source's own type
    try:
        return source.load(snapshot[source.key])
    except ValidationError as exc:
        raise Incompatible(source.key) from exc


def render_baseline(values: JsonObject, *, sources: Sequence[Source[Any]] = SOURCES) -> list[str]:
    """Returns: the system blocks: the agent's instructions, then everything else.

    The first is the same in many sessions, so that they share it in a provider's cache.
    """
    by_key = {source.key: source for source in sources}
    texts = {key: by_key[key].baseline(by_key[key].load(values[key])) for key in sorted(values)}
    first = texts.pop(agent.SOURCE.key, "")
    rest = "\n\n".join(text for text in texts.values() if text)
    return [block for block in (first, rest) if block]


def render_changes(
    old: JsonObject, new: JsonObject, *, sources: Sequence[Source[Any]] = SOURCES
) -> str:
    """Returns: one message about everything that differs, or nothing when none of it is to be told.

    Raises: Incompatible when a source is gone that nobody can render any more.
    """
    by_key = {source.key: source for source in sources}
    texts = []
    for key in sorted({*old, *new}):
        if old.get(key) == new.get(key):
            continue
        source = by_key.get(key)
        if source is None:
            raise Incompatible(key)
        if key not in old:
            texts.append(source.baseline(source.load(new[key])))
        elif key not in new:
            texts.append(source.removal(source.load(old[key])))
        else:
            texts.append(source.update(source.load(old[key]), source.load(new[key])))
    told = [text for text in texts if text]
    return "\n\n".join([CHANGED, *told]) if told else ""
