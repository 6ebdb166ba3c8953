"""The limits that end a turn whatever the rules allow: its steps, and equal tool calls."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal

from django.db.models import Max

from opencode_web.lib.json import JsonObject
from opencode_web.lib.reasons import Cause
from sessions.config.effective import project_limits
from sessions.config.model import DEFAULT_EQUAL_CALLS, DEFAULT_TURN_STEPS
from sessions.events.parts import ToolPart
from sessions.events.reasons import TurnReason
from sessions.models import Message, Part, Session, SessionInput
from sessions.runner.calls.repairs import called_name
from sessions.tree import tree_of
from teams.models import UsageEntry


def reached_steps(session: Session) -> Cause | None:
    """Returns: why a turn may take no further step, or None."""
    limit = project_limits(session.project).turn_steps or DEFAULT_TURN_STEPS
    if session.turn_steps < limit:
        return None
    return Cause(TurnReason.STEP_LIMIT, {"limit": limit})


def reached_cost(session: Session) -> Cause | None:
    """Returns: why a turn may call no further model, or None. No query without a limit.

    A turn begins with the newest message of a person at the top of the tree, and all sub-agents
    belong to it.
    """
    limit = project_limits(session.project).turn_cost
    if limit is None:
        return None
    asked = Message.objects.filter(session=session.top_id, role="user").order_by("-seq").first()
    if asked is None:
        return None
    since = datetime.fromtimestamp(asked.data["time"]["created"] / 1000, UTC)
    used = UsageEntry.objects.filter(session__in=tree_of(session).values("pk"), time__gte=since)
    # Added up here: SQLite would do it in floating point.
    spent = sum(used.values_list("cost", flat=True), Decimal(0))
    return Cause(TurnReason.TURN_COST, {"spent": spent, "limit": limit}) if spent >= limit else None


def reached_equal_calls(session: Session, calls: list[ToolPart]) -> Cause | None:
    """Returns: why calls of the newest answer may not be run, or None. The log counts them."""
    if not calls:
        return None
    limit = project_limits(session.project).equal_calls or DEFAULT_EQUAL_CALLS
    promoted = session.inputs.filter(status=SessionInput.Status.PROMOTED)
    since = promoted.aggregate(seq=Max("promoted_seq"))["seq"] or 0
    tools = {part.tool for part in calls}
    made = Part.objects.filter(session=session, type="tool", seq__gt=since, data__tool__in=tools)
    equal = Counter(_key(*call) for call in made.values_list("data__tool", "data__state__input"))
    for part in calls:
        if equal[_key(part.tool, part.state.input)] > limit:
            return Cause(TurnReason.EQUAL_CALLS, {"limit": limit, "tool": called_name(part)})
    return None


def _key(tool: str, given: JsonObject) -> str:
    return json.dumps([tool, given], sort_keys=True)
