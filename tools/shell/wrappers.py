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
    "busybox": _Form(),
    "catchsegv": _Form(),
    "cgexec": _Form("-g"),
    "choom": _Form("-n -p --adjust --pid"),
    "chroot": _Form("--userspec --groups", before=1),
    "chrt": _Form("-T -P -D", before=1),
    "command": _Form(looks="-v -V"),
    "coproc": _Form(),
    "dbus-run-session": _Form("--config-file --dbus-daemon"),
    "doas": _Form("-u -C"),
    "eatmydata": _Form(),
    "env": _Form("-u -C --unset --chdir", assigns=True, script="-S --split-string"),
    "eval": _Form(joined=True),
    "exec": _Form("-a"),
    "fakeroot": _Form("-l -s -i -b"),
    "faketime": _Form(before=1),
    "flock": _Form("-w -E --timeout --conflict-exit-code", before=1, script="-c --command"),
    "ionice": _Form("-c -n -p -P -u --class --classdata"),
    "ld.so": _Form("--library-path --inhibit-rpath --audit --preload --argv0"),
    "logsave": _Form(before=1),
    "ltrace": _Form("-e -o -p -s -u -n -l"),
    "nice": _Form("-n --adjustment"),
    "nohup": _Form(),
    "nsenter": _Form("-t -S -G --target --setuid --setgid"),
    "numactl": _Form("-C -N -m -p -i"),
    "parallel": _Form("-j -a -S --jobs --arg-file --sshlogin --colsep --delimiter -d -I"),
    "pkexec": _Form("--user"),
    "prlimit": _Form("-p --pid"),
    "rlwrap": _Form("-b -f -H -l -p -s -S"),
    "runuser": _Form("-u -g -G -s", script="-c --command"),
    "script": _Form("-I -O -B -T -E -o", script="-c --command", before=1),
    "setarch": _Form(before=1),
    "setpriv": _Form("--reuid --regid --groups --inh-caps --ambient-caps --bounding-set"),
    "setsid": _Form(),
    "ssh-agent": _Form("-a -E -O -P -t"),
    "stdbuf": _Form("-i -o -e --input --output --error"),
    "strace": _Form("-e -o -p -s -u -a -E -I -O -S -P -X"),
    "su": _Form("-g -G -s -w", before=1, script="-c --command"),
    "sudo": _Form(
        "-C -D -g -h -p -R -r -T -t -U -u --chdir --close-from --group --host --prompt --chroot "
        "--role --command-timeout --type --other-user --user",
        assigns=True,
        looks="-l --list -v --validate -e --edit",
    ),
    "systemd-run": _Form("-p -t -u -E --unit --property --setenv --slice"),
    "taskset": _Form("-p", before=1),
    "time": _Form("-f -o --format --output"),
    "timeout": _Form("-k -s --kill-after --signal", before=1),
    "toybox": _Form(),
    "trap": _Form(joined=True),
    "unbuffer": _Form(),
    "unshare": _Form("-S -G -w -R --setuid --setgid --wd --root"),
    "valgrind": _Form(),
    "watch": _Form("-n -q -s --interval --equexit --shotsdir", joined=True),
    "xvfb-run": _Form("-e -f -n -p -s"),
    "xargs": _Form(
        "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-lines "
        "--max-chars --replace --eof --process-slot-var"
    ),
}
for _same, _as in (
    ("gtimeout", "timeout"),
    ("genv", "env"),
    ("gxargs", "xargs"),
    ("i386", "nohup"),
    ("linux32", "nohup"),
    ("linux64", "nohup"),
    ("sem", "parallel"),
    ("x86_64", "nohup"),
):
    _FORMS[_same] = _FORMS[_as]


@dataclass
class Inner:
    """What a command runs besides itself."""

    # The words of other commands.
    commands: list[tuple[Word, ...]] = field(default_factory=list)
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
    elif form := _form_of(name):
        _look_by_form(words, form, inner)
        if name in {"xargs", "parallel"} and inner.commands:
            _fill_from_input(words, inner, stdin=stdin)
    return inner


def runs_others(word: Word) -> bool:
    """Tell whether a program runs what its arguments say."""
    name = base_name(word)
    return name in SHELLS or _form_of(name) is not None or name == "find"


def options_with_value(name: str) -> frozenset[str]:
    """Returns: the options of a program that take a value of their own."""
    form = _form_of(name)
    return frozenset(form.valued.split()) if form else frozenset()


def _form_of(name: str) -> _Form | None:
    return _FORMS.get("ld.so" if name.startswith(("ld-linux", "ld-musl")) else name)


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
    if words[0].text == "coproc" and any(set(word.text) & set("{(") for word in rest):
        # `coproc NAME { x; }`, which the parser takes for a command and its arguments.
        inner.scripts += [" ".join(word.raw for word in rest[index:]) for index in (0, 1)]
        return
    if form.joined:
        if any(word.expands for word in rest):
            inner.unreadable = True
        if rest:
            inner.scripts.append(" ".join(word.text for word in rest))
        return
    if form.before:
        # It is not always there: `setarch --verbose x`.
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
            # GNU's options may also stand behind the first argument of these.
            if not (scripts and form.before):
                return words[index:]
            index += 1
            continue
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
    return [] if not (scripts and form.before) else _positional(words, form)


def _letters(cluster: str) -> list[str]:
    return [f"-{letter}" for letter in cluster[1:]]


def _script_of(text: str, name: str, value: str, has_value: bool, scripts: list[str]) -> str:
    """Returns: the script that is glued to its option, `-Srm x` or `--command=rm x`."""
    if has_value and name in scripts:
        return value
    short = next((one for one in scripts if len(one) == 2 and text.startswith(one)), "")
    return text[2:] if short and not text.startswith("--") else ""


def _positional(words: Sequence[Word], form: _Form) -> Sequence[Word]:
    valued = form.valued.split()
    for index, word in enumerate(words):
        behind_value = index > 0 and words[index - 1].text in valued
        if not word.text.startswith("-") and not behind_value:
            return words[index:]
    return []


_BY_NAME: dict[str, Callable[[Sequence[Word], Inner], None]] = {
    ".": _look_into_source,
    "alias": _look_into_alias,
    "enable": _look_into_enable,
    "find": _look_into_find,
    "git": _look_into_git,
    "hash": _look_into_hash,
    "source": _look_into_source,
}
