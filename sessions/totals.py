"""What sessions used, and their sub-agents."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from opencode_web.lib.json import JsonObject
from sessions.models import Session
from sessions.tree import sessions_below


@dataclass(frozen=True)
class Used:
    """Units: USD, exact; tokens of every kind together."""

    cost: Decimal = Decimal(0)
    tokens: int = 0


def used_below(session: Session) -> Used:
    """What the sub-agents of a session used, and theirs."""
    below = sessions_below(session)
    cost = sum((row.cost for row in below), Decimal(0))
    return Used(cost, sum(count_tokens(row.tokens) for row in below))


def count_tokens(tokens: JsonObject) -> int:
    """Everything in a session's `tokens`, cached or not."""
    cache = tokens.get("cache")
    counts = {**tokens, **(cache if isinstance(cache, dict) else {})}
    kinds = ("input", "output", "reasoning", "read", "write")
    return sum(value for kind in kinds if isinstance(value := counts.get(kind), int))
