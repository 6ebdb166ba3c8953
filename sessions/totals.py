"""What sessions used, over their sub-agents' sessions too."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from opencode_web.lib.json import JsonObject
from sessions.models import Session


@dataclass(frozen=True)
class Used:
    """Units: USD, exact; tokens of every kind together."""

    cost: Decimal = Decimal(0)
    tokens: int = 0


def used_below(session: Session) -> Used:
    """What the sub-agents of a session used, and theirs. One query for each level of them."""
    cost, tokens = Decimal(0), 0
    level = [session.pk]
    while level:
        rows = Session.objects.filter(parent__in=level).values_list("pk", "cost", "tokens")
        level = []
        for pk, own_cost, own_tokens in rows:
            cost += own_cost
            tokens += count_tokens(own_tokens)
            level.append(pk)
    return Used(cost, tokens)


def used_in_tree(session: Session) -> Used:
    """What a session used together with its sub-agents."""
    below = used_below(session)
    return Used(session.cost + below.cost, count_tokens(session.tokens) + below.tokens)


def count_tokens(tokens: JsonObject) -> int:
    """Everything in a session's `tokens`, cached or not."""
    cache = tokens.get("cache")
    counts = {**tokens, **(cache if isinstance(cache, dict) else {})}
    kinds = ("input", "output", "reasoning", "read", "write")
    return sum(value for kind in kinds if isinstance(value := counts.get(kind), int))
