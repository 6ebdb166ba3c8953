"""Apply the sections of a patch to texts. Pure, bounded. Source: OpenCode 1.18."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tools.files.patch_format import AddFile, Chunk, DeleteFile, Mark, PatchError, Section
from tools.matching.search import PER_LINE, SPACE, LineSearch, Work
from tools.text_file import decode_text, encode_text

_SHOWN_LINES = 12
_MAX_LINES = 200_000
_FOLD = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015", "-"),
        "\u2026": "...",
        "\u00a0": " ",
    }
)


def _trim_end(line: str) -> str:
    return line.rstrip(SPACE)


def _trim(line: str) -> str:
    return line.strip(SPACE)


def _fold(line: str) -> str:
    return _trim(line.translate(_FOLD))


# In the order in which lines are compared.
_PASSES: tuple[Callable[[str], str], ...] = (str, _trim_end, _trim, _fold)


@dataclass(frozen=True)
class FileChange:
    """What one section does to a file. `before` and `after` are None where there is no file."""

    kind: Literal["add", "update", "delete", "move"]
    path: str
    before: bytes | None
    after: bytes | None
    move_to: str | None = None

    @property
    def target(self) -> str:
        return self.move_to or self.path


def apply_sections(
    sections: Sequence[Section], files: Mapping[str, bytes | None]
) -> list[FileChange]:
    """Compute what each section makes of the files, one after the other.

    `files` holds the content of every path that a section names, None where no file is.

    Returns: the changes of those sections that change something.

    Raises: PatchError for the first section that does not fit, and when none changes anything;
    EditMatchError for too much work.
    """
    now, work = dict(files), Work()
    changes = []
    for section in sections:
        change = _apply(section, now, work)
        now[change.path] = None
        now[change.target] = change.after
        if change.move_to or change.after != change.before:
            changes.append(change)
    if not changes:
        raise PatchError("The patch changes nothing.")
    return changes


def _apply(section: Section, now: Mapping[str, bytes | None], work: Work) -> FileChange:
    before = now[section.path]
    if isinstance(section, AddFile):
        after = encode_text(section.text, bom=False)
        return FileChange("add", section.path, before, after)
    if before is None:
        raise PatchError(f"There is no file {section.path}.")
    if isinstance(section, DeleteFile):
        return FileChange("delete", section.path, before, None)
    text, bom = decode_text(before)
    try:
        after = encode_text(apply_chunks(text, section.chunks, work), bom=bom)
    except PatchError as exc:
        raise PatchError(f"{section.path}: {exc}") from exc
    move_to = section.move_to if section.move_to != section.path else None
    if move_to is not None and now[move_to] is not None:
        # The diff that a person approves would not show what is lost.
        raise PatchError(f"{section.path} cannot be moved to {move_to}: that file exists already.")
    return FileChange("move" if move_to else "update", section.path, before, after, move_to)


def apply_chunks(text: str, chunks: Sequence[Chunk], work: Work) -> str:
    """Change a text at the places of the chunks, which have to be in the order of the file.

    Lines that stay are left as the file has them; lines that come get its line ends.

    Raises: PatchError naming the chunk's lines; EditMatchError for too much work.
    """
    count = text.count("\n")
    if count > _MAX_LINES:
        raise PatchError(f"The file has more than {_MAX_LINES} lines. Use edit or a command.")
    # With its "\r" a line keeps its own line end.
    lines = text.split("\n")
    is_open = bool(lines[-1])
    if not is_open:
        lines.pop()
    returns = "\r" if text.count("\r\n") * 2 > count else ""
    places = _Places([line.removesuffix("\r") for line in lines], work)
    # Numbers of lines that stay, and lines that come.
    result: list[int | str] = []
    at = 0
    for chunk in chunks:
        start, chunk_lines = places.locate(chunk, at)
        result += range(at, start)
        at = start
        for mark, new in chunk_lines:
            if mark == " ":
                result.append(at)
            elif mark == "+":
                result.append(new + returns)
            at += mark != "+"
    result += range(at, len(lines))
    written = [lines[one] if isinstance(one, int) else one for one in result]
    last = len(lines) - 1
    if is_open and last in result:
        place = result.index(last)
        if place == len(written) - 1:
            return "\n".join(written)
        written[place] += returns
    return "".join(f"{line}\n" for line in written)


class _Places:
    """Finds where chunks belong, in a file that is cut in lines."""

    def __init__(self, lines: list[str], work: Work) -> None:
        self._lines = lines
        self._work = work
        self._searches: dict[int, LineSearch] = {}

    def locate(self, chunk: Chunk, start: int) -> tuple[int, Sequence[tuple[Mark, str]]]:
        """Returns: the line where the chunk begins, and its lines as they were found."""
        if chunk.context is not None:
            found = self._seek([chunk.context], start)
            if found is None:
                raise PatchError(self._missing("this line", [chunk.context], start))
            start = found + 1
        if not chunk.old:
            # Lines that only come stand below their context, else at the end.
            below = chunk.context is not None and not chunk.at_end
            return (start if below or not chunk.lines else len(self._lines)), chunk.lines
        for lines in _variants(chunk.lines):
            old = [text for mark, text in lines if mark != "+"]
            found = self._seek(old, start, at_end=chunk.at_end)
            if found is not None:
                return found, lines
        what = "these lines at its end" if chunk.at_end else "these lines"
        raise PatchError(self._missing(what, chunk.old, start))

    def _seek(self, wanted: list[str], start: int, *, at_end: bool = False) -> int | None:
        if at_end:
            last = len(self._lines) - len(wanted)
            if last < start:
                return None
            start = last
        for number, key in enumerate(_PASSES):
            if number not in self._searches:
                self._work.spend(PER_LINE // 4 * len(self._lines))
                self._searches[number] = LineSearch(list(map(key, self._lines)), self._work)
            found = self._searches[number].find([key(line) for line in wanted], start)
            if found is not None:
                return found
        return None

    def _missing(self, what: str, wanted: list[str], start: int) -> str:
        shown = "\n".join(wanted[:_SHOWN_LINES])
        rest = len(wanted) - _SHOWN_LINES
        more = f"\n({rest} more lines)" if rest > 0 else ""
        early = self._seek(wanted, 0) if start else None
        hint = (
            f"They are at line {early + 1}, above the place of the part before: parts have to "
            "be in the order of the file."
            if early is not None
            else "Read the file again and copy them as they stand."
        )
        return f"The file does not have {what}:\n{shown}{more}\n{hint}"


def _variants(lines: Sequence[tuple[Mark, str]]) -> Iterator[Sequence[tuple[Mark, str]]]:
    """The lines of a chunk as the file may have them.

    Those without a mark stay, or are no lines of the file at all; and models add an empty line
    below the last.
    """
    stays: list[tuple[Mark, str]] = [(" " if mark == "?" else mark, text) for mark, text in lines]
    marked = [line for line in lines if line[0] != "?"]
    some = [stays, marked] if len(marked) < len(lines) else [stays]
    for one in some:
        numbers = [number for number, (mark, _) in enumerate(one) if mark != "+"]
        if not numbers:
            continue
        yield one
        last = numbers[-1]
        if one[last][1] or len(numbers) == 1:
            continue
        rest = [*one[:last], *one[last + 1 :]]
        if one[last][0] == "-" and rest[-1] == ("+", ""):
            rest.pop()
        yield rest
