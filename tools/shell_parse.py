"""Read a bash command line: which commands it runs, and which paths it names. Pure.

Source: OpenCode 1.18. What cannot be read with certainty is asked for as a whole, and is never
offered to be allowed for ever. What would take long to read is not read at all: see `TooComplex`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from tools.permissions import MAX_PATTERN_CHARS
from tools.shell_prefixes import prefix_length

MAX_COMMAND_BYTES = 65_536
# The parser needs quadratic time for some repetitions (`a|a|a|`, `a=(a=(`), cannot be interrupted
# and keeps the interpreter's lock meanwhile. With no more than these it takes some 0.3 s at worst.
_MAX_PIPES = 1_000
_MAX_OPERATORS = 1_500
_OPERATORS = b"|&;()<>{}[]$`"
_MAX_NODES = 20_000
# What one ask holds: a row, an event, and so many matches against every rule.
_MAX_PATTERNS = 200
_MAX_PATTERN_BYTES = 2 * MAX_COMMAND_BYTES

_BASH = Language(tree_sitter_bash.language())
_COMMANDS = {"command", "declaration_command", "unset_command"}
_WORDS = {"command_name", "word", "string", "raw_string", "concatenation", "number"}
_REDIRECTED = "redirected_statement"
_FOLDER_CHANGES = {"cd", "pushd", "popd"}
_TAKES_PATHS = {
    *_FOLDER_CHANGES,
    *("chdir", "rm", "cp", "mv", "mkdir", "touch", "chmod", "chown", "cat"),
}
# In a remembered pattern these would match other commands than the one a person saw.
_UNSAFE_IN_PREFIX = set("*?$`\n\\")


class TooComplex(Exception):
    """A command line above the limits of what is read.

    It cannot be asked for as a whole: nobody would see what they allow, and a rule that denies one
    of its commands would not match.
    """


@dataclass(frozen=True)
class ShellAsk:
    """What a command line needs to be allowed. Empty `patterns`: it only changes its folder.

    `outside` are the absolute paths of arguments that leave the worktree, as far as they can be
    read.
    """

    patterns: tuple[str, ...]
    always: tuple[str, ...]
    outside: tuple[str, ...]


def parse_shell(command: str, *, directory: Path, worktree: Path) -> ShellAsk:
    """Split a command line for a permission ask; relative paths start at `directory`.

    Takes up to some 0.4 s, so it belongs into a thread. Raises: TooComplex.
    """
    source = command.encode("utf-8", "replace")
    _check_size(source)
    root = Parser(_BASH).parse(source).root_node
    if root.descendant_count > _MAX_NODES:
        raise TooComplex
    reading = _Reading(directory, worktree)
    for node, parent, leaving in _walk(root):
        reading.visit(node, parent, leaving=leaving)
    patterns = [pattern for pattern in reading.patterns if pattern]
    whole = command.strip()
    if root.has_error:
        # bash may read it differently than this parser did.
        return ShellAsk(_unique([whole, *patterns]), (), _unique(reading.outside))
    if not patterns and not reading.only_folder_changes:
        patterns.append(whole)
    return ShellAsk(_unique(patterns), _unique(reading.always), _unique(reading.outside))


def _check_size(source: bytes) -> None:
    operators = len(source) - len(source.translate(None, _OPERATORS))
    if (
        len(source) > MAX_COMMAND_BYTES
        or source.count(b"|") > _MAX_PIPES
        or operators > _MAX_OPERATORS
    ):
        raise TooComplex


def _walk(root: Node) -> Iterator[tuple[Node, Node | None, bool]]:
    """Every node once with its parent, as the parser's own `parent` searches from the root.

    A redirected statement comes a second time, marked True, after all that is in it.
    """
    # Not recursive: a model can nest deeper than Python's stack.
    stack: list[tuple[Node, Node | None, bool]] = [(root, None, False)]
    while stack:
        node, parent, leaving = stack.pop()
        yield node, parent, leaving
        if leaving:
            continue
        if node.type == _REDIRECTED:
            stack.append((node, parent, True))
        stack.extend((child, node, False) for child in reversed(node.children))


@dataclass
class _Reading:
    directory: Path
    worktree: Path
    patterns: list[str] = field(default_factory=list)
    always: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    commands: int = 0
    asked: int = 0
    # Per redirected statement around the node: its place in `patterns`, commands before it.
    _open: list[tuple[int, int]] = field(default_factory=list)
    _bytes: int = 0

    @property
    def only_folder_changes(self) -> bool:
        return self.commands > 0 and self.asked == 0

    def visit(self, node: Node, parent: Node | None, *, leaving: bool) -> None:
        if leaving:
            place, commands = self._open.pop()
            # Without a command in it, the redirection is what it does.
            if self.commands == commands:
                self.patterns[place] = self._text(node)
        elif node.type == _REDIRECTED:
            self._open.append((len(self.patterns), self.commands))
            self.patterns.append("")
        elif node.type in _COMMANDS:
            self._command(node, parent)

    def _command(self, node: Node, parent: Node | None) -> None:
        self.commands += 1
        whole = parent if parent is not None and parent.type == _REDIRECTED else node
        pattern = self._text(whole)
        words = [_text(child) for child in node.children if child.type in _WORDS]
        if node.type != "command":
            words.insert(0, _text(node.children[0]))
        name = words[0] if words else ""
        self.outside.extend(
            _outside(name, words[1:], directory=self.directory, worktree=self.worktree)
        )
        if name in _FOLDER_CHANGES and whole is node:
            return
        self.asked += 1
        self.patterns.append(pattern)
        self.always.extend(_always(words))

    def _text(self, node: Node) -> str:
        """The text of what is asked for. It is bounded, as commands inside commands add up."""
        self._bytes += node.end_byte - node.start_byte
        if self._bytes > _MAX_PATTERN_BYTES or self.asked >= _MAX_PATTERNS:
            raise TooComplex
        return _text(node)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace").strip()


def _unique(items: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for item in items if item))


def _always(words: list[str]) -> Iterator[str]:
    prefix = " ".join(words[: prefix_length(words)])
    pattern = f"{prefix} *"
    if prefix and len(pattern) <= MAX_PATTERN_CHARS and not _UNSAFE_IN_PREFIX & set(prefix):
        yield pattern


def _outside(name: str, arguments: list[str], *, directory: Path, worktree: Path) -> Iterator[str]:
    if name not in _TAKES_PATHS:
        return
    for argument in arguments:
        if argument.startswith(("-", "(")) or (name == "chmod" and argument.startswith("+")):
            continue
        text = argument.strip("\"'")
        # Only a shell knows what these become; the sandbox judges them when they run.
        if "$" in text or "`" in text:
            continue
        for wildcard in "?*[":
            text = text.split(wildcard, 1)[0]
        if text == "~" or text.startswith("~/"):
            yield text
            continue
        path = Path(os.path.normpath(directory / text))
        if not path.is_relative_to(worktree):
            yield str(path)
