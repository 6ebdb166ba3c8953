"""Known MCP servers that admins can set up, read from a file. Nothing in it is run or trusted.

Source: the `server.json` of the MCP registry, as one list, as `servers`, or as its API lists them,
https://github.com/modelcontextprotocol/registry/blob/main/docs/reference/server-json
"""

from __future__ import annotations

import json
import logging
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from opencode_web.lib.config_references import references_in
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import printable_text

logger = logging.getLogger(__name__)

_SHIPPED = Path(__file__).with_name("catalog.json")
_MAX_BYTES = 16 * 1024 * 1024
_MAX_ENTRIES = 20_000
_VARIABLE = re.compile(r"\{([^{}]{1,100})\}")
_UNNAMEABLE = re.compile(r"[^A-Za-z0-9]+")
# Of npm and PyPI, and what is no option of their programs, no path, and no other address.
_PACKAGE = re.compile(r"(@[A-Za-z0-9~][\w.~-]*/)?[A-Za-z0-9~][\w.~-]*")
_VERSION = re.compile(r"[\w.+-]*")
# How packages are run here; others need a container or a runtime that is not there.
_RUNNERS = {"npm": ("npx", "-y", "{0}@{1}"), "pypi": ("uvx", "{0}=={1}")}


# A line break would begin another variable or header in the form.
_Line = Annotated[str, Field(max_length=2_000, pattern=r"^[^\x00-\x1f\x7f-\x9f\x{2028}\x{2029}]*$")]


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)


class _Value(_Read):
    description: str = Field(default="", max_length=2_000)
    value: _Line = ""
    default: _Line = ""
    placeholder: _Line = ""
    is_secret: bool = Field(default=False, alias="isSecret")
    is_required: bool = Field(default=False, alias="isRequired")


class _Input(_Value):
    name: _Line = ""
    value_hint: _Line = Field(default="", alias="valueHint")
    type: str = ""
    variables: dict[str, _Value] = {}


class _Remote(_Read):
    type: Literal["streamable-http", "sse"]
    url: _Line
    headers: list[_Input] = Field(default=[], max_length=50)
    variables: dict[str, _Value] = {}


class _Package(_Read):
    kind: str = Field(alias="registryType")
    identifier: str = Field(max_length=500)
    version: str = Field(default="", max_length=100)
    transport: JsonObject = {}
    arguments: list[_Input] = Field(default=[], alias="packageArguments", max_length=50)
    variables: list[_Input] = Field(default=[], alias="environmentVariables", max_length=50)


class _Server(_Read):
    name: str = Field(max_length=200)
    title: str = Field(default="", max_length=200)
    description: str = Field(default="", max_length=1_000)
    remotes: list[_Remote] = Field(default=[], max_length=20)
    packages: list[_Package] = Field(default=[], max_length=20)


@dataclass(frozen=True)
class Asked:
    """A secret that a server needs, by the name under which it is stored."""

    name: str
    description: str


@dataclass(frozen=True)
class Entry:
    """A server that can be set up. `settings` are those under `mcp`, with secrets as references."""

    id: str
    title: str
    description: str
    # Such as `shop`, for its settings.
    name: str
    settings: JsonObject
    secrets: tuple[Asked, ...] = field(default=())

    @property
    def runs(self) -> str:
        """What is started, or where it is."""
        command = self.settings.get("command")
        words = command if isinstance(command, list) else []
        return shlex.join(str(word) for word in words) or str(self.settings.get("url", ""))


def catalog() -> tuple[Entry, ...]:
    """Returns: the servers of the file, in its order; none where it cannot be read."""
    path = Path(settings.MCP_CATALOG) if settings.MCP_CATALOG else _SHIPPED
    try:
        stat = path.stat()
        return _read(path, stat.st_mtime_ns, stat.st_size)
    except (OSError, ValueError, RecursionError) as exc:
        logger.error("mcp.catalog_unreadable path=%s error=%s", path, exc)
        return ()


def find_entries(text: str) -> list[Entry]:
    """Returns: those with all words of a text in their names or descriptions."""
    words = text.lower().split()
    return [
        entry
        for entry in catalog()
        if all(word in f"{entry.id} {entry.title} {entry.description}".lower() for word in words)
    ]


def entry_of(entry_id: str) -> Entry | None:
    """Returns: the one of this id, if it is there."""
    return next((entry for entry in catalog() if entry.id == entry_id), None)


