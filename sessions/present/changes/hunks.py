"""What stands above the lines of a hunk: which they are, and what can be done with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass

from django.utils.translation import gettext as _

from opencode_web.lib.hunks import HunkRange, overlap


@dataclass(frozen=True)
class HunkHead:
    """`names` are what its forms send. Without addresses it can only be commented on.

    `is_staged`: all of it is; `is_partly_staged`: some, so the rest can be, too.
    `has_hidden`: changes of whitespace in its lines are not shown, and go with it.
    """

    id: str
    text: str
    names: dict[str, str]
    stage_url: str = ""
    revert_url: str = ""
    is_staged: bool = False
    is_partly_staged: bool = False
    has_hidden: bool = False


@dataclass(frozen=True)
class HunkPlace:
    """What the hunks of a file have in common; `id` is the file's.

    `staged` are in the lines of the last commit, `unstaged` in those of the file.
    """

    id: str
    names: dict[str, str]
    stage_url: str = ""
    revert_url: str = ""
    has_hidden: bool = False
    staged: Sequence[HunkRange] = ()
    unstaged: Sequence[HunkRange] = ()

    def head(self, hunk: HunkRange, number: int) -> HunkHead:
        has_staged = any(overlap(one.old_span, hunk.old_span) for one in self.staged)
        has_rest = any(overlap(one.new_span, hunk.new_span) for one in self.unstaged)
        return HunkHead(
            id=f"{self.id}-{number}",
            text=_text(hunk),
            names={**self.names, "hunk": ",".join(map(str, astuple(hunk)))},
            stage_url=self.stage_url,
            revert_url=self.revert_url,
            has_hidden=self.has_hidden,
            is_staged=has_staged and not has_rest,
            is_partly_staged=has_staged and has_rest,
        )


def _text(hunk: HunkRange) -> str:
    start, count = (hunk.new, hunk.new_count) if hunk.new_count else (hunk.old, hunk.old_count)
    if count < 2:
        return _("Line %(line)s") % {"line": start}
    return _("Lines %(first)s to %(last)s") % {"first": start, "last": start + count - 1}
