"""Read a bash command line: which commands it runs, and which paths it names. Pure.

Each command is judged, also those in substitutions, loops, functions and here-documents, and what
programs like `sudo`, `xargs` and `bash -c` run for it. What cannot be read with certainty is asked
for as a whole and never offered to be allowed for ever; a rule that denies one of its commands
denies it all the same.
Source: OpenCode 1.18 for what is asked for (`patterns`) and remembered (`always`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from tools.permissions.rules import MAX_PATTERN_CHARS, Reach, Subject
from tools.shell.command import Command, subjects_of
from tools.shell.hints import MAX_HINT_CHARS
from tools.shell.paths import named_inside, named_outside, shown_inside
from tools.shell.prefixes import prefix_length
from tools.shell.reach import is_unsure_of_folder, reach_of, reach_of_line, reach_of_variables
from tools.shell.scan import scan
from tools.shell.tree import TooComplex, Tree, parse_tree
from tools.shell.variables import Assignment, are_unreadable, sources_in
from tools.shell.words import Word
from tools.shell.wrappers import SHELLS, Inner, base_name, look_inside

# The kernel takes no longer argument, and a line is one: 128 KiB with the zero at its end.
MAX_COMMAND_BYTES = 131_071
# What one ask shows: a row, an event and a card.
_MAX_PATTERNS = 200
_MAX_DEPTH = 6
# In a remembered pattern these would match other commands than the one a person saw.
_UNSAFE_IN_PREFIX = set("*?$`\n\\{")
_CONTINUED_WORD = re.compile(r"[^\s\\]\\\n\S")
# Substitutions that the parser takes for text: `a \`b\`` and "${a:-`b`}".
_NESTED_BACKTICKS = re.compile(r"\\`|\$\{[^}]*`")


@dataclass(frozen=True)
class ShellAsk:
    """What a command line needs to be allowed. Empty `patterns`: it only changes its folder.

    `subjects` are what rules are matched against; see `Subject`. `opaque`: it cannot be read as a
    whole. `outside` are absolute paths that leave the worktree, `inside` are relative ones in it
    that commands may read, as far as they can be told. Those in `shown` are printed.
    """

    patterns: tuple[str, ...]
    always: tuple[str, ...]
    outside: tuple[str, ...]
    subjects: tuple[Subject, ...] = ()
    opaque: bool = False
    inside: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()


def parse_shell(command: str, *, directory: Path, worktree: Path) -> ShellAsk:
    """Split a command line for a permission ask; relative paths start at `directory`.

    Never raises. Takes up to about a second for a hostile line, so it belongs into a thread.
    """
    whole = command.strip()
    reading = _Reading()
    try:
        reading.read_script(command)
        if len(reading.commands) > _MAX_PATTERNS:
            raise TooComplex
        reading.look_at_variables()
        reading.look_at_folders(directory, worktree)
    except TooComplex:
        reading = _Reading(opaque=True)
        reading.add(scan(command))
        patterns: list[str] = []
    else:
        asked = [one for one in reading.commands if not one.only_moves]
        patterns = [one.source for one in asked if not one.is_guess]
        if reading.opaque:
            reading.add(scan(command))
    if reading.opaque or (not patterns and not reading.commands):
        patterns.insert(0, whole)
    asked = [one for one in reading.commands if not one.only_moves]
    subjects = [subject for one in asked for subject in subjects_of(one)]
    if reading.opaque:
        subjects.append(Subject(whole, unsure_from="", reach=Reach.ANYTHING))
    elif not reading.commands:
        subjects.append(Subject(whole))
    suspected, reach = reading.suspected(), reading.reach
    if suspected or reach:
        first = subjects[0] if subjects else Subject(whole)
        others = (*first.others, *suspected)
        subjects[:1] = [replace(first, others=others, reach=max(first.reach, reach))]
    paths = {"directory": directory, "worktree": worktree}
    return ShellAsk(
        patterns=_unique(patterns),
        always=() if reading.opaque else _unique(p for one in asked for p in _always(one.words)),
        outside=_unique(named_outside(reading.commands, reading.targets, **paths)),
        subjects=tuple(dict.fromkeys(subjects)),
        opaque=reading.opaque,
        inside=_unique(named_inside(reading.commands, reading.targets, **paths)),
        shown=_unique(shown_inside(reading.commands, **paths)),
    )


@dataclass
class _Reading:
    opaque: bool = False
    commands: list[Command] = field(default_factory=list)
    targets: list[Word] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    # Source that may run: it is not asked for, but what denies it denies the line.
    hints: list[str] = field(default_factory=list)
    # What it can do besides its commands.
    reach: Reach = Reach.NOTHING
    _bytes: int = 0
    _hint_chars: int = 0

    def read_script(self, script: str, *, depth: int = 0) -> None:
        """Add what a script runs. Raises: TooComplex."""
        self._bytes += len(script)
        if depth > _MAX_DEPTH or self._bytes > 2 * MAX_COMMAND_BYTES:
            raise TooComplex
        tree = parse_tree(script)
        self._take(tree, depth=depth)
        reach = reach_of_line(script, targets=tree.targets, written=tree.written)
        evaluates = tree.evaluated or tree.evaluates
        self.reach = max(self.reach, Reach.ANYTHING if evaluates else reach)
        self.opaque = self.opaque or bool(_NESTED_BACKTICKS.search(script))
        if _CONTINUED_WORD.search(script):
            # bash joins these lines before it reads a word, and the parser does not.
            self.opaque = True
            self._take(parse_tree(script.replace("\\\n", "")), depth=depth)

    def add(self, commands: Iterable[Command]) -> None:
        """Add commands as they are, with what the programs among them run."""
        for command in commands:
            self.commands.append(command)
            inner = look_inside(command.words)
            self._note(inner)
            self.commands += map(_inner, (*inner.commands, *inner.guesses))
            for script in inner.scripts:
                self.commands += scan(script)

    def look_at_variables(self) -> None:
        """Add what runs because a variable has it as its value."""
        names = (base_name(one.words[0]) for one in self.commands if one.words)
        runs_shells = any(name in SHELLS for name in names)
        self.reach = max(self.reach, reach_of_variables(self.assignments))
        self.hints += sources_in(self.assignments)
        self.opaque = self.opaque or are_unreadable(self.assignments, runs_shells=runs_shells)

    def look_at_folders(self, directory: Path, worktree: Path) -> None:
        """Judge what is written in folders that the names of files do not show."""
        commands = [one.words for one in self.commands]
        writes = Reach.WRITES in {self.reach, *(one.reach for one in self.commands)}
        if writes and is_unsure_of_folder(commands, directory=directory, worktree=worktree):
            self.reach = Reach.ANYTHING

    def suspected(self) -> tuple[str, ...]:
        """Returns: the texts of commands that may run, by the hints."""
        if not self.hints:
            return ()
        found = _Reading()
        for hint in dict.fromkeys(self.hints):
            if len(found.commands) > 2 * _MAX_PATTERNS:
                break
            # A mark that says whose command it is: git's `!x`, the `:!x` of an editor.
            found.add(scan(hint[:MAX_COMMAND_BYTES].lstrip(":! ")))
        subjects = (subject for one in found.commands for subject in subjects_of(one))
        return _unique(text for one in subjects for text in (one.text, *one.others))

    def _note(self, inner: Inner) -> None:
        self.assignments += inner.assignments
        self._hint_chars += sum(map(len, inner.hints))
        if self._hint_chars > MAX_HINT_CHARS:
            self.opaque = True
        else:
            self.hints += inner.hints

    def _take(self, tree: Tree, *, depth: int) -> None:
        self.opaque = self.opaque or tree.is_doubtful
        self.targets += tree.targets
        self.assignments += tree.assignments
        self.hints += tree.evaluated
        waiting = [(command, depth) for command in reversed(tree.commands)]
        while waiting:
            command, level = waiting.pop()
            inner = look_inside(command.words, stdin=command.stdin)
            reach = reach_of(command.words, runs_inner=bool(inner.commands or inner.scripts))
            self.commands.append(replace(command, reach=reach))
            if len(self.commands) > 2 * _MAX_PATTERNS or level > _MAX_DEPTH:
                raise TooComplex
            self.opaque = self.opaque or inner.unreadable
            self._note(inner)
            inside = [*map(_inner, inner.commands)]
            if not command.is_guess:  # what a guess could begin with has been guessed already
                inside += (replace(_inner(words), is_guess=True) for words in inner.guesses)
            waiting += [(one, level + 1) for one in reversed(inside)]
            for script in inner.scripts:
                self.read_script(script, depth=level + 1)


def _inner(words: tuple[Word, ...]) -> Command:
    return Command(" ".join(word.text for word in words).strip(), words)


def _always(words: tuple[Word, ...]) -> Iterator[str]:
    raw = [word.raw for word in words]
    prefix = " ".join(raw[: prefix_length(raw)])
    pattern = f"{prefix} *"
    if (
        prefix.strip()
        and words[0].is_plain
        and len(pattern) <= MAX_PATTERN_CHARS
        and not _UNSAFE_IN_PREFIX & set(prefix)
    ):
        yield pattern


def _unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for item in items if item))
