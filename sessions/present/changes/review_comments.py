"""The comments of a person that wait to be sent, in their diffs and in a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from opencode_web.lib.diff_html import DiffLine, Gap, PlainLine, plain_lines, to_pairs
from opencode_web.lib.hunks import HunkRange
from opencode_web.lib.ids import new_id
from sessions.models import ReviewComment, Session, State
from sessions.present.changes.hunks import HunkHead, HunkPlace
from sessions.present.place import Place
from teams.models import User


@dataclass(frozen=True)
class Comment:
    """`is_outdated`: other lines are there now than those that it quotes."""

    id: int
    path: str
    side: str
    first: int
    last: int
    code: str
    body: str
    edit_url: str
    remove_url: str
    is_outdated: bool = False


@dataclass(frozen=True)
class GapLinks:
    """Addresses of the same part of the table with more of its lines. Empty: not to be had.

    `url` is where all of them are, `href` a page of its own.
    """

    text: str
    url: str
    href: str
    down_url: str = ""
    up_url: str = ""


@dataclass(frozen=True)
class Row:
    """A row of a diff, in one column or in two, with what was said about it.

    `links`: in place of lines that are left out. `head`: above the first line of a hunk.
    """

    line: DiffLine | None
    old: DiffLine | None = None
    new: DiffLine | None = None
    comments: list[Comment] = field(default_factory=list)
    links: GapLinks | None = None
    head: HunkHead | None = None

    @property
    def hunk(self) -> HunkRange | None:
        """That it is the first row of."""
        sides = (self.line, self.old, self.new)
        return next((side.hunk for side in sides if side and side.hunk), None)

    @property
    def gap(self) -> Gap | None:
        shown = self.line or self.old
        return shown.gap if shown else None

    @property
    def is_skip(self) -> bool:
        shown = self.line or self.old
        return shown is not None and shown.kind == "skip"


@dataclass(frozen=True)
class Comments:
    """All of a person's in a session. `key` makes a second click on Send harmless."""

    comments: list[Comment]
    add_url: str
    send_url: str
    is_running: bool
    key: str


def load_comments(session: Session, user: User) -> list[ReviewComment]:
    """In the order in which they are sent."""
    mine = session.review_comments.filter(author=user)
    return list(mine.order_by("path", "first", "pk"))


def build_comments(session: Session, rows: Iterable[ReviewComment]) -> Comments:
    place = Place.of(session)
    return Comments(
        [build_comment(row, place) for row in rows],
        add_url=place.url("review_comment"),
        send_url=place.url("review_send"),
        is_running=session.state != State.IDLE,
        key=new_id("msg"),
    )


def build_comment(row: ReviewComment, place: Place, *, is_outdated: bool = False) -> Comment:
    return Comment(
        id=row.pk,
        path=row.path,
        side=row.side,
        first=row.first,
        last=row.last,
        code=row.code,
        body=row.body,
        edit_url=place.url("review_comment_edit", comment=str(row.pk)),
        remove_url=place.url("review_comment_remove", comment=str(row.pk)),
        is_outdated=is_outdated,
    )


def quote(patches: Iterable[str], side: str, first: int, last: int) -> str:
    """Returns: these lines of one side as the patches show them, each with a line end; empty when
    one of them is not shown."""
    texts: dict[int, str] = {}
    for patch in patches:
        for line in plain_lines(patch):
            number = _number(line, side)
            if number is not None and first <= number <= last:
                texts[number] = line.text
    if not first <= last or len(texts) < last - first + 1:
        return ""
    return "".join(f"{texts[number]}\n" for number in range(first, last + 1))


def _number(line: PlainLine, side: str) -> int | None:
    return line.old if side == ReviewComment.Side.OLD else line.new


def place_comments(
    rows: Iterable[ReviewComment], patches: Sequence[str], place: Place, *, source: str
) -> list[Comment]:
    """Those that belong into a diff: all of its source, and of others what quotes its lines."""
    found = []
    for row in rows:
        fits = quote(patches, row.side, row.first, row.last) == row.code
        if fits or row.source == source:
            found.append(build_comment(row, place, is_outdated=not fits))
    return found


def rows_of(lines: Sequence[DiffLine], comments: Iterable[Comment], *, split: bool) -> list[Row]:
    """The rows of a table; each comment is at the last line that it is about."""
    waiting = [comment for comment in comments if not comment.is_outdated]
    rows = []
    pairs = to_pairs(lines) if split else [(line, line) for line in lines]
    for old, new in pairs:
        here = [one for one in waiting if _is_at(one, old if one.side == "old" else new)]
        waiting = [one for one in waiting if one not in here]
        rows.append(Row(None, old, new, here) if split else Row(old, comments=here))
    return rows


def with_heads(rows: Iterable[Row], place: HunkPlace) -> list[Row]:
    """The same rows, with what stands above each hunk."""
    number, shown = 0, []
    for row in rows:
        number += row.hunk is not None
        shown.append(replace(row, head=place.head(row.hunk, number)) if row.hunk else row)
    return shown


def _is_at(comment: Comment, line: DiffLine | None) -> bool:
    if line is None or line.kind == "skip":
        return False
    return (line.old if comment.side == ReviewComment.Side.OLD else line.new) == comment.last
