"""Find the text to replace: exactly, then more tolerantly. Pure. Source: OpenCode 1.18.

Each matcher yields candidate spans of the content, best first. A candidate is taken when its text
occurs once; a matcher that finds only ambiguous ones leaves the word to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

# What JavaScript's trim() removes: the models were trained against that program.
_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)

Matcher = Callable[[str, str], Iterator[str]]


class EditMatchError(ValueError):
    """The replacement is not possible; the message tells the model why."""


def replace_text(content: str, old: str, new: str, *, replace_all: bool = False) -> str:
    """Replace `old` in the content, whose line ends `old` and `new` are given first.

    Raises: EditMatchError when `old` is missing, ambiguous, or matched a much larger span.
    """
    old, new = (_with_line_ends(text, of=content) for text in (old, new))
    found = False
    for matcher in MATCHERS:
        for candidate in matcher(content, old):
            first = content.find(candidate)
            if first < 0:
                continue
            found = True
            _guard_size(candidate, old)
            if replace_all:
                return content.replace(candidate, new)
            # By first and last position, so overlapping occurrences count as two.
            if first == content.rfind(candidate):
                return content[:first] + new + content[first + len(candidate) :]
    if found:
        raise EditMatchError(
            "oldString occurs more than once in the file. Give more of the surrounding lines so "
            "that it names one place, or set replaceAll."
        )
    raise EditMatchError(
        "oldString was not found in the file. It has to match the text of the file, with its "
        "whitespace, indentation and line ends. Read the file again and copy the lines."
    )


def match_exact(content: str, old: str) -> Iterator[str]:
    """Yield the text itself."""
    del content
    yield old


def match_trimmed_lines(content: str, old: str) -> Iterator[str]:
    """Yield every run of lines that equals the wanted ones after trimming each line."""
    wanted = [line.strip(_SPACE) for line in old.split("\n")]
    if wanted[-1] == "":
        wanted.pop()
    if not wanted:
        return
    lines = content.split("\n")
    trimmed = [line.strip(_SPACE) for line in lines]
    for start in range(len(lines) - len(wanted) + 1):
        # The first line decides most windows without building a slice.
        if trimmed[start] == wanted[0] and trimmed[start : start + len(wanted)] == wanted:
            # Without the last line's end, of which "\r" is a part.
            yield "\n".join(lines[start : start + len(wanted)]).removesuffix("\r")


# In the order they are tried. The tolerant ones (block anchors, whitespace, indentation, escapes,
# boundaries, context, every occurrence) belong after these.
MATCHERS: tuple[Matcher, ...] = (match_exact, match_trimmed_lines)


def _with_line_ends(text: str, *, of: str) -> str:
    unix = text.replace("\r\n", "\n")
    return unix.replace("\n", "\r\n") if "\r\n" in of else unix


def _guard_size(candidate: str, old: str) -> None:
    old_lines = old.count("\n") + 1
    lines = candidate.count("\n") + 1
    too_many = lines >= max(old_lines + 3, old_lines * 2)
    length, wanted = len(candidate.strip(_SPACE)), len(old.strip(_SPACE))
    too_long = old_lines > 1 and length > max(wanted + 500, 4 * wanted)
    if too_many or too_long:
        raise EditMatchError(
            "The text that would be replaced is much larger than oldString. Read the file again "
            "and give the whole text to be replaced."
        )
