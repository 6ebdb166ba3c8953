"""Variables whose value is run by what reads them: `PROMPT_COMMAND`, `GIT_PAGER`, `BASH_ENV`. Pure.

Sources: the manual pages of bash, dash, git, less, man and sudo.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tools.shell.words import Word

# Their values are shell source, or a program with its arguments.
_SOURCE = re.compile(
    r"PROMPT_COMMAND|PS[0-4]|BASH_FUNC_.*|LESSOPEN|LESSCLOSE|FCEDIT|GIT_EXTERNAL_DIFF|GIT_SSH"
    r"|GIT_CONFIG_VALUE_\d+|GIT_CONFIG_PARAMETERS|MAKEFLAGS|GNUMAKEFLAGS|TAR_OPTIONS"
    r"|(?:\w+_)?(?:PAGER|EDITOR|VISUAL|BROWSER|ASKPASS|RSH|SHELL)|\w+_(?:COMMAND|CMD|WRAPPER)"
)
# Of these bash itself runs the value, so that even a loop or `read` can set what runs.
_OWN = re.compile(r"PROMPT_COMMAND|PS[0-4]|BASH_ENV|ENV")
# A file whose content runs before anything else does.
_STARTS_EVERY_SHELL = "BASH_ENV"
_STARTS_INTERACTIVE = "ENV"
_SETTERS = frozenset({"read", "printf", "mapfile", "readarray", "getopts"})
_NAME = re.compile(r"(?P<name>[A-Za-z_]\w*(?:%%|\(\))?)(?:\[[^\]]*\])?\+?=", re.DOTALL)
# What is run again when the value is evaluated: an index in arithmetic, `${x@P}`.
SUBSTITUTIONS = re.compile(r"\$\(|`|[<>]\(")


@dataclass(frozen=True)
class Assignment:
    """One `name=value`, wherever it stands."""

    name: str
    value: Word

    @property
    def is_source(self) -> bool:
        return bool(_SOURCE.fullmatch(self.name))


def is_run_by_shells(name: str) -> bool:
    """Tell whether a shell runs the value of this variable, or the file it names."""
    return bool(_OWN.fullmatch(name))


def assignment_of(word: Word) -> Assignment | None:
    """Read an argument of `env`, `sudo` or `export`, in which any name may stand."""
    found = _NAME.match(word.text)
    if found is None:
        return None
    end = found.end()
    fixed = word.fixed[end:]
    return Assignment(found["name"], Word(word.raw, word.text[end:], fixed, expands=word.expands))


def sources_in(assignments: Iterable[Assignment]) -> Iterator[str]:
    """Yield the shell source that values hold, as far as the line says it."""
    for one in assignments:
        if one.is_source or SUBSTITUTIONS.search(one.value.text):
            yield one.value.text
        if one.name.startswith("GIT_CONFIG_VALUE_"):
            # It may be an alias.
            yield f"git {one.value.text}"


def are_unreadable(assignments: Sequence[Assignment], *, runs_shells: bool) -> bool:
    """Tell whether some value runs, and only a shell knows what it is."""
    return any(
        (one.is_source and one.value.expands and is_run_by_shells(one.name))
        or (one.name == _STARTS_EVERY_SHELL and bool(one.value.text))
        or (one.name == _STARTS_INTERACTIVE and runs_shells and bool(one.value.text))
        for one in assignments
    )


def sets_unseen(name: str, words: Sequence[Word]) -> bool:
    """Tell whether a builtin fills such a variable with what the line does not say."""
    return name in _SETTERS and any(
        is_run_by_shells(word.text.partition("[")[0]) for word in words[1:]
    )
