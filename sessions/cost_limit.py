"""What a session and its sub-agents may cost before somebody has to agree. Reads only.

The limit is `limits.session_cost` of the settings. Whoever allows more allows the same amount once
more, for the whole tree; two answers to the same overrun count once.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from opencode_web.lib.json import JsonObject
from sessions.config import project_limits
from sessions.models import PermissionRequest, Session

PERMISSION = "budget"


@dataclass(frozen=True)
class Overrun:
    """Units: USD. `amount` is what an answer adds to `limit`."""

    spent: Decimal
    limit: Decimal
    amount: Decimal

    def to_json(self) -> JsonObject:
        """Returns: the amounts as exact strings."""
        return {"spent": str(self.spent), "limit": str(self.limit), "amount": str(self.amount)}


def tree_of(session: Session) -> list[str]:
    """Returns: the ids of the session's root and of everything below it."""
    root, parent = session.pk, session.parent_id
    while parent is not None:
        root = parent
        parent = Session.objects.values_list("parent_id", flat=True).get(pk=root)
    found = level = [root]
    while level:
        level = list(Session.objects.filter(parent__in=level).values_list("pk", flat=True))
        found = [*found, *level]
    return found


def find_overrun(session: Session) -> Overrun | None:
    """Returns: None while the tree of the session may go on. No query where no limit is set."""
    amount = project_limits(session.project).session_cost
    if amount is None:
        return None
    tree = tree_of(session)
    # Added up here: SQLite would do it in floating point.
    spent = sum(Session.objects.filter(pk__in=tree).values_list("cost", flat=True), Decimal(0))
    allowed = PermissionRequest.objects.filter(
        session__in=tree, permission=PERMISSION, status=PermissionRequest.Status.ONCE
    ).values_list("metadata", flat=True)
    limits = (Decimal(one["limit"]) + Decimal(one["amount"]) for one in allowed)
    limit = max([amount, *limits])
    return Overrun(spent, limit, amount) if spent >= limit else None
