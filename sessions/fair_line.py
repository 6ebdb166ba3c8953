"""The order in which sessions get turns: fair between teams, and between the people of each. Pure.

Whoever has the fewest turns running goes next: first among the teams, then among the people of that
team. Of equals it is whoever was served longest ago, so with a single place they alternate. The
sessions of one person go in the order in which they came. A team that is at its limit is passed
over until one of its turns ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from heapq import heapify, heappop, heappush


@dataclass(frozen=True, slots=True)
class Waiting:
    """A session that has something to do. `settles`: it only has to end, so it goes before all."""

    id: str
    team: str
    person: int | None
    since: datetime
    settles: bool = False


@dataclass(frozen=True, slots=True)
class Served:
    """What one person has in a team: turns that run, and when the newest of all turns began."""

    team: str
    person: int | None
    running: int
    at: datetime | None


@dataclass(frozen=True, slots=True)
class FairLine:
    """`ready` in the order in which workers take them; `held` go once a turn of their team ends."""

    ready: list[Waiting]
    held: list[Waiting]


@dataclass(slots=True)
class _Group:
    """A team, or one of its people: what it has, and what waits in the order in which it goes."""

    id: str
    running: int = 0
    served: float = 0.0
    limit: int | None = None
    people: dict[int | None, _Group] = field(default_factory=dict)
    # Of a person: sessions. Of a team: its people, a heap.
    sessions: deque[Waiting] = field(default_factory=deque)
    heap: list[_Group] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        return self.limit is not None and self.running >= self.limit

    @property
    def next(self) -> Waiting:
        return self.heap[0].next if self.heap else self.sessions[0]

    def __lt__(self, other: _Group) -> bool:
        return self._rank() < other._rank()

    def _rank(self) -> tuple[int, float, datetime, str]:
        return self.running, self.served, self.next.since, self.id

    def take(self, moment: float) -> Waiting:
        """Returns: what goes next. The group's own place in a heap is no longer right then."""
        if self.heap:
            person = heappop(self.heap)
            taken = person.take(moment)
            if person.sessions:
                heappush(self.heap, person)
        else:
            taken = self.sessions.popleft()
        self.running, self.served = self.running + 1, moment
        return taken


def fair_line(
    waiting: Iterable[Waiting], served: Iterable[Served], limits: Mapping[str, int | None]
) -> FairLine:
    """`limits`: by team, how many turns may run at once; None for any number."""
    first, teams = _grouped(waiting, served, limits)
    moment = max((team.served for team in teams), default=0.0)
    heap, full = list[_Group](), list[_Group]()
    for team in teams:
        team.heap = [person for person in team.people.values() if person.sessions]
        heapify(team.heap)
        if team.heap:
            (full if team.is_full else heap).append(team)
    ready, held = first, list[Waiting]()
    for line, respects in ((ready, True), (held, False)):
        heapify(heap)
        while heap:
            moment += 1
            team = heappop(heap)
            line.append(team.take(moment))
            if team.heap and respects and team.is_full:
                full.append(team)
            elif team.heap:
                heappush(heap, team)
        heap = full
    return FairLine(ready, held)


def _grouped(
    waiting: Iterable[Waiting], served: Iterable[Served], limits: Mapping[str, int | None]
) -> tuple[list[Waiting], Iterable[_Group]]:
    first, teams = list[Waiting](), dict[str, _Group]()

    def groups_of(team_id: str, person: int | None) -> tuple[_Group, _Group]:
        team = teams.setdefault(team_id, _Group(team_id, limit=limits.get(team_id)))
        return team, team.people.setdefault(person, _Group(str(person)))

    for row in served:
        at = row.at.timestamp() if row.at else 0.0
        for group in groups_of(row.team, row.person):
            group.running, group.served = group.running + row.running, max(group.served, at)
    for one in sorted(waiting, key=lambda one: (one.since, one.id)):
        if one.settles:
            first.append(one)
        else:
            groups_of(one.team, one.person)[1].sessions.append(one)
    return first, teams.values()
