"""Read a patch as models write it: files added, deleted, moved and changed in one text. Pure.

    *** Begin Patch
    *** Add File: path          then lines that begin with +
    *** Delete File: path
    *** Update File: path
    *** Move to: path           optional
    @@ a line above the place   optional, so is what follows the @@
     a line that stays
    -a line that goes
    +a line that comes
    *** End of File             optional: the lines before it are the last of the file
    *** End Patch

Sloppy patches are taken as they are plainly meant: lines of a new file without their +, lines of an
update without their mark, words around the sections. An unknown header is an error, because what
follows it would be lost.

Source: OpenCode 1.18, which follows the format of OpenAI's Codex.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_ADD, _DELETE, _UPDATE = "*** Add File:", "*** Delete File:", "*** Update File:"
_MOVE, _END_OF_FILE = "*** Move to:", "*** End of File"
_HEREDOC = re.compile(r"(?:cat\s+)?<<\s*(['\"]?)(\w+)\1[ \t]*\n(.*)\n[ \t]*\2", re.DOTALL)
# Of a unified diff: line numbers, which a model counts wrong, so they are not used.
_RANGE = re.compile(r"-\d+(,\d+)? \+\d+(,\d+)? @@.*")
_NO_NEWLINE = "\\ No newline at end of file"
_SHOWN_CHARS = 200

# "?" has no mark: a line that stays whose blank was left out, or no line of the file at all.
Mark = Literal[" ", "-", "+", "?"]


class PatchError(ValueError):
    """The patch cannot be read or does not fit; the message tells the model why."""


@dataclass(frozen=True)
class AddFile:
    """A new file. `text` ends in a line end, unless it is empty."""

    path: str
    text: str


@dataclass(frozen=True)
class DeleteFile:
    """A file that goes."""

    path: str


@dataclass(frozen=True)
class Chunk:
    """Lines at one place. `context` is a line above them; `at_end`: they end the file."""

    context: str | None
    lines: tuple[tuple[Mark, str], ...] = ()
    at_end: bool = False

    @property
    def old(self) -> list[str]:
        return [text for mark, text in self.lines if mark != "+"]


@dataclass(frozen=True)
class UpdateFile:
    """A change of a file, which may get another name by it."""

    path: str
    chunks: tuple[Chunk, ...]
    move_to: str | None = None


Section = AddFile | DeleteFile | UpdateFile


def parse_patch(text: str) -> list[Section]:
    """Read the sections of a patch in their order.

    Raises: PatchError.
    """
    lines = _body(text)
    sections: list[Section] = []
    at = 0
    while at < len(lines):
        line = lines[at].rstrip()
        end = _end_of_section(lines, at + 1)
        within = lines[at + 1 : end]
        if line.startswith(_ADD):
            sections.append(_parse_add(_path(line, _ADD), within))
        elif line.startswith(_DELETE):
            _refuse_headers(within)
            sections.append(DeleteFile(_path(line, _DELETE)))
        elif line.startswith(_UPDATE):
            sections.append(_parse_update(_path(line, _UPDATE), within))
        else:
            _refuse_headers([line])
            end = at + 1
        at = end
    if not sections:
        raise PatchError("The patch is empty: it names no file.")
    return sections


def _body(text: str) -> list[str]:
    text = text.replace("\r\n", "\n").strip()
    if wrapped := _HEREDOC.fullmatch(text):
        text = wrapped[3]
    lines = text.split("\n")
    begin = next((n for n, line in enumerate(lines) if line.strip() == _BEGIN), None)
    if begin is None:
        raise PatchError(f"The line {_BEGIN} is missing.")
    for marker in (str.rstrip, str.strip):
        # One that stands further right may be a line of a file.
        for number in range(begin + 1, len(lines)):
            if marker(lines[number]) == _END:
                return lines[begin + 1 : number]
    raise PatchError(f"The line {_END} is missing: the patch may have been cut off.")


def _end_of_section(lines: list[str], start: int) -> int:
    headers = (_ADD, _DELETE, _UPDATE)
    numbers = range(start, len(lines))
    return next((n for n in numbers if lines[n].startswith(headers)), len(lines))


def _path(line: str, header: str) -> str:
    path = line.removeprefix(header).strip()
    if not path:
        raise PatchError(f"{header} names no file.")
    return path


def _parse_add(path: str, lines: list[str]) -> AddFile:
    content = _without_blank_end(lines)
    _refuse_headers(content)
    return AddFile(path, "".join(f"{line.removeprefix('+')}\n" for line in content))


def _parse_update(path: str, lines: list[str]) -> UpdateFile:
    move_to = None
    if lines and lines[0].startswith(_MOVE):
        move_to, lines = _path(lines[0].rstrip(), _MOVE), lines[1:]
    drafts: list[_Draft] = []
    for line in _without_blank_end(lines):
        _take(line, drafts, path)
    chunks = (Chunk(one.context, tuple(one.lines), at_end=one.at_end) for one in drafts)
    return UpdateFile(path, tuple(chunks), move_to)


@dataclass
class _Draft:
    """A chunk that is being read."""

    context: str | None = None
    lines: list[tuple[Mark, str]] = field(default_factory=list)
    at_end: bool = False


def _take(line: str, drafts: list[_Draft], path: str) -> None:
    """Read one line of an update into the chunks before it."""
    if line.startswith("@@"):
        context = line[2:].removeprefix(" ")
        drafts.append(_Draft(None if not context.strip() or _RANGE.match(context) else context))
    elif line.rstrip() == _END_OF_FILE:
        if not drafts:
            raise PatchError(f"{_END_OF_FILE} follows no lines in the update of {path}.")
        drafts[-1].at_end = True
    elif line.rstrip() != _NO_NEWLINE:
        if not drafts or drafts[-1].at_end:
            # Without an @@ the lines belong to one place all the same.
            drafts.append(_Draft())
        drafts[-1].lines.append(_marked(line))


def _marked(line: str) -> tuple[Mark, str]:
    match line[:1]:
        case " " | "":
            # Models leave out the blank of an empty line that stays.
            return " ", line[1:]
        case "-":
            return "-", line[1:]
        case "+":
            return "+", line[1:]
    _refuse_headers([line])
    return "?", line


def _refuse_headers(lines: list[str]) -> None:
    for line in lines:
        if line.startswith("***"):
            raise PatchError(
                f"Expected *** Add File, *** Delete File or *** Update File, found: {_shown(line)}"
            )


def _without_blank_end(lines: list[str]) -> list[str]:
    # Empty lines before the next header are there for the eye.
    end = len(lines)
    while end and not lines[end - 1]:
        end -= 1
    return lines[:end]


def _shown(line: str) -> str:
    return line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…"