@lru_cache(maxsize=2)
def _read(path: Path, _changed: int, size: int) -> tuple[Entry, ...]:
    if size > _MAX_BYTES:
        raise ValueError(f"it has more than {_MAX_BYTES >> 20} MiB")
    found: JsonValue = json.loads(path.read_bytes())
    listed = found.get("servers") if isinstance(found, dict) else found
    entries = dict[str, Entry]()
    for one in (listed if isinstance(listed, list) else [])[:_MAX_ENTRIES]:
        for entry in _usable(one):
            entries.setdefault(entry.id, entry)
    return tuple(entries.values())


def _usable(one: JsonValue) -> Iterator[Entry]:
    inner = one.get("server", one) if isinstance(one, dict) else one
    try:
        server = _Server.model_validate(inner)
    except ValidationError:
        return
    name = _UNNAMEABLE.sub("-", server.name.rpartition("/")[2]).strip("-")[:40] or "server"
    asked = dict[str, Asked]()
    if (remote := next(iter(server.remotes), None)) is not None:
        found = _remote(name, remote, asked)
    else:
        package = next((one for one in server.packages if _runs(one)), None)
        if package is None:
            return
        found = _package(name, package, asked)
    if not _is_plain(found, asked):
        return
    yield Entry(
        id=server.name,
        title=printable_text(server.title) or name,
        description=printable_text(server.description),
        name=name,
        settings=found,
        secrets=tuple(asked.values()),
    )


def _is_plain(found: JsonObject, asked: dict[str, Asked]) -> bool:
    """Whether settings name no secret but those that people are asked for."""
    return {one.text for one in references_in(found)}.issubset(f"{{env:{one}}}" for one in asked)


def _runs(package: _Package) -> bool:
    # Secrets reach a program in its environment alone: all processes can read its arguments.
    if any(one.is_secret for one in package.arguments):
        return False
    if not (_PACKAGE.fullmatch(package.identifier) and _VERSION.fullmatch(package.version)):
        return False
    return package.kind in _RUNNERS and package.transport.get("type") == "stdio"


def _remote(name: str, remote: _Remote, asked: dict[str, Asked]) -> JsonObject:
    headers: JsonObject = {
        one.name: text for one in remote.headers if (text := _text(name, one.name, one, asked))
    }
    url = _VARIABLE.sub(lambda found: _said(found, remote.variables), remote.url)
    return {"type": "remote", "url": url, **({"headers": headers} if headers else {})}


def _package(name: str, package: _Package, asked: dict[str, Asked]) -> JsonObject:
    runner = _RUNNERS[package.kind]
    version = package.version or "latest"
    command: list[JsonValue] = [word.format(package.identifier, version) for word in runner]
    for one in package.arguments:
        command += _words(name, one, asked)
    environment: JsonObject = {
        one.name: text
        for one in package.variables
        if (text := _text("", one.name, one, asked, always=one.is_required))
    }
    found: JsonObject = {"type": "local", "command": command}
    return {**found, "environment": environment} if environment else found


def _words(name: str, one: _Input, asked: dict[str, Asked]) -> Iterable[JsonValue]:
    text = _text(name, one.name or one.value_hint, one, asked, always=one.is_required)
    if one.type == "named":
        return [one.name, text] if text else [one.name]
    return [text] if text else []


def _text(name: str, key: str, one: _Input, asked: dict[str, Asked], *, always: bool = True) -> str:
    """Returns: a value with its secrets as references; a hint for what people have to fill in."""
    if one.is_secret:
        return _reference(name, key, one, asked)

    def fill(found: re.Match[str]) -> str:
        inner = one.variables.get(found[1])
        if inner is None:
            return found[0]
        return (
            _reference(name, found[1], inner, asked) if inner.is_secret else _hint(found[1], inner)
        )

    if one.value:
        return _VARIABLE.sub(fill, one.value)
    return one.default or (_hint(key, one) if always else "")


def _said(found: re.Match[str], variables: dict[str, _Value]) -> str:
    inner = variables.get(found[1])
    return found[0] if inner is None else inner.value or inner.default or found[0]


def _hint(key: str, one: _Value) -> str:
    return one.value or one.default or one.placeholder or f"<{key}>"


def _reference(name: str, key: str, one: _Value, asked: dict[str, Asked]) -> str:
    # A variable has a name that says whose it is; a header or argument has not.
    words = f"{name}_{key}" if name else key
    secret = _UNNAMEABLE.sub("_", words).strip("_").upper()[:64] or "SECRET"
    secret = secret if secret[0].isalpha() else f"S_{secret}"
    asked.setdefault(secret, Asked(secret, printable_text(one.description)))
    return f"{{env:{secret}}}"
