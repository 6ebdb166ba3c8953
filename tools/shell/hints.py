"""Where else a command can stand among arguments: `tar --to-command`, `git -c core.pager`. Pure.

These are suspicions: what is found here can only be denied by a rule, never allowed or asked for by
it, so it may be more than what a program would run. What interpreters and editors do in languages
of their own (`perl -e`, `awk`, `sed e`) nobody can tell; see `tools.shell.reach`.
Sources: the manual pages of the programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tools.shell.variables import SUBSTITUTIONS
from tools.shell.words import Word

_VIM = "-c --cmd +"
_CALL = "-c --call"
# Options whose value is, or has in it, a command.
_OPTIONS = {
    "bind": "-x",
    "capsh": "-c",
    "compgen": "-C",
    "complete": "-C",
    "ex": _VIM,
    "expect": "-c",
    "gdb": "-ex -iex --eval-command",
    "git": "-c -x -u --exec --extcmd --upload-pack --receive-pack --env-filter --tree-filter "
    "--index-filter --parent-filter --msg-filter --commit-filter --tag-name-filter",
    "less": "+",
    "make": "--eval",
    "man": "-P --pager",
    "mapfile": "-C",
    "nix": "-c --command",
    "nix-shell": "--run --command",
    "nodemon": "-x --exec",
    "npm": _CALL,
    "npx": _CALL,
    "nvim": _VIM,
    "pnpm": _CALL,
    "readarray": "-C",
    "rsync": "-e --rsh --rsync-path",
    "scp": "-o -S",
    "sftp": "-o -S",
    "sort": "--compress-program",
    "ssh": "-o",
    "start-stop-daemon": "-x -a --exec --startas",
    "tar": "-I -F --checkpoint-action --to-command --use-compress-program --info-script "
    "--new-volume-script --rsh-command --rmt-command",
    "tcpdump": "-z",
    "vi": _VIM,
    "view": _VIM,
    "vim": _VIM,
    "zip": "-TT --unzip-command",
}
# Behind these words stands a command, after options.
_VERBS = {
    "asdf": "exec",
    "bundle": "exec",
    "conda": "run",
    "direnv": "exec",
    "git": "run foreach config",
    "hatch": "run",
    "mamba": "run",
    "mise": "exec x",
    "npm": "exec x",
    "pdm": "run",
    "pipenv": "run",
    "pnpm": "exec dlx",
    "poetry": "run",
    "pyenv": "exec",
    "rbenv": "exec",
    "rustup": "run",
    "rye": "run",
    "uv": "run",
    "yarn": "exec run",
}
# A place, a version or a key stands there first.
_VALUE_FIRST = frozenset({"direnv", "git", "rustup"})
# Every argument of these may be a command.
_ALL = frozenset({"concurrently", "entr", "hyperfine", "screen", "tmux"})
# Of a literal argument bash evaluates what looks like an index of an array.
_EVALUATING = frozenset({"getopts", "let", "mapfile", "read", "readarray", "test", "unset", "wait"})
_DECLARING = frozenset({"declare", "export", "local", "readonly", "typeset"})
# Suspicions repeat the text of a line, and each is read once more.
MAX_HINT_CHARS = 262_144
_BEHIND_MARKS = re.compile(r"[=:!]|\bshell\s")


def take_hints(name: str, words: Sequence[Word]) -> tuple[list[str], bool]:
    """Returns: shell source that a command may run, and whether there is too much of it.

    `name` is that of its program alone.
    """
    hints: list[str] = []
    left = MAX_HINT_CHARS
    for hint in _hints_of(name, words):
        left -= len(hint) + 1
        if left < 0:
            return hints, True
        hints.append(hint)
    return hints, False


def _hints_of(name: str, words: Sequence[Word]) -> Iterator[str]:
    if name in _OPTIONS:
        yield from _values(words, _OPTIONS[name].split())
    if name in _VERBS:
        for command in _behind_verb(words, _VERBS[name].split()):
            yield command
            if name == "git":
                # An alias has a command of git's own as its value.
                yield f"git {command}"
    if name == "make":
        yield from _cut(word.text for word in words[1:] if "=" in word.text)
    if name in _ALL:
        yield from _cut(word.text for word in words[1:])
    if name in _EVALUATING | _DECLARING or _printf_target(name, words):
        yield from (word.text for word in words[1:] if SUBSTITUTIONS.search(word.text))


def _printf_target(name: str, words: Sequence[Word]) -> bool:
    return name == "printf" and len(words) > 1 and words[1].text.startswith("-v")


def _values(words: Sequence[Word], options: list[str]) -> Iterator[str]:
    for index, word in enumerate(words[1:], start=2):
        text = word.text
        following = words[index] if index < len(words) else None
        for option in options:
            if text == option and following is not None:
                yield from _cut([following.text])
            elif text.startswith(option):
                yield from _cut([text.removeprefix(option)])
            elif _ends_cluster(text, option) and following is not None:
                yield from _cut([following.text])


def _ends_cluster(text: str, option: str) -> bool:
    """Of letters in a row the last one takes the value, as in `mapfile -tC 'x'`."""
    is_cluster = text.startswith("-") and not text.startswith("--")
    return is_cluster and len(option) == 2 and text.endswith(option[1])


def _cut(values: Iterator[str] | list[str]) -> Iterator[str]:
    """Each value, and what stands behind the marks in it: of `core.pager=x` the `x`."""
    for value in values:
        yield value
        yield from (value[mark.end() :] for mark in _BEHIND_MARKS.finditer(value[:1_000]))


def _behind_verb(words: Sequence[Word], verbs: list[str]) -> Iterator[str]:
    texts = [word.text for word in words]
    at = next((index for index, text in enumerate(texts) if index and text in verbs), None)
    if at is None:
        return
    rest = texts[at + 1 :]
    takes_value = texts[0].rpartition("/")[2] in _VALUE_FIRST
    for index, text in enumerate(rest):
        if text == "--":
            yield " ".join(rest[index + 1 :])
            return
        if text.startswith("-"):
            takes_value = True
            continue
        yield " ".join(rest[index:])
        if not takes_value:
            return
        # It may as well be what the word before it asks for.
        takes_value = False
