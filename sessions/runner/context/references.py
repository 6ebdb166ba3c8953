"""`core/references`: other folders and repositories that the settings name, with what they are.

Source: behaviour facts 4.4 and 6.2. Those without a description, and hidden ones, are not listed.
"""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit

from pydantic import TypeAdapter

from opencode_web.lib.json import JsonValue
from sessions.events.messages import Frozen
from sessions.runner.context.source import ContextInputs, Source

_INTRO = "Named in the settings as worth knowing of:"


class Reference(Frozen):
    """`where` is a path, or an address without what could be a password."""

    name: str
    where: str
    description: str


References = list[Reference]


def _observe(inputs: ContextInputs, _known: References | None) -> References | None:
    given = {**inputs.config.reference, **inputs.config.references}
    found = [_read(name, value) for name, value in sorted(given.items())]
    return [reference for reference in found if reference is not None] or None


def _read(name: str, value: JsonValue) -> Reference | None:
    if not isinstance(value, dict) or value.get("hidden") is True:
        return None
    description, path = value.get("description"), value.get("path")
    repository, branch = value.get("repository"), value.get("branch")
    if not isinstance(description, str) or not description.strip():
        return None
    if isinstance(path, str):
        where = f"folder {path}; you can read it only where it lies in the worktree"
    elif isinstance(repository, str):
        at = f", branch {branch}" if isinstance(branch, str) and branch else ""
        where = f"repository {_without_password(repository)}{at}; it is not checked out here"
    else:
        return None
    return Reference(name=name, where=where, description=" ".join(description.split()))


def _without_password(address: str) -> str:
    parts = urlsplit(address)
    if "@" not in parts.netloc:
        return address
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _list(references: References) -> str:
    return "\n".join(f"- {one.name}: {one.description} ({one.where})" for one in references)


SOURCE: Source[References] = Source(
    key="core/references",
    type=TypeAdapter(References),
    observe=_observe,
    baseline=lambda references: f"{_INTRO}\n{_list(references)}",
    update=lambda _old, new: f"{_INTRO}\n{_list(new)}",
    removal=lambda _old: "What the settings named as worth knowing of is no longer named there.",
)
