"""Which programs do what their name says and nothing else. Pure.

Rules match the text of a command. One that denies `rm *` says nothing about what an interpreter, a
build or a script does, so while there is such a rule only the programs listed here count as what
they look like. Everything else, also what nobody here knows, can run or write anything and is
asked for, unless a rule or a saved answer allows it by its name.
Sources: the manual pages of GNU coreutils, findutils, grep, sed and gawk, of git, fd and ripgrep.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tools.permissions.rules import Reach
from tools.shell.evaluation import evaluates_again, test_evaluates
from tools.shell.variables import SUBSTITUTIONS, Assignment
from tools.shell.words import Word
from tools.shell.wrappers import options_with_value

# Where the programs of the system are; a command cannot write there.
_SYSTEM = frozenset({"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin"})
_PLAIN = """
: arch b2sum base32 base64 basename break cat cd cksum clear cmp column comm continue cut
date df diff dir dirname dirs du echo egrep exit expand expr factor false fgrep file fmt
fold free getconf grep groups head hexdump hostname id join jq kill locale logname ls
lscpu lsof md5sum nl nproc numfmt od paste pathchk pgrep popd printenv ps pushd pwd readlink
realpath return rev seq set sha1sum sha224sum sha256sum sha384sum sha512sum shift
sleep stat strings sum tac tail times tr true tsort tty type ulimit umask uname uptime
users vdir wc whereis which who whoami yes zcat zgrep
"""
_HARMLESS = frozenset(_PLAIN.split())
_WRITING = frozenset({"chmod", "mkdir", "rm", "rmdir", "touch"})
# Options by which these run something or write a file of any name. What stands in a variable, or
# what a pattern finds, may be one of them.
_BUT_OPTIONS = {
    "fd": r"-\w*[xX]|--exec.*",
    "fdfind": r"-\w*[xX]|--exec.*",
    # `-execdir` runs commands where nobody knows what a name stands for.
    "find": r"-delete|-execdir|-okdir|-fprint0?|-fprintf|-fls",
    "iconv": r"-\w*o.*|--o.*",
    "rg": r"--pre(=.*)?|--hostname-bin(=.*)?",
    # `cdable_vars`: with it `cd` goes where a variable says.
    "shopt": r"c.*",
    "shuf": r"-\w*o.*|--o.*",
    "sort": r"-\w*o.*|--o.*|--co.*",
    "tree": r"-\w*o.*|--o.*",
    "wait": r"-\w*p.*",
    # Its second file is written.
    "uniq": r"[^-].*|--",
}
# They run their command as it stands, which is judged by itself.
_RUNNING = """
alias builtin command env eval exec nice nohup setsid stdbuf sudo time timeout trap xargs
"""
_WRAPPERS = frozenset(_RUNNING.split())
# Their options that change nothing of what is run; any other may.
_KNOWN = {
    "command": r"-[pvV]",
    "nice": r"-n|-n?-?\d+|--adjustment(?:=.*)?",
    "setsid": r"-[cfw]+",
    "stdbuf": r"-[ioe]\w*|--(?:input|output|error)(?:=.*)?",
    "time": r"-[pv]+|-f|--format(?:=.*)?",
    "timeout": r"-[ksv]\w*|--foreground|--preserve-status|--(?:kill-after|signal)(?:=.*)?",
    "xargs": r"-[0rtx]+|-[nPL]\d*|-[dI].*|--null|--no-run-if-empty|--max-(?:args|procs)(?:=.*)?",
}
# All options of these may: they take the environment away, or lead into another folder.
_UPROOTING = frozenset({"env", "exec", "sudo"})
_MOVING = frozenset({"cd", "pushd"})
_SHELLS = frozenset({"bash", "dash", "sh"})
_SHELL_OPTIONS = re.compile(r"-[ceufxv]+|--norc|--noprofile|--posix|[-+]o|pipefail|errexit|nounset")
# Builtins that give variables a value, and what decides which programs run or what they read.
_SETTING = """
declare export getopts local mapfile printf read readarray readonly typeset unset
"""
_SETTERS = frozenset(_SETTING.split())
_DECIDES = re.compile(
    r"PATH|CDPATH|OLDPWD|HOME|ENV|SHELLOPTS|BASHOPTS|(?:LD|DYLD|BASH|GIT|XDG)_\w+|GCONV_PATH|LOCPATH"
    r"|\w+_CONFIG\w*"
)
_DEFAULTS_TO = re.compile(r"\$\{(\w+):?=")
_FILLED_BY_LOOPS = re.compile(rf"\b(?:for|select)\s+(?:{_DECIDES.pattern})\b")
# Of a literal argument bash evaluates what looks like an index of an array.
_EVALUATING = frozenset({"[", "test", "wait", *_SETTERS})
# What is written there is run by git or a shell later.
_STARTS_THINGS = re.compile(
    r"(?:^|/)\.(?:git(?:/|config|attributes|modules)|config/)|^~|^/(?!tmp/)"
)
_DEVICES = frozenset(f"/dev/{name}" for name in ("null", "stderr", "stdout", "tty", "zero"))

# What of git only reads, by what may follow. Everything else runs hooks, editors and helpers too.
_READING = """
blame cat-file count-objects describe diff diff-tree for-each-ref grep log ls-files ls-tree
merge-base name-rev rev-list rev-parse shortlog show show-ref status whatchanged
"""
_READS = r"(?!-\w*O|--(?:ext|ou|op|textc)).*"
_GIT = {
    **dict.fromkeys(_READING.split(), _READS),
    "add": r"(?!-\w*[pie]|--(?:p|i|e)).*",
    "branch": r"-[avr]+|--(?:all|list|remotes|verbose|show-current)",
    "config --get": r".*",
    "config --list": r".*",
    "reflog": r"show|HEAD",
    "remote": r"-v|get-url|origin|upstream",
    "stash list": _READS,
    "tag": r"-l|--list|-n\d*",
}
_GIT_GLOBAL = frozenset({"--no-pager", "-P", "--no-optional-locks"})
# An address with its command, and a replacement without the flags that run or write. What stands in
# brackets has none of the signs between which a replacement can stand.
_IN_SED = r"(?:(?!{end})[^\\\n\[]|\\.|\[\^?[^\]\n/|#,:@%\\\[]+\])*"
_SED_REGEX, _SED_PART = _IN_SED.format(end="/"), _IN_SED.format(end="(?P=d)")
_SED = re.compile(
    rf"(?:[0-9$,~+!\s]|/{_SED_REGEX}/I?)*+"
    rf"(?:[pdqQ=]|s(?P<d>[/|#,:@%]){_SED_PART}(?P=d){_SED_PART}(?P=d)[gpIi0-9]*+)?+[ \t]*+"
    r"(?:[;\n]|$)"
)
# What it takes to read one grows with the square of its length.
_MAX_SED_CHARS = 2_000
_AWK_RUNS = re.compile(r"[|>@]|system|getline|include|load")


def reach_of(words: Sequence[Word], *, runs_inner: bool) -> Reach:
    """Judge one command. `runs_inner`: it runs others, all of which are judged by themselves."""
    if not words:
        return Reach.NOTHING
    name = _program(words[0])
    if name in _EVALUATING and any(SUBSTITUTIONS.search(one.fixed) for one in words):
        return Reach.ANYTHING
    if name in _WRITING and not any(_starts_things(one.text) for one in words[1:]):
        return Reach.WRITES
    if name in _HARMLESS:
        return Reach.NOTHING
    if name in _WRAPPERS:
        only = _runs_as_it_stands(name, words) if runs_inner else _only_looks(words)
    elif name in _SHELLS:
        only = runs_inner and all(_SHELL_OPTIONS.fullmatch(one.text) for one in words[1:-1])
    elif name in _BUT_OPTIONS:
        only = not _has_option(words, _BUT_OPTIONS[name])
    else:
        judge = _BY_NAME.get(name)
        only = judge is not None and judge(words)
    return Reach.NOTHING if only else Reach.ANYTHING


def reach_of_line(source: str, *, targets: Iterable[Word], written: Iterable[Word]) -> Reach:
    """Judge what a line does besides its commands: what its redirections read and write."""
    files = [one for one in written if one.text not in _DEVICES]
    reaches = (
        _FILLED_BY_LOOPS.search(source),
        evaluates_again(source),
        *(_DECIDES.fullmatch(name) for name in _DEFAULTS_TO.findall(source)),
        *(not one.is_plain or _starts_things(one.text) for one in files),
        *(_is_connection(one.text) for one in targets),
    )
    if any(reaches):
        return Reach.ANYTHING
    return Reach.WRITES if files else Reach.NOTHING


def reach_of_variables(assignments: Iterable[Assignment]) -> Reach:
    """Judge what variables decide: which programs run, and what runs besides them."""
    decides = (
        one.is_source or _DECIDES.fullmatch(one.name) or SUBSTITUTIONS.search(one.value.fixed)
        for one in assignments
    )
    return Reach.ANYTHING if any(decides) else Reach.NOTHING


def is_unsure_of_folder(
    commands: Iterable[Sequence[Word]], *, directory: Path, worktree: Path
) -> bool:
    """Whether a line runs, or moves to, where the name of a file says too little about it."""
    folders = [one for words in commands if words and words[0].text in _MOVING for one in words[1:]]
    inside = (
        text.removeprefix(str(worktree)).lstrip("/")
        if Path(text).is_relative_to(worktree)
        else text
        for text in (str(directory), *(one.text for one in folders))
    )
    return any(not one.is_plain for one in folders) or any(map(_starts_things, inside))


def _is_connection(path: str) -> bool:
    return os.path.normpath(path).startswith(("/dev/tcp", "/dev/udp"))


def _starts_things(path: str) -> bool:
    return bool(_STARTS_THINGS.search(f"{os.path.normpath(path)}/"))


def _program(word: Word) -> str:
    """Returns: the name of a program that cannot be another one by that name; else nothing."""
    if not word.is_plain:
        return ""
    folder, slash, name = word.text.rpartition("/")
    return name if not slash or os.path.normpath(folder) in _SYSTEM else ""


def _may_be_option(word: Word) -> bool:
    return not word.is_plain and (not word.fixed or word.fixed.startswith(("-", "*", "?", "[")))


def _has_option(words: Sequence[Word], options: str) -> bool:
    return any(_may_be_option(one) or re.fullmatch(options, one.text) for one in words[1:])


def _runs_as_it_stands(name: str, words: Sequence[Word]) -> bool:
    """Tell whether all options before the command are known ones, which change nothing of it."""
    if name in _UPROOTING:
        return not words[1].text.startswith("-")
    valued = options_with_value(name)
    rest = [one.text for one in words[1:]]
    while rest and rest[0].startswith("-") and rest[0] != "--":
        if not re.fullmatch(_KNOWN.get(name, ""), rest[0], re.DOTALL):
            return False
        rest = rest[2 if rest[0] in valued else 1 :]
    return True


def _only_looks(words: Sequence[Word]) -> bool:
    texts = [one.text for one in words]
    return len(texts) == 1 or texts[1] in {"-v", "-V", "-l", "--list"} or texts[0] == "alias"


def _sets_harmless(words: Sequence[Word]) -> bool:
    names = words[1:]
    if words[0].text == "printf":
        if not names or names[0].fixed != "-v":
            return not names or not (_may_be_option(names[0]) or names[0].fixed.startswith("-v"))
        names = names[:2]
    for word in names:
        name = re.split(r"\+?=", word.fixed, maxsplit=1)[0]
        # A name that is known only when it runs, or the index of an array.
        is_open = (word.expands and name == word.fixed) or "[" in name
        # A reference to another, a call for each line, a value that is arithmetic.
        is_other = word.text.startswith("-") and bool(set(word.text) & set("nCi"))
        if is_open or is_other or _DECIDES.fullmatch(name):
            return False
    return True


def _git_reads(words: Sequence[Word]) -> bool:
    rest = list(words[1:])
    while rest and rest[0].text in _GIT_GLOBAL:
        rest.pop(0)
    for count in (2, 1):
        wanted = _GIT.get(" ".join(one.text for one in rest[:count]))
        if wanted is not None and all(one.is_plain for one in rest[:count]):
            given = rest[count:]
            fit = (re.fullmatch(wanted, one.text, re.DOTALL) for one in given)
            return all(fit) and not any(map(_may_be_option, given))
    return not rest


def _sed_only_edits(words: Sequence[Word]) -> bool:
    scripts: list[Word] = []
    rest = list(words[1:])
    while rest:
        word = rest.pop(0)
        if word.text in {"-e", "--expression"} and rest:
            scripts.append(rest.pop(0))
        elif re.fullmatch(r"-[nErsuz]+|--(?:quiet|silent|regexp-extended|posix)", word.text):
            continue
        elif word.text.startswith("-") or _may_be_option(word):
            return False
        elif not scripts:
            scripts.append(word)
    return bool(scripts) and all(
        one.is_plain and len(one.text) <= _MAX_SED_CHARS and not _SED.sub("", one.text)
        for one in scripts
    )


def _awk_only_prints(words: Sequence[Word]) -> bool:
    rest = list(words[1:])
    while rest:
        word = rest.pop(0)
        if re.fullmatch(r"-[Fv].*", word.text) and word.is_plain:
            if word.text in {"-F", "-v"} and rest:
                rest.pop(0)
        elif word.text.startswith("-") or word.expands or _may_be_option(word):
            return False
        else:
            # Behind the program a word may set a variable, and none of those runs anything.
            return not _AWK_RUNS.search(word.text) and not any(map(_may_be_option, rest))
    return False


_BY_NAME: dict[str, Callable[[Sequence[Word]], bool]] = {
    "awk": _awk_only_prints,
    "gawk": _awk_only_prints,
    "git": _git_reads,
    "mawk": _awk_only_prints,
    "sed": _sed_only_edits,
    **dict.fromkeys(("[", "test"), lambda words: not test_evaluates(words)),
    **dict.fromkeys(_SETTERS, _sets_harmless),
}
