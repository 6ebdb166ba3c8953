"""One replacement in the bytes of a text file. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from opencode_web.lib.marks import restore
from tools.errors import ToolError
from tools.matching.anchors import match_block_anchors, match_context
from tools.matching.lines import (
    match_escapes,
    match_indentation,
    match_trimmed_ends,
    match_trimmed_lines,
    match_words,
)
from tools.matching.search import SPACE, EditMatchError, Search, TooMuchWork, Work, with_line_ends
from tools.text_file import BOM, decode_text, encode_text

IDENTICAL = "No changes to apply: oldString and newString are identical."
__all__ = ["EditMatchError", "replace_text"]
Matcher = Callable[[Search], Iterator[str]]
# Larger files are data. Only the text as it stands is sought in them.
_MAX_TOLERANT_CHARS = 2_000_000
_MAX_TOLERANT_LINES = 100_000


def replace_in_file(
    path: object, present: bytes | None, old: str, new: str, *, replace_all: bool
) -> bytes:
    """Replace one text of a file, or create the file where there is none and `old` is empty.

    `path` names the file in errors. A byte order mark of the file stays; one in `new` adds it.

    Raises: ToolError when the text is missing or ambiguous, or there is no such file.
    """
    if present is None:
        if old:
            raise ToolError(f"File {path} not found")
        return encode_text(new, bom=False)
    if not old:
        raise ToolError(
            "oldString cannot be empty when editing an existing file. Give the text to replace, "
            "or use write to replace the whole file."
        )
    text, bom = decode_text(present)
    try:
        changed = replace_text(
            text, old.removeprefix(BOM), new.removeprefix(BOM), replace_all=replace_all
        )
    except EditMatchError as exc:
        raise ToolError(str(exc)) from exc
    return encode_text(changed, bom=bom or new.startswith(BOM))


def replace_text(content: str, old: str, new: str, *, replace_all: bool = False) -> str:
    """Replace `old` in the content, whose line ends `old` and `new` are given first.

    `new` is put in as it is: nothing in it is a reference to what was found.

    Raises: EditMatchError when `old` is missing, ambiguous, or matched a much larger span.
    """
    old, new = (with_line_ends(text, of=content) for text in (old, new))
    if old not in content and (as_in_file := restore(old)) in content:
        # The model was shown tags of ours made plain.
        old, new = as_in_file, restore(new)
    search = Search(content, old, Work())
    found = False
    try:
        for candidate in _candidates(search):
            first = content.find(candidate)
            if first < 0:
                continue
            found = True
            _guard_size(candidate, old)
            if replace_all:
                return content.replace(candidate, new)
            # Overlapping occurrences count as two.
            second = content.find(candidate, first + 1)
            if second < 0:
                return content[:first] + new + content[first + len(candidate) :]
            search.work.spend(second)
    except TooMuchWork:
        if not found:
            raise
    if found:
        raise EditMatchError(
            "oldString occurs more than once in the file. Give more of the surrounding lines so "
            "that it names one place, or set replaceAll."
        )
    raise _not_found(search)


def match_exact(search: Search) -> Iterator[str]:
    """Yield the text itself."""
    yield search.old


def match_every_occurrence(search: Search) -> Iterator[str]:
    """Yield the text wherever it stands, which is once: candidates are judged by their text."""
    if search.old in search.content:
        yield search.old


# In the order in which they are tried.
MATCHERS: tuple[Matcher, ...] = (
    match_exact,
    match_trimmed_lines,
    match_block_anchors,
    match_words,
    match_indentation,
    match_escapes,
    match_trimmed_ends,
    match_context,
    match_every_occurrence,
)


def _candidates(search: Search) -> Iterator[str]:
    """Yield the candidates of all matchers, each text once: it is judged by its text alone."""
    seen = set[str]()
    # Blanks alone say nothing about a place: they have to stand there as given.
    tolerant = search.old.strip(SPACE) and not _is_large(search.content)
    for matcher in MATCHERS if tolerant else MATCHERS[:1]:
        for candidate in matcher(search):
            # An empty text is everywhere and names nothing.
            if candidate and candidate not in seen:
                seen.add(candidate)
                yield candidate


def _is_large(content: str) -> bool:
    return len(content) > _MAX_TOLERANT_CHARS or content.count("\n") > _MAX_TOLERANT_LINES


def _not_found(search: Search) -> EditMatchError:
    if _is_large(search.content):
        return EditMatchError(
            "oldString was not found in the file, which is so large that only the exact text is "
            "looked for. Find the place with grep, read it, and copy it as it stands."
        )
    return EditMatchError(
        "oldString was not found in the file. It has to match the text of the file, with its "
        "whitespace, indentation and line ends. Read the file again and copy the lines."
    )


def _guard_size(candidate: str, old: str) -> None:
    old_lines = old.count("\n") + 1
    lines = candidate.count("\n") + 1
    too_many = lines >= max(old_lines + 3, old_lines * 2)
    length, wanted = len(candidate.strip(SPACE)), len(old.strip(SPACE))
    too_long = old_lines > 1 and length > max(wanted + 500, 4 * wanted)
    if too_many or too_long:
        raise EditMatchError(
            "The text that would be replaced is much larger than oldString. Read the file again "
            "and give the whole text to be replaced."
        )
