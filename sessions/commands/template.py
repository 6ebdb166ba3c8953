"""Fill in a command's template. Pure.

Source: behaviour facts 4.8 and 4.2. Unlike in the reference, what a person types is never read as
a shell part itself: only the template's author decides what is run, with the arguments in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_ARGUMENT = re.compile(r"""\[Image\s+\d+\]|"[^"]*"|'[^']*'|[^\s"']+|["']""")
_PLACEHOLDER = re.compile(r"\$(ARGUMENTS\b|[1-9]\d?(?!\d))")
_SHELL = re.compile(r"!`([^`\n]+)`")
_LINES = re.compile(r"(.+)#L?([1-9]\d{0,8})(?:-L?([1-9]\d{0,8})?)?")
_MENTIONED = r"\.?[^\s`,.]*(?:\.[^\s`,.]+)*"


@dataclass(frozen=True)
class TemplatePiece:
    """A part of a filled-in template: a text, or a command for the shell."""

    text: str
    is_shell: bool = False

    @property
    def written(self) -> str:
        """As it stands in a template."""
        return f"!`{self.text}`" if self.is_shell else self.text


def split_arguments(text: str) -> list[str]:
    """Split what was typed in words; quoted ones, and `[Image 1]`, are one."""
    words = [found[0] for found in _ARGUMENT.finditer(text)]
    return [
        word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word
        for word in words
    ]


def order_arguments(text: str, names: Sequence[str]) -> str:
    """Bring `name=value` in the order of the names, as words that `split_arguments` reads.

    A value goes on to the next name. Returns: any other text as it is.
    """
    if not names:
        return text
    known = "|".join(re.escape(name) for name in names)
    before, *found = re.split(rf"(?:^|(?<=\s))({known})=", text)
    if before.strip() or not found:
        return text
    values = dict(zip(found[::2], found[1::2], strict=True))
    return " ".join(_quoted(values.get(name, "")) for name in names)


def _quoted(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    mark = "'" if '"' in value else '"'
    return f"{mark}{value.replace(mark, '')}{mark}"


def placeholders(template: str) -> list[str]:
    """Returns: what a template has to be filled in, `$1` before `$ARGUMENTS`, each once."""
    found = {f"${match[1]}" for match in _PLACEHOLDER.finditer(template)}
    return sorted(found, key=lambda one: (one == "$ARGUMENTS", len(one), one))


def fill(template: str, arguments: str) -> list[TemplatePiece]:
    """Fill arguments in, and tell the shell parts from the text.

    The highest `$n` takes all the words that are left. Where nothing is to be filled in, what was
    typed follows after a blank line.

    Returns: the pieces in their order, whose texts hold no placeholder of the template any more.
    """
    replacement = _replacement(template, arguments)
    pieces: list[TemplatePiece] = []
    end = 0
    for shell in _SHELL.finditer(template):
        pieces.append(TemplatePiece(_PLACEHOLDER.sub(replacement, template[end : shell.start()])))
        pieces.append(TemplatePiece(_PLACEHOLDER.sub(replacement, shell[1]), is_shell=True))
        end = shell.end()
    pieces.append(TemplatePiece(_PLACEHOLDER.sub(replacement, template[end:])))
    if arguments.strip() and not _PLACEHOLDER.search(template):
        pieces.append(TemplatePiece(f"\n\n{arguments.strip()}"))
    return [piece for piece in pieces if piece.text]


def _replacement(template: str, arguments: str) -> Callable[[re.Match[str]], str]:
    words = split_arguments(arguments)
    numbers = [int(found[1]) for found in _PLACEHOLDER.finditer(template) if found[1].isdigit()]
    last = max(numbers, default=0)

    def replace(found: re.Match[str]) -> str:
        if not found[1].isdigit():
            return arguments
        number = int(found[1])
        taken = words[number - 1 :] if number == last else words[number - 1 : number]
        return " ".join(taken)

    return replace


def mentions(text: str, names: Iterable[str] = ()) -> list[str]:
    """Returns: what a text names by `@`, each once: a path, or an agent.

    `names` are what there is; one with spaces ends where it ends, and the longest counts.
    """
    spaced = sorted((name for name in names if " " in name), key=len, reverse=True)
    ways = [*(rf"{re.escape(name)}(?!\w)" for name in spaced), _MENTIONED]
    found = re.finditer(rf"(?<![\w`])@({'|'.join(ways)})", text)
    return list(dict.fromkeys(one[1] for one in found if one[1]))


def split_lines(name: str) -> tuple[str, str] | None:
    """Read `path#L10-20`, `path#10` or `path#L10-`, as editors and clients write it.

    Returns: the path, and the query of its URL; None for a name without lines.
    """
    found = _LINES.fullmatch(name)
    if found is None:
        return None
    path, first, last = found.groups()
    # One number is one line; with a dash it is all from there on.
    end = last or ("" if name.endswith("-") else first)
    return path, f"?start={first}" + (f"&end={end}" if end else "")


def parse_line(text: str) -> tuple[str, str] | None:
    """Read `/name what follows`. Returns: the name and the rest; None for any other text."""
    found = re.match(r"/([^\s/][^\s]*)(?:\s+(.*))?\s*$", text.strip(), re.DOTALL)
    return (found[1], found[2] or "") if found else None
