"""References in settings: `{env:NAME}` for a variable, `{file:path}` for the text of a file. Pure.

What a reference stands for is looked up where it is used, and never written back into the settings,
so that whoever reads those reads the reference.

* `{env:NAME}` stands for a secret of the project, or for a variable of this server, if its
  operators have listed it in CONFIG_ENV. The latter go only where the server itself sends them and
  a person has said so in the settings of a team or a project: to an MCP server at an address, as a
  header or in its sign-in, and to a provider as its key. They never reach a sandbox or a model.
* `{file:path}` stands for the text of a file of the repository, in what models read: see `TEXTS`.

A repository's own settings name neither MCP servers nor providers, so they get no variable at all.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from opencode_web.lib.json import JsonObject, JsonValue

VARIABLE = re.compile(r"\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
_FILE = re.compile(r"\{file:([^{}\n]+)\}")
_REFERENCE = re.compile(r"\{(?:env|file):[^{}\n]*\}")
# Of all files that settings take in; one of 64 KiB can be named thousands of times.
MAX_CHARS = 512 * 1024
_MAX_SHOWN = 100

Path = tuple[str, ...]

# Where the text of a file can stand; `*` is any name.
TEXTS: tuple[Path, ...] = (
    ("instructions_text",),
    ("agent", "*", "prompt"),
    ("agent", "*", "description"),
    ("command", "*", "description"),
)
# What is run as it stands in there: only where a change of the file asks for trust again.
TEMPLATE: Path = ("command", "*", "template")


class NotGiven(Exception):
    """A variable that has no value here. `name` is its name."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(frozen=True)
class Reference:
    """One reference, as it is written, and where it stands in the settings."""

    path: Path
    text: str

    @property
    def variable(self) -> str:
        """Its name; nothing for a file."""
        found = VARIABLE.fullmatch(self.text)
        return found[1] if found else ""

    @property
    def file(self) -> str:
        """The path that it names; nothing for a variable."""
        found = _FILE.fullmatch(self.text)
        return found[1].strip() if found else ""

    @property
    def shown(self) -> str:
        return "".join(one if one.isprintable() else "?" for one in self.text[:_MAX_SHOWN])


def references_in(value: JsonValue, path: Path = ()) -> Iterator[Reference]:
    """Yield the references in settings, in the order in which they stand there."""
    if isinstance(value, str):
        yield from (Reference(path, found[0]) for found in _REFERENCE.finditer(value))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from references_in(item, (*path, key))
    elif isinstance(value, list):
        for item in value:
            yield from references_in(item, path)


def fill_variables(text: str, values: Mapping[str, str]) -> str:
    """Returns: the text with values in place of variables. Raises: NotGiven."""

    def value(found: re.Match[str]) -> str:
        given = values.get(found[1])
        if not given:
            raise NotGiven(found[1])
        return given

    return VARIABLE.sub(value, text)


def fill_files(
    data: JsonObject, places: tuple[Path, ...], read: Callable[[str], str | None]
) -> JsonObject:
    """Returns: settings with texts of files in these places.

    `read` gives the text of a path as it is written. Where there is none, or it would be too much
    in all, the reference stays.
    """
    left = MAX_CHARS

    def text(found: re.Match[str]) -> str:
        nonlocal left
        content = read(found[1].strip())
        if content is None or len(content) > left:
            return found[0]
        left -= len(content)
        return content.strip()

    def filled(value: JsonValue, path: Path) -> JsonValue:
        if isinstance(value, dict):
            return {key: filled(item, (*path, key)) for key, item in value.items()}
        if isinstance(value, str) and stands_in(path, places):
            return _FILE.sub(text, value)
        return value

    roots = {place[0] for place in places}
    return {key: filled(value, (key,)) if key in roots else value for key, value in data.items()}


def stands_in(path: Path, places: tuple[Path, ...]) -> bool:
    """Whether a path is one of those places."""
    return any(
        len(path) == len(place)
        and all(wanted in ("*", key) for wanted, key in zip(place, path, strict=True))
        for place in places
    )


def within(folder: str, path: str) -> str | None:
    """Returns: a path from a folder of the repository, from its root; None if it leads out."""
    if path.startswith(("/", "~")) or "\\" in path or "\0" in path:
        return None
    whole = posixpath.normpath(posixpath.join(folder, path))
    return None if whole == ".." or whole.startswith("../") else whole
