"""The processes of the installation, and what each of them holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone

from opencode_web.ops.turns import Turn, TurnFilter, address, growing, listed, to_turns
from sessions.models import ServerProcess
from sessions.processes import LIVES_S
from teams.models import User

# What has been silent for longer is not listed, unless it still holds a session.
_LISTED_S = 600
# Sessions that a row names; the rest is a number with a link.
_SHOWN = 5


@dataclass(frozen=True)
class Process:
    """`lives`: it was seen lately. `others` is how many sessions it holds beside those of `turns`.

    Units: bytes, seconds.
    """

    row: ServerProcess
    lives: bool
    seen_s: float
    turns: list[Turn] = field(default_factory=list)
    others: int = 0
    turns_url: str = ""

    @property
    def takes_work(self) -> bool:
        return self.row.kind != ServerProcess.Kind.WEB

    @property
    def state(self) -> str:
        """One of gone, draining, drained, asked, working, idle and serving."""
        if not self.lives:
            return "gone"
        if not self.takes_work:
            return "serving"
        if self.row.drain_since is not None:
            if not self.row.drain_heard:
                return "asked"
            return "draining" if self.turns else "drained"
        return "working" if self.turns else "idle"


def load_processes(user: User) -> list[Process]:
    """Those that take work first. Five queries, whatever they hold."""
    now = timezone.now()
    turns = _held(user)
    rows = ServerProcess.objects.select_related("drain_by").order_by("name")
    known = [_process(row, turns.get(row.pk, []), now) for row in rows]
    shown = [one for one in known if one.turns or one.seen_s < _LISTED_S]
    return sorted(shown, key=lambda one: (not one.takes_work, not one.lives, one.row.name))


def _held(user: User) -> dict[str, list[Turn]]:
    """Returns: the turns by the process that holds them, the oldest first."""
    grows = growing()
    sessions = list(listed(TurnFilter.RUNNING, grows))
    held: dict[str, list[Turn]] = {}
    for session, turn in zip(sessions, to_turns(user, sessions, grows), strict=True):
        held.setdefault(session.run.owner, []).append(turn)
    return held


def _process(row: ServerProcess, turns: list[Turn], now: datetime) -> Process:
    seen_s = max(0.0, (now - row.seen_at).total_seconds())
    return Process(
        row=row,
        lives=seen_s < LIVES_S,
        seen_s=seen_s,
        turns=turns[:_SHOWN],
        others=max(0, len(turns) - _SHOWN),
        turns_url=address(TurnFilter.ALL, row.pk),
    )
