"""Read a bash command line: which commands it runs, and which paths it names. Pure.

Source: behaviour.md 1.7. What cannot be read with certainty is asked for as a whole, and is never
offered to be allowed for ever.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from tools.shell_prefixes import prefix_length

_BASH = Language(tree_sitter_bash.language())
_COMMANDS = {"command", "declaration_command", "unset_command"}
_WORDS = {"command_name", "word", "string", "raw_string", "concatenation", "number"}
_FOLDER_CHANGES = {"cd", "pushd", "popd"}
_TAKES_PATHS = {
    *_FOLDER_CHANGES,
    *("chdir", "rm", "cp", "mv", "mkdir", "touch", "chmod", "chown", "cat"),
}
# In a remembered pattern these would match other commands than the one a person saw.
_UNSAFE_IN_PREFIX = set("*?$`\n\\")


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
    """Split a command line for a permission ask; relative paths start at `directory`."""
    root = Parser(_BASH).parse(command.encode("utf-8", "replace")).root_node
    patterns: list[str] = []
    always: list[str] = []
    outside: list[str] = []
    only_folder_changes = True
    for node in _walk(root):
        if node.type == "redirected_statement" and not _has_command(node):
            patterns.append(_text(node))
        if node.type not in _COMMANDS:
            continue
        words = [_text(child) for child in node.children if child.type in _WORDS]
        if node.type != "command":
            words.insert(0, _text(node.children[0]))
        name = words[0] if words else ""
        outside.extend(_outside(name, words[1:], directory=directory, worktree=worktree))
        parent = node.parent
        redirected = parent is not None and parent.type == "redirected_statement"
        if name in _FOLDER_CHANGES and not redirected:
            continue
        only_folder_changes = False
        patterns.append(_text(parent if parent is not None and redirected else node))
        always.extend(_always(words))
    whole = command.strip()
    if root.has_error:
        # bash may read it differently than this parser did.
        return ShellAsk(_unique([whole, *patterns]), (), _unique(outside))
    if not patterns and not (only_folder_changes and _has_command(root)):
        patterns.append(whole)
    return ShellAsk(_unique(patterns), _unique(always), _unique(outside))


def _walk(root: Node) -> Iterator[Node]:
    # Not recursive: a model can nest deeper than Python's stack.
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def _has_command(node: Node) -> bool:
    return any(child.type in _COMMANDS for child in _walk(node))


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace").strip()


def _unique(items: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for item in items if item))


def _always(words: list[str]) -> Iterator[str]:
    prefix = " ".join(words[: prefix_length(words)])
    if prefix and not _UNSAFE_IN_PREFIX & set(prefix):
        yield f"{prefix} *"


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
