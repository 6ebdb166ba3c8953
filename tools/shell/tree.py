"""The commands of a shell line as tree-sitter reads it. Pure.

The parser needs quadratic time for some repetitions (`a|a|a|`, `a=(a=(`), cannot be interrupted and
keeps the interpreter's lock meanwhile. So it gets no line on which it could take over some 0.3 s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from tools.shell.command import Command
from tools.shell.evaluation import array_evaluates, index_evaluates, test_evaluates
from tools.shell.variables import SUBSTITUTIONS, Assignment, is_run_by_shells
from tools.shell.words import Word, read_word

_MAX_BYTES = 65_536
_MAX_PIPES = 1_000
_MAX_OPERATORS = 1_500
_OPERATORS = b"|&;()<>{}[]$`"
_MAX_NODES = 20_000
# Commands inside commands repeat their text, which would add up.
_MAX_SOURCE_BYTES = 2 * _MAX_BYTES

_BASH = Language(tree_sitter_bash.language())
_COMMANDS = {"command", "declaration_command", "unset_command"}
_REDIRECTED = "redirected_statement"
_NO_WORDS = {"file_redirect", "heredoc_redirect", "herestring_redirect", "comment"}
_DESCRIPTORS = {"file_descriptor", "number"}
_CONDITIONS = {"binary_expression", "parenthesized_expression", "unary_expression"}
_LITERALS = {"raw_string", "ansi_c_string"}
FOLDER_CHANGES = frozenset({"cd", "pushd", "popd"})


class TooComplex(Exception):
    """A line above the limits of what is given to the parser."""


@dataclass
class Tree:
    """What a line runs, in order. `targets` are what redirections read or write."""

    commands: list[Command] = field(default_factory=list)
    targets: list[Word] = field(default_factory=list)
    # Those of them that are written.
    written: list[Word] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    # Literal texts outside of arguments that bash may evaluate once more, as `[[ 'a[$(x)]' -eq`.
    evaluated: list[str] = field(default_factory=list)
    # Whether bash evaluates once more what only variables hold, as the index in `a[$x]=1`.
    evaluates: bool = False
    # bash may read it differently than this parser did.
    is_doubtful: bool = False


def parse_tree(text: str) -> Tree:
    """Read a line. Raises: TooComplex."""
    source = text.encode("utf-8", "replace")
    operators = len(source) - len(source.translate(None, _OPERATORS))
    if len(source) > _MAX_BYTES or source.count(b"|") > _MAX_PIPES or operators > _MAX_OPERATORS:
        raise TooComplex
    root = Parser(_BASH).parse(source).root_node
    if root.descendant_count > _MAX_NODES:
        raise TooComplex
    reading = _Reading(source)
    for node, parent, leaving in _walk(root):
        reading.visit(node, parent, leaving=leaving)
    tree = reading.tree
    tree.commands = [command for command in tree.commands if command.source]
    tree.is_doubtful = tree.is_doubtful or root.has_error
    return tree


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


class _Reading:
    def __init__(self, source: bytes) -> None:
        self.tree = Tree()
        self._source = source
        self._bytes = 0
        self._commands = 0
        # Per redirected statement around the node: its place in the list, commands before it.
        self._open: list[tuple[int, int]] = []

    def visit(self, node: Node, parent: Node | None, *, leaving: bool) -> None:
        commands = self.tree.commands
        if leaving:
            place, before = self._open.pop()
            # Without a command in it, the redirection is what it does.
            if self._commands == before:
                commands[place] = Command(self._text(node), ())
        elif node.type == _REDIRECTED:
            self._open.append((len(commands), self._commands))
            commands.append(Command("", ()))
        elif node.type in _COMMANDS:
            self._commands += 1
            commands.append(self._command(node, parent))
        elif node.type == "file_redirect":
            found = [one for one in node.named_children if one.type not in _DESCRIPTORS]
            words = tuple(read_word(_text(one)) for one in found)
            self.tree.targets += words
            if any(">" in one.type for one in node.children if not one.is_named):
                self.tree.written += words[:1]
            self._take_back(words[1:])
        else:
            self._visit_value(node, parent)

    def _take_back(self, words: tuple[Word, ...]) -> None:
        """Give the last command what the parser takes for more files: `nice > out rm x`."""
        if not words:
            return
        last = self.tree.commands.pop() if self.tree.commands else Command("", ())
        source = last.source or " ".join(word.raw for word in words)
        self.tree.commands.append(replace(last, source=source, words=(*last.words, *words)))

    def _visit_value(self, node: Node, parent: Node | None) -> None:
        if node.type == "variable_assignment" and node.named_children:
            name, value = node.named_children[0], node.named_children[-1]
            text = _text(value) if value is not name else ""
            self.tree.assignments.append(Assignment(_text(name).partition("[")[0], read_word(text)))
            self.tree.evaluates |= value.type == "array" and array_evaluates(text)
        elif node.type == "subscript":
            index = _text(node).partition("[")[2].removesuffix("]")
            self.tree.evaluates |= index_evaluates(index)
        elif node.type == "test_command" and node.children[0].type == "[":
            self.tree.evaluates |= test_evaluates(
                [read_word(_text(one)) for one in _operands(node)]
            )
        elif node.type in _LITERALS and parent is not None and parent.type not in _COMMANDS:
            text = read_word(_text(node)).text
            if SUBSTITUTIONS.search(text):
                self.tree.evaluated.append(text)
        elif node.type == "variable_name" and parent is not None:
            # A loop fills it with whatever comes.
            is_filled = parent.type == "for_statement" and is_run_by_shells(_text(node))
            self.tree.is_doubtful = self.tree.is_doubtful or is_filled

    def _command(self, node: Node, parent: Node | None) -> Command:
        whole = parent if parent is not None and parent.type == _REDIRECTED else node
        words = tuple(map(read_word, self._raw_words(node)))
        moves = bool(words) and words[0].raw in FOLDER_CHANGES and whole is node
        stdin = _stdin(node) or (_stdin(whole) if whole is not node else None)
        return Command(self._text(whole), words, stdin, only_moves=moves)

    def _raw_words(self, node: Node) -> list[str]:
        words: list[bytes] = []
        end = -1
        for child in node.children:
            is_assignment = child.type == "variable_assignment" and node.type == "command"
            if child.type in _NO_WORDS or is_assignment:
                continue
            gap = self._source[end : child.start_byte] if words else b" "
            piece = self._source[child.start_byte : child.end_byte]
            # To bash, a line that is continued inside a word is one word.
            if words and not gap.replace(b"\\\n", b""):
                words[-1] += gap + piece
            else:
                words.append(piece)
            end = child.end_byte
        return [word.decode("utf-8", "replace") for word in words]

    def _text(self, node: Node) -> str:
        self._bytes += node.end_byte - node.start_byte
        if self._bytes > _MAX_SOURCE_BYTES:
            raise TooComplex
        return _text(node)


def _stdin(node: Node) -> str | None:
    for child in node.children:
        if child.type == "heredoc_redirect":
            bodies = [one for one in child.children if one.type == "heredoc_body"]
            return "".join(map(_text, bodies))
        if child.type == "herestring_redirect":
            return " ".join(read_word(_text(one)).text for one in child.named_children)
    return None


def _operands(node: Node) -> Iterator[Node]:
    """Yield the words of a condition, those in groups and behind operators, too."""
    stack = [node]
    while stack:
        one = stack.pop()
        if one is node or one.type in _CONDITIONS:
            stack.extend(reversed(one.children))
        else:
            yield one


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace").strip()
