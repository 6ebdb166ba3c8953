"""Programs that run what their arguments say: `sudo`, `env`, `xargs`, `bash -c`. Pure.

Sources: the manual pages of GNU coreutils, findutils and util-linux, of sudo, procps and bash.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tools.shell.hints import take_hints
from tools.shell.variables import Assignment, assignment_of, sets_unseen
from tools.shell.words import Word

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
SHELLS = frozenset({"ash", "bash", "dash", "ksh", "mksh", "rbash", "sh", "zsh"})
_WORDS_OF_THE_SHELL = "! { } case do done elif else esac fi for function if in select then until"
_RESERVED = frozenset(f"{_WORDS_OF_THE_SHELL} while".split())
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


@dataclass(frozen=True)
class _Form:
    """How a program takes its command: its options with a value, and what stands before."""

    # Single letters, and long names, of the options that take a value of their own.
    valued: str = ""
    before: int = 0
    assigns: bool = False
    # The option whose value is a script, and whether the rest is one, joined by blanks.
    script: str = ""
    joined: bool = False
    # What follows these options is only looked at, not run.
    looks: str = ""


_FORMS = {
    "builtin": _Form(),
    "command": _Form(looks="-v -V"),
    "env": _Form("-u -C --unset --chdir", assigns=True, script="-S --split-string"),
    "eval": _Form(joined=True),
    "exec": _Form("-a"),
    "nice": _Form("-n --adjustment"),
    "nohup": _Form(),
    "setsid": _Form(),
    "stdbuf": _Form("-i -o -e --input --output --error"),
    "sudo": _Form(
        "-C -D -g -h -p -R -r -T -t -U -u --chdir --close-from --group --host --prompt --chroot "
        "--role --command-timeout --type --other-user --user",
        assigns=True,
        looks="-l --list -v --validate -e --edit",
    ),
    "time": _Form("-f -o --format --output"),
    "timeout": _Form("-k -s --kill-after --signal", before=1),
    "trap": _Form(joined=True),
    "xargs": _Form(
        "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-lines "
        "--max-chars --replace --eof --process-slot-var"
    ),
}
# They run others as well, but nobody here reads their options: any of their words may begin a
# command, and each that holds more than a word may be a script.
_NOT_READ = """
busybox catchsegv cgexec choom chroot chrt coproc dbus-run-session doas eatmydata fakeroot faketime
flock genv gtimeout gxargs i386 ionice ld.so linux32 linux64 logsave ltrace nsenter numactl parallel
pkexec prlimit rlwrap runuser script sem setarch setpriv ssh-agent strace su systemd-run taskset
toybox unbuffer unshare valgrind watch x86_64 xvfb-run
"""
_UNREAD = frozenset(_NOT_READ.split())
_LOADERS = ("ld-linux", "ld-musl")
_PLAIN = re.compile(r"[\w@%+=:,./~^-]*")
# Words of such a program that are taken for the beginning of a command.
_MAX_GUESSES = 64


@dataclass
class Inner:
    """What a command runs besides itself."""

    # The words of other commands, and of what may be one.
    commands: list[tuple[Word, ...]] = field(default_factory=list)
    guesses: list[tuple[Word, ...]] = field(default_factory=list)
    # Shell source.
    scripts: list[str] = field(default_factory=list)
    # Shell source that may run: it can only be denied.
    hints: list[str] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    # Something runs that nobody can read before it does.
    unreadable: bool = False


def look_inside(words: Sequence[Word], *, stdin: str | None = None) -> Inner:
    """Find what a command runs. `stdin` is what it reads where the line says that."""
    inner = Inner()
    name = base_name(words[0]) if words else ""
    inner.hints, inner.unreadable = take_hints(name, words)
    if _ASSIGNMENT.match(name):
        # Whether a wrapper takes it for a program or an assignment is the wrapper's to say.
        inner.hints.append(" ".join(word.text for word in words[1:]))
    if name in SHELLS:
        _look_into_shell(words, inner, stdin=stdin)
    elif look := _BY_NAME.get(name):
        look(words, inner)
    elif name in _RESERVED or sets_unseen(name, words):
        # What the parser takes for a command by such a name, bash reads in another way.
        inner.unreadable = True
    elif form := _FORMS.get(name):
        _look_by_form(words, form, inner)
        if name == "xargs" and inner.commands:
            _fill_from_input(words, inner, stdin=stdin)
    elif is_unread(name):
        _guess(words, inner)
    return inner


def runs_others(word: Word) -> bool:
    """Tell whether a program runs what its arguments say."""
    name = base_name(word)
    return name in SHELLS or name in _FORMS or name == "find" or is_unread(name)


def is_unread(name: str) -> bool:
    """Tell whether a program runs others in a way that is not read here."""
    return name in _UNREAD or name.startswith(_LOADERS)


def options_with_value(name: str) -> frozenset[str]:
    """Returns: the options of a program that take a value of their own."""
    form = _FORMS.get(name)
    return frozenset(form.valued.split()) if form else frozenset()


def behind_wrappers(words: Sequence[Word]) -> tuple[Word, ...]:
    """Returns: roughly what is run in the end, however many programs stand before it."""
    index = 0
    while index < len(words) and (
        runs_others(words[index])
        or words[index].text[:1] in "-+0123456789"
        or _ASSIGNMENT.match(words[index].raw)
    ):
        index += 1
    return tuple(words[index:])


_UNKNOWN = Word("", "", "", expands=True)


def base_name(word: Word) -> str:
    """Returns: the name of the program, without its folder; empty where nobody can know it."""
    return "" if word.expands or word.globs else word.text.rpartition("/")[2]


def _look_into_shell(words: Sequence[Word], inner: Inner, *, stdin: str | None) -> None:
    for index, word in enumerate(words[1:], start=1):
        text = word.text
        if word.expands:
            inner.unreadable = True
            return
        if text[:1] in "-+" and text not in {"-", "--"}:
            if text in {"--rcfile", "--init-file", "-o", "+o", "-O", "+O"}:
                continue
            if not text.startswith("--") and "c" in text:
                _take_script(words[index + 1 :], inner)
                return
            continue
        previous = words[index - 1].text
        if previous in {"--rcfile", "--init-file", "-o", "+o", "-O", "+O"}:
            continue
        if text in {"-", "--"}:
            continue
        # A script in a file, which is as opaque as any program; not so one that is a stream.
        inner.unreadable = _is_stream(text)
        return
    # It reads its script from somewhere; whatever that is, it is not in the line.
    inner.unreadable = stdin is None
    inner.scripts += [] if stdin is None else [stdin]


def _is_stream(path: str) -> bool:
    """Tell whether a file is what the line itself, or another command, writes."""
    return os.path.normpath(path).startswith(("/dev/stdin", "/dev/fd/", "/proc/"))


def _look_into_hash(words: Sequence[Word], inner: Inner) -> None:
    """`hash -p /bin/rm x`: from then on `x` is that program, with whatever arguments."""
    if any(re.match(r"-\w*p", word.text) for word in words[1:]):
        inner.commands += [(word, _UNKNOWN) for word in words[1:] if "/" in word.text]
        inner.unreadable = any(word.expands for word in words[1:])


def _look_into_alias(words: Sequence[Word], inner: Inner) -> None:
    inner.scripts += [word.text.partition("=")[2] for word in words[1:] if "=" in word.text]
    inner.unreadable = any(word.expands for word in words[1:])


def _look_into_git(words: Sequence[Word], inner: Inner) -> None:
    # `-c alias.x='!rm y'`: what follows the mark is for a shell.
    values = (word.text.partition("=!") for word in words[1:])
    inner.scripts += [script for _, mark, script in values if mark]
    aliases = (word.text.partition("=") for word in words[1:])
    inner.scripts += [
        f"git {text}" for name, _, text in aliases if text and name.startswith("alias.")
    ]


def _look_into_source(words: Sequence[Word], inner: Inner) -> None:
    if len(words) > 1:
        inner.unreadable = words[1].expands or _is_stream(words[1].text)


def _look_into_enable(words: Sequence[Word], inner: Inner) -> None:
    # A builtin out of a library does anything.
    inner.unreadable = any(re.match(r"-\w*f", word.text) for word in words[1:])


def _guess(words: Sequence[Word], inner: Inner) -> None:
    inner.unreadable = True
    last = min(len(words), _MAX_GUESSES)
    inner.guesses += [tuple(words[index:]) for index in range(1, last)]
    inner.guesses.append((_UNKNOWN,))
    texts = [word.text for word in words[1:]]
    values = [text.partition("=")[2] for text in texts]
    scripts = [text for text in (*texts, *values) if not _PLAIN.fullmatch(text)]
    # Some join their words first, as `watch` does.
    inner.scripts += [*scripts, " ".join(texts)] if scripts else []


def _fill_from_input(words: Sequence[Word], inner: Inner, *, stdin: str | None) -> None:
    # What it is called with comes from elsewhere: the words end in something unknown.
    marks = _marks(words)
    inner.commands = [
        (*(_filled(word, marks) for word in command), _UNKNOWN) for command in inner.commands
    ]
    if stdin is None and base_name(inner.commands[0][0]) in SHELLS:
        inner.unreadable = True


def _take_script(words: Sequence[Word], inner: Inner) -> None:
    for word in words:
        if word.text.startswith(("-", "+")) and not word.expands:
            continue
        if word.expands:
            inner.unreadable = True
        inner.scripts.append(word.text)
        return


def _look_into_find(words: Sequence[Word], inner: Inner) -> None:
    index = 1
    while index < len(words):
        if words[index].text in _FIND_RUNS:
            end = index + 1
            while end < len(words) and words[end].text not in {";", "+"}:
                end += 1
            command = tuple(words[index + 1 : end])
            if command:
                inner.commands.append(tuple(_filled(word) for word in command))
            index = end
        index += 1


def _marks(words: Sequence[Word]) -> list[str]:
    """What stands for an input in the arguments of xargs: `{}`, or what `-I` says."""
    marks = ["{}"]
    for word, following in zip(words, [*words[1:], _UNKNOWN], strict=True):
        if word.text.startswith(("-I", "--replace=")):
            marks.append(word.text.removeprefix("-I").removeprefix("--replace=") or following.text)
    return [mark for mark in marks if mark]


def _filled(word: Word, marks: Sequence[str] = ("{}",)) -> Word:
    """A word in which a mark becomes something else."""
    found = [at for mark in marks if (at := word.text.find(mark)) >= 0]
    if not found or word.expands:
        return word
    return Word(word.raw, word.text, word.text[: min(found)], expands=True)


def _look_by_form(words: Sequence[Word], form: _Form, inner: Inner) -> None:
    rest = _after_options(words[1:], form, inner)
    if rest is None:
        return
    if form.joined:
        if any(word.expands for word in rest):
            inner.unreadable = True
        if rest:
            inner.scripts.append(" ".join(word.text for word in rest))
        return
    if form.before:
        # It may be the value of an option that is not known here: `timeout --kill 1 2 x`.
        inner.hints.append(" ".join(word.text for word in rest))
    rest = rest[form.before :]
    while form.assigns and rest and "=" in rest[0].text:
        rest = rest[1:]
    if rest:
        inner.commands.append(tuple(rest))


def _after_options(words: Sequence[Word], form: _Form, inner: Inner) -> Sequence[Word] | None:
    """Returns: the words behind the options, None where nothing is run."""
    valued, scripts, looks = form.valued.split(), form.script.split(), form.looks.split()
    index = 0
    while index < len(words):
        word = words[index]
        text = word.text
        if form.assigns and not text.startswith("-") and (found := assignment_of(word)):
            inner.assignments.append(found)
            index += 1
            continue
        if not text.startswith("-") or text == "-":
            if word.expands and not word.fixed:
                # It may vanish, or be an option: what it leads to is unknown.
                inner.unreadable = True
            return words[index:]
        if text == "--":
            return words[index + 1 :]
        name, has_value, value = text.partition("=")
        if name in looks:
            return None
        if script := _script_of(text, name, value, bool(has_value), scripts):
            inner.unreadable = inner.unreadable or word.expands
            inner.scripts.append(script)
            return None
        # Of letters in a row, `-iu root`, the last one may take a value.
        last = (
            name
            if name.startswith("--") or set(_letters(name[:-1])) & set(valued)
            else (f"-{name[-1]}")
        )
        if last in scripts:
            _take_script(words[index + 1 :], inner)
            return None
        index += 2 if last in valued and not has_value else 1
    return []


def _letters(cluster: str) -> list[str]:
    return [f"-{letter}" for letter in cluster[1:]]


def _script_of(text: str, name: str, value: str, has_value: bool, scripts: list[str]) -> str:
    """Returns: the script that is glued to its option, `-Srm x` or `--command=rm x`."""
    if has_value and name in scripts:
        return value
    short = next((one for one in scripts if len(one) == 2 and text.startswith(one)), "")
    return text[2:] if short and not text.startswith("--") else ""


_BY_NAME: dict[str, Callable[[Sequence[Word], Inner], None]] = {
    ".": _look_into_source,
    "alias": _look_into_alias,
    "enable": _look_into_enable,
    "find": _look_into_find,
    "git": _look_into_git,
    "hash": _look_into_hash,
    "source": _look_into_source,
}
