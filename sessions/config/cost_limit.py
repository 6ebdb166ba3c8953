"""What a session and its sub-agents may cost before somebody has to agree. Reads only.

The limit is `limits.session_cost` of the settings, or a lower one of the session. Whoever allows
more allows the same amount once more, for the whole tree; two answers to the same overrun count
once.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from opencode_web.lib.instance_config import instance_config
from opencode_web.lib.json import JsonObject
from sessions.config.effective import project_limits
from sessions.config.model import Limits
from sessions.models import PermissionRequest, Session
from sessions.tree import tree_of
from teams.models import Role, Team

PERMISSION = "budget"


def role_to_answer(permission: str) -> Role:
    """Returns: the least role that may allow what a request asks for: more cost is for admins."""
    return Role.ADMIN if permission == PERMISSION else Role.MEMBER


@dataclass(frozen=True)
class CostLimit:
    """Units: USD. `amount` is what an answer adds to `limit`."""

    spent: Decimal
    limit: Decimal
    amount: Decimal

    def to_json(self) -> JsonObject:
        """Returns: the amounts as exact strings."""
        return {"spent": str(self.spent), "limit": str(self.limit), "amount": str(self.amount)}


def team_session_cost(team: Team) -> Decimal | None:
    """Returns: USD that a team lets each session cost; None where it sets no limit of its own."""
    return session_cost(team.config)


def server_session_cost() -> Decimal | None:
    """Returns: the same of this server, for all teams. Of both the lower counts."""
    return session_cost(instance_config())


def session_cost(config: JsonObject) -> Decimal | None:
    """Returns: USD that these settings alone let each session cost."""
    return Limits.model_validate(config.get("limits") or {}).session_cost


def load_cost_limit(session: Session) -> CostLimit | None:
    """Returns: how far the tree of the session is. None, and no query, where no limit is set."""
    limits = (project_limits(session.project).session_cost, session.cost_limit)
    amount = min((one for one in limits if one is not None), default=None)
    if amount is None:
        return None
    tree = tree_of(session)
    # Added up here: SQLite would do it in floating point.
    spent = sum(tree.values_list("cost", flat=True), Decimal(0))
    allowed = PermissionRequest.objects.filter(
        session__in=tree, permission=PERMISSION, status=PermissionRequest.Status.ONCE
    ).values_list("metadata", flat=True)
    raised = (Decimal(one["limit"]) + Decimal(one["amount"]) for one in allowed)
    return CostLimit(spent, max([amount, *raised]), amount)


def find_overrun(session: Session) -> CostLimit | None:
    """Returns: None while the tree of the session may go on. No query where no limit is set."""
    budget = load_cost_limit(session)
    return budget if budget is not None and budget.spent >= budget.limit else None
