"""One command of a shell line, and what permission rules are matched against for it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tools.permissions.rules import Reach, Subject
from tools.shell.words import Word

# Options of these stand before what they do, so that `git -C x push` is a `git push`: those that
# take a value of their own.
_GLOBAL_OPTIONS = {
    "cargo": "-C -Z --config",
    "docker": "-H -c -l --host --context --config --log-level",
    "gh": "-R --repo",
    "git": "-C -c --git-dir --work-tree --namespace --config-env --super-prefix",
    "helm": "-n --namespace --kube-context --kubeconfig",
    "kubectl": "-n -s --namespace --context --kubeconfig --server --cluster --user",
    "make": "-C -f -I -o -W",
    "npm": "-C --prefix",
    "pip": "--cache-dir --python --proxy",
    "pnpm": "-C --dir",
    "podman": "--url --connection --log-level",
    "systemctl": "-H -M -n -o -p -s -t --host --machine",
    "yarn": "--cwd",
}


@dataclass(frozen=True)
class Command:
    """A command without its assignments and redirections. `source` is what is asked for."""

    source: str
    words: tuple[Word, ...]
    # What it reads from where the line says so itself: a here-document or here-string.
    stdin: str | None = None
    # Whether the line changes into another folder by it and does nothing else.
    only_moves: bool = False
    # It only may be one: nobody can tell where it begins.
    is_guess: bool = False
    reach: Reach = Reach.NOTHING

    @property
    def name(self) -> Word | None:
        return self.words[0] if self.words else None


def subjects_of(command: Command) -> Iterator[Subject]:
    """Yield what has to be allowed for a command, in every way in which it can be spelled."""
    if not command.words:
        yield Subject(command.source, reach=command.reach)
        return
    spellings = [command.words, *_other_words(command.words)]
    texts = dict.fromkeys(_joined(words) for words in spellings)
    others = tuple(text for text in texts if text and text != command.source)
    if not command.words[0].is_plain:
        yield Subject(command.source, others, unsure_from="", reach=command.reach)
        return
    starts = dict.fromkeys(_known_start(words) for words in spellings)
    for start in starts:
        yield Subject(command.source, others, unsure_from=start, reach=command.reach)


def _other_words(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """The same command by the name of its program alone, and without its global options."""
    name = words[0]
    if not name.is_plain:
        return
    base = name.text.rpartition("/")[2]
    if base != name.text:
        words = [Word(base, base, base), *words[1:]]
        yield words
    valued = _GLOBAL_OPTIONS.get(base)
    if valued is None:
        return
    index = 1
    while index < len(words) and words[index].text.startswith("-"):
        index += 2 if words[index].text in valued.split() else 1
    if index > 1:
        yield [words[0], *words[index:]]


def _joined(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words).strip()


def _known_start(words: Sequence[Word]) -> str | None:
    """Returns: the text up to what only bash knows; None where it is known as a whole."""
    known: list[str] = []
    for word in words:
        if word.expands:
            return " ".join([*known, word.fixed])
        known.append(word.text)
    return None
