"""What has changed, from the log of a session or from what git says, in one shape."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import models
from django.db.models import QuerySet, Subquery
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.diff_html import plain_lines
from opencode_web.lib.hunks import HunkRange, ranges_of
from opencode_web.lib.json import JsonObject, number_of, object_of, text_of
from sessions.browse.review import Review, ReviewDiff
from sessions.changes.turn_diffs import (
    Counts,
    counts_now,
    first_name,
    follow_files,
    newest_diffs,
    prompts_with_changes,
    rest_of,
)
from sessions.models import Message, Session
from sessions.present.stored_text import stored_text

_MAX_TURNS = 200
NO_COUNTS = Counts()


class Source(models.TextChoices):
    """Where changes are looked for."""

    SESSION = "session", _("Session")
    TURN = "turn", _("Last turn")
    UNCOMMITTED = "uncommitted", _("Uncommitted")
    COMMIT = "commit", _("Last commit")
    BRANCH = "branch", _("Branch")

    @property
    def git_mode(self) -> str:
        """How git is asked; empty for what the log knows."""
        modes = {Source.UNCOMMITTED: "git", Source.COMMIT: "commit", Source.BRANCH: "branch"}
        return modes.get(self, "")

    @property
    def is_kept(self) -> bool:
        """Whether its files may have gone on since."""
        return self not in (Source.UNCOMMITTED, Source.BRANCH)


@dataclass(frozen=True)
class Asked:
    """What the address of the pane names; `turn` is the prompt of a turn that is no source."""

    source: Source = Source.SESSION
    turn: str = ""
    filter: str = ""
    start: int = 0
    file: str = ""

    @property
    def names(self) -> dict[str, str]:
        """The same as the names and values of an address."""
        return {"turn": self.turn} if self.turn else {"source": str(self.source.value)}

    @property
    def git_mode(self) -> str:
        """How git is asked; empty for what the log knows."""
        return "" if self.turn else self.source.git_mode

    @property
    def label(self) -> str:
        """What comments on its lines are kept with."""
        return self.turn or str(self.source.value)


@dataclass(frozen=True)
class ChangeEntry:
    """A changed file. `patches` in the order of the turns, as far as the log has them; one of git.

    `stamp` changes with what there is to show. `digest` tells what was looked at; git has it only
    for the files that it was wanted for. `turn` is the prompt before which a file can be put back,
    `old` the name that the file had then.
    """

    path: str
    status: str
    added: int
    removed: int
    stamp: str
    old: str = ""
    digest: str = ""
    binary: bool = False
    # There are no lines of it: it is too large.
    large: bool = False
    turn: str = ""
    patches: tuple[str, ...] = ()
    # Where the last commit differs from what is staged, and that from the file.
    staged: tuple[HunkRange, ...] = ()
    unstaged: tuple[HunkRange, ...] = ()


@dataclass(frozen=True)
class Found:
    """The changed files by path; `notes` are sentences about what no diff shows."""

    entries: list[ChangeEntry]
    notes: list[str]
    # As `review.list` says it.
    state: str = "ok"
    # Of files that are not listed.
    rest: Counts = NO_COUNTS
    # How many files have something staged, and the commit that is looked at.
    staged: int = 0
    commit: str = ""


@dataclass(frozen=True)
class Changed:
    """How many files the session has changed; `mark` is another when changes are others."""

    count: int
    mark: str

    @classmethod
    def of(cls, session: Session) -> Changed:
        diffs = newest_diffs(session)
        known = json.dumps([diffs, session.summary, session.file_reverts, session.hidden_from])
        digest = hashlib.sha256(known.encode()).hexdigest()
        return cls(counts_now(session).files, digest[:16])


def changing_prompts(session: Session, *, turn: str = "", whole: bool = False) -> QuerySet[Message]:
    """The prompts of the turns that `entries_of_log` tells of, the newest first."""
    prompts = prompts_with_changes(session)
    if turn:
        prompts = prompts.filter(pk=turn)
    return prompts.order_by("-seq")[: _MAX_TURNS if whole or turn else 1]


def turns_after(session: Session, prompt: str) -> int:
    """How many turns are newer than that of the prompt. A compaction is none."""
    prompts = Message.objects.visible(session).filter(role="user")
    seq = prompts.filter(pk=prompt).values("seq")[:1]
    return prompts.filter(seq__gt=Subquery(seq)).exclude(parts__type="compaction").count()


def entries_of_log(session: Session, *, turn: str = "", whole: bool = False) -> Found:
    """Of the newest turn that has changed something, of the turn `turn`, or of all turns."""
    rows = changing_prompts(session, turn=turn, whole=whole).values_list("pk", "data")
    found = list(rows)[::-1]
    summaries = [object_of(data, "summary") for _, data in found]
    notes = [stored_text(object_of(one, "cause"), text_of(one, "body")) for one in summaries]
    return Found(
        [_of_log(path, own) for path, own in sorted(follow_files(found).items())],
        list(dict.fromkeys(note for note in notes if note)),
        rest=sum((rest_of(data) for _, data in found), Counts()),
    )


def _of_log(path: str, own: list[tuple[str, JsonObject]]) -> ChangeEntry:
    patches = tuple(text_of(diff, "patch") for _, diff in own)
    added, removed = (
        sum(number_of(diff, key) or 0 for _, diff in own) for key in ("additions", "deletions")
    )
    digest = hashlib.sha256("\0".join(patches).encode("utf-8", "replace")).hexdigest()
    first = first_name(own)
    status = text_of(own[-1][1], "status")
    if status != "deleted" and first != path:
        status = "added" if text_of(own[0][1], "status") == "added" else "renamed"
    elif status == "renamed":
        # Back to its first name.
        status = "modified"
    return ChangeEntry(
        path=path,
        old=first if first != path else "",
        status=status,
        added=added,
        removed=removed,
        stamp=digest[:16],
        digest=digest,
        # One that is too large to be kept has no patch either.
        binary=not any(patches) and not added + removed,
        large=not any(patches) and bool(added + removed),
        turn=own[0][0],
        patches=patches,
    )


def entries_of_git(wire: Review) -> Found:
    entries = [
        ChangeEntry(
            path=row["file"],
            status=row["status"],
            added=row["additions"],
            removed=row["deletions"],
            stamp=row["stamp"],
            old=row["old"],
            digest=row["digest"],
            binary=row["binary"],
            large=row["large"],
        )
        for row in wire["files"]
    ]
    rest = Counts(wire["more"])
    return Found(entries, [], wire["state"], rest, wire["staged"], wire["commit"])


def entry_of_git(path: str, wire: ReviewDiff) -> ChangeEntry:
    patch = wire["patch"]
    lines = list(plain_lines(patch))
    return ChangeEntry(
        path=path,
        status=wire["status"],
        added=sum(line.old is None for line in lines),
        removed=sum(line.new is None for line in lines),
        stamp=wire["stamp"],
        old=wire["old"],
        digest=wire["digest"],
        binary=wire["binary"],
        large=wire["large"],
        patches=(patch,),
        staged=tuple(ranges_of(wire["staged"])),
        unstaged=tuple(ranges_of(wire["unstaged"])),
    )


def matching(entries: Iterable[ChangeEntry], wanted: str) -> list[ChangeEntry]:
    """Those with these letters in their path, or the one they had, whatever the case."""
    low = wanted.lower()
    return [one for one in entries if low in one.path.lower() or low in one.old.lower()]
