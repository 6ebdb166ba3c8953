"""Unified diffs as the clients read them. Pure. Source: OpenCode 1.18."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from opencode_web.lib.json import JsonObject

CONTEXT_LINES = 4
# Above this many line pairs the exact comparison takes seconds; the differing middle is then one
# block.
_MAX_PAIRS = 4_000_000
# A longer patch is cut: it goes into events and pages, and nobody reads that much.
_MAX_CHARS = 200_000
_NO_NEWLINE = "\\ No newline at end of file"

_Opcode = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class FileDiff:
    """The change of one file. `patch` keeps indentation; `shown` lacks what all share."""

    file: str
    patch: str
    additions: int
    deletions: int

    @property
    def shown(self) -> str:
        return trim_indent(self.patch)

    def as_json(self) -> JsonObject:
        """Build the `filediff` object of a tool part."""
        return {
            "file": self.file,
            "patch": self.patch,
            "additions": self.additions,
            "deletions": self.deletions,
        }


def diff_file(file: str, old: str, new: str) -> FileDiff:
    """Compare two texts of a file, which names it in the header of the patch."""
    old_lines, new_lines = _split(old), _split(new)
    comparison = _Comparison(old_lines, new_lines)
    opcodes = comparison.get_opcodes()
    lines = [f"Index: {file}", "=" * 67, f"--- {file}", f"+++ {file}"]
    for group in comparison.get_grouped_opcodes(CONTEXT_LINES):
        lines.extend(_hunk(group, old_lines, new_lines))
    return FileDiff(
        file=file,
        patch=_bounded(lines),
        additions=sum(j2 - j1 for tag, _, _, j1, j2 in opcodes if tag != "equal"),
        deletions=sum(i2 - i1 for tag, i1, i2, _, _ in opcodes if tag != "equal"),
    )


def trim_indent(patch: str) -> str:
    """Remove the indentation that all lines of the hunks share."""
    lines = patch.split("\n")
    body = [line for line in lines[4:] if line[:1] in {"+", "-", " "} and line[1:].strip()]
    indent = min((len(line[1:]) - len(line[1:].lstrip()) for line in body), default=0)
    if not indent:
        return patch
    return "\n".join(
        line[0] + line[1 + indent :] if number >= 4 and line[:1] in {"+", "-", " "} else line
        for number, line in enumerate(lines)
    )


class _Comparison(SequenceMatcher[str]):
    """difflib on the differing middle only: it is quadratic, and most edits are small."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        super().__init__(None, [], [], autojunk=False)
        self._opcodes = list(_opcodes(old, new))

    def get_opcodes(self) -> list[_Opcode]:  # type: ignore[override]
        return self._opcodes


def _opcodes(old: list[str], new: list[str]) -> Iterator[_Opcode]:
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    old_end, new_end = len(old) - tail, len(new) - tail
    if head:
        yield ("equal", 0, head, 0, head)
    middle_old, middle_new = old[head:old_end], new[head:new_end]
    if len(middle_old) * len(middle_new) > _MAX_PAIRS:
        yield ("replace", head, old_end, head, new_end)
    else:
        matcher = SequenceMatcher(None, middle_old, middle_new, autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            yield (tag, i1 + head, i2 + head, j1 + head, j2 + head)
    if tail:
        yield ("equal", old_end, len(old), new_end, len(new))


def _split(text: str) -> list[str]:
    # splitlines() would also cut at form feeds and U+2028.
    lines = text.split("\n")
    ended = lines.pop() if lines[-1] == "" else None
    return [f"{line}\n" for line in lines] if ended is not None else _with_open_end(lines)


def _with_open_end(lines: list[str]) -> list[str]:
    return [f"{line}\n" for line in lines[:-1]] + lines[-1:]


def _hunk(group: list[_Opcode], old: list[str], new: list[str]) -> Iterator[str]:
    first, last = group[0], group[-1]
    yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@"
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            yield from _marked(" ", old[i1:i2])
        else:
            yield from _marked("-", old[i1:i2])
            yield from _marked("+", new[j1:j2])


def _marked(mark: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield _NO_NEWLINE


def _range(start: int, stop: int) -> str:
    length = stop - start
    # An empty range names the line before it.
    return f"{start + 1 if length else start},{length}"


def _bounded(lines: list[str]) -> str:
    text = "\n".join(lines) + "\n"
    if len(text) <= _MAX_CHARS:
        return text
    cut = text.rfind("\n", 0, _MAX_CHARS)
    return f"{text[: cut + 1]}\\ The rest of this diff was left out\n"
