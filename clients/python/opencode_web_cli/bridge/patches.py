"""Unified diffs of one file."""

from __future__ import annotations

import re

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")
# Other ends of lines are part of them.
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NO_NEWLINE = "\\ No newline"


def apply_patch(old: str, patch: str) -> str | None:
    """Returns: the text after a patch; None when the patch is not one of this text."""
    lines, at, made = _lines(old), 0, list[str]()
    hunks = _hunks(patch)
    if not hunks:
        return None
    for start, removed, added in hunks:
        # An empty side is named by the line before it.
        begin = start - 1 if removed else start
        if begin < at or lines[begin : begin + len(removed)] != removed:
            return None
        made += [*lines[at:begin], *added]
        at = begin + len(removed)
    return "".join([*made, *lines[at:]])


def fragments_of(patch: str) -> tuple[str, str]:
    """Returns: what a patch shows of the text before and after."""
    hunks = _hunks(patch)
    return (
        "".join(line for _, removed, _ in hunks for line in removed),
        "".join(line for _, _, added in hunks for line in added),
    )


def _lines(text: str) -> list[str]:
    return _LINE.findall(text)


def _hunks(patch: str) -> list[tuple[int, list[str], list[str]]]:
    """Returns: for each the line where it starts, and its lines before and after."""
    hunks: list[tuple[int, list[str], list[str]]] = []
    last = ""
    for line in _lines(patch):
        if match := _HUNK.match(line):
            hunks.append((int(match[1]), [], []))
        elif hunks and line.startswith(_NO_NEWLINE):
            for side, signs in zip(hunks[-1][1:], (" -", " +"), strict=True):
                if last and last in signs and side:
                    side[-1] = side[-1].removesuffix("\n")
        elif hunks and line[:1] in (" ", "-", "+"):
            if line[0] in " -":
                hunks[-1][1].append(line[1:])
            if line[0] in " +":
                hunks[-1][2].append(line[1:])
        last = line[:1]
    return hunks
