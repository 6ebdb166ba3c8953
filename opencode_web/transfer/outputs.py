"""The whole of tool outputs that were too long for the model. Conversations name their paths."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from opencode_web.backup.archive import Archive
from opencode_web.backup.files import Reader, Writer
from opencode_web.backup.layout import Root
from opencode_web.backup.unpack import unpack
from opencode_web.lib.json import JsonValue
from opencode_web.transfer.shapes import OUTPUTS, EventShape
from opencode_web.transfer.unpack import content_of


@dataclass(frozen=True)
class _Outputs(Root):
    """The folder with those of all sessions, of which only some are meant."""

    sessions: frozenset[str]

    def is_kept(self, entry: str) -> bool:
        return entry not in self.sessions


def outputs_folder() -> Path:
    """Returns: where this server keeps them, as its conversations say."""
    return Path(settings.DATA_DIR, "tool-output")


def pack_outputs(writer: Writer, sessions: Iterable[str]) -> None:
    """Write those of the sessions that are on this host."""
    root = _Outputs("outputs", outputs_folder().resolve(), frozenset(sessions))
    with writer.file(OUTPUTS) as file:
        Archive(root, file, frozenset()).write()


def unpack_outputs(reader: Reader, sessions: Iterable[str], into: Path) -> None:
    """Unpack them into an empty folder. Raises: DamagedBackup."""
    into.mkdir()
    with reader.file(OUTPUTS) as content:
        root = _Outputs("outputs", into, frozenset(sessions))
        unpack(content_of(reader, content, OUTPUTS), root, into)


def place_outputs(source: Path) -> None:
    """Move what was unpacked to where conversations say, once their rows are there to keep it."""
    folder = outputs_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in source.iterdir():
        if not (folder / path.name).exists():
            shutil.move(path, folder / path.name)


def with_paths_here(lines: Iterable[EventShape], before: str) -> Iterator[EventShape]:
    """Have events name the folder of this server. `before`: that of the other one."""
    old, new = (f"{folder}/ses_" for folder in (before, outputs_folder()))
    for line in lines:
        yield line.model_copy(update={"data": _replaced(line.data, old, new)})


def _replaced(value: JsonValue, old: str, new: str) -> JsonValue:
    # Values alone: what was checked of the events stays as it was.
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, dict):
        return {key: _replaced(one, old, new) for key, one in value.items()}
    if isinstance(value, list):
        return [_replaced(one, old, new) for one in value]
    return value
