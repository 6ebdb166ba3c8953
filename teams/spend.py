"""What the members of a team have spent. The app that counts costs is above and registers here."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Protocol

from teams.models import Team


class SpendSource(Protocol):
    """Must answer with one query, whatever the number of members."""

    def __call__(self, team: Team, *, since: datetime) -> dict[int, Decimal]:
        """Returns: id of a person -> USD, without those who spent nothing."""


_sources: list[SpendSource] = []


def register(source: SpendSource) -> SpendSource:
    """Have a source counted; a source is named once, when its app starts."""
    _sources.append(source)
    return source


def spend_of_members(team: Team, *, since: datetime) -> dict[int, Decimal]:
    """Returns: id of a person -> USD that their work since then has cost."""
    spent: dict[int, Decimal] = {}
    for source in _sources:
        for user_id, cost in source(team, since=since).items():
            spent[user_id] = spent.get(user_id, Decimal(0)) + cost
    return spent
