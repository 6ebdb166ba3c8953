"""Settings that loosen what a second person has to approve, as a change of their own."""

from __future__ import annotations

import json
from collections.abc import Callable

from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict
from opencode_web.lib.json import JsonObject, JsonValue
from sessions.actions.held_budgets import is_looser, said
from sessions.actions.held_prices import lower_prices
from sessions.approvals.hold import Change, hold_for_approval, is_held
from sessions.config.model import Limits
from sessions.config.rule_levels import RULE_KEYS
from sessions.models import ChangeKind, Project
from sessions.rules.sources import only_rules
from teams.access import TeamAccess
from teams.models import Role

# What lets people spend more, and how a request calls it.
_LIMITS = {"session_cost": "session", "turn_cost": "turn", "models": "models"}


def hold_settings(
    access: TeamAccess, before: JsonObject, after: JsonObject, *, project: Project | None = None
) -> None:
    """Hold other permission rules, and what lets people spend more, for an approval.

    Raises: NeedsApproval; Conflict where other settings would have to wait with them.
    """
    where = "project" if project else "team"
    state: JsonObject = {"of": project.pk if project else access.team.pk}
    if is_held(access.team, ChangeKind.RULES):
        old, new = _rules_of(before), _rules_of(after)
        if _in_order(old) != _in_order(new):
            _require_alone(before, after, _without_rules)
            # What is stored as text keeps the order of the rules, which counts.
            told: JsonObject = {"before": _in_order(old), "after": _in_order(new)}
            change = Change(
                kind=ChangeKind.RULES,
                what=f"rules.{where}",
                need=Role.ADMIN,
                arguments={"rules": new},
                told=told,
                state={**state, "rules": _in_order(old)},
                project=project,
            )
            hold_for_approval(access, change)
    if is_held(access.team, ChangeKind.BUDGETS):
        least, most = (Limits.model_validate(one.get("limits") or {}) for one in (before, after))
        if _is_looser(least, most):
            _require_alone(before, after, _without_limits)
            limits, wanted = _said(least), _said(most)
            changed = [one for one in _LIMITS if limits[one] != wanted[one]]
            change = Change(
                kind=ChangeKind.BUDGETS,
                what=f"limits.{where}",
                need=Role.ADMIN,
                arguments={"limits": wanted},
                told={
                    "changes": [
                        {"scope": _LIMITS[one], "before": limits[one], "after": wanted[one]}
                        for one in changed
                    ]
                },
                state={**state, "limits": limits},
                project=project,
            )
            hold_for_approval(access, change)
        if (lower := lower_prices(access, before, after, project=project)) is not None:
            _require_alone(before, after, _without_providers)
            hold_for_approval(access, lower)


def _is_looser(least: Limits, most: Limits) -> bool:
    listed = least.models is not None and not (
        most.models is not None and {*most.models} <= {*least.models}
    )
    costs = [(one.session_cost, one.turn_cost) for one in (least, most)]
    return listed or any(is_looser(*pair) for pair in zip(*costs, strict=True))


def _said(limits: Limits) -> JsonObject:
    """Returns: as a merge patch."""
    models: list[JsonValue] | None = None if limits.models is None else [*limits.models]
    costs = {"session_cost": said(limits.session_cost), "turn_cost": said(limits.turn_cost)}
    return {**costs, "models": models}


def _rules_of(config: JsonObject) -> JsonObject:
    try:
        return only_rules(config)
    except ValueError:
        # What is no rule counts for none; what replaces it is checked.
        return {}


def with_rules(config: JsonObject, rules: JsonObject) -> JsonObject:
    """Returns: the settings with these rules in place of their own."""
    rest = _without_rules(config)
    merged = {**rest, **rules}
    kept, named = rest.get("agent"), rules.get("agent")
    if isinstance(kept, dict) and isinstance(named, dict):
        merged["agent"] = {
            name: {**_object(kept.get(name)), **_object(named.get(name))}
            for name in dict.fromkeys([*kept, *named])
        }
    return merged


def _without_rules(config: JsonObject) -> JsonObject:
    rest: JsonObject = {key: value for key, value in config.items() if key not in RULE_KEYS}
    agents = rest.pop("agent", None)
    if isinstance(agents, dict):
        named: JsonObject = {
            name: {key: value for key, value in _object(own).items() if key not in RULE_KEYS}
            for name, own in agents.items()
        }
        # An agent that has nothing but rules is named for them only.
        named = {name: own for name, own in named.items() if own}
        if named:
            rest["agent"] = named
    return rest


def _without_limits(config: JsonObject) -> JsonObject:
    given = _object(config.get("limits"))
    limits: JsonObject = {key: value for key, value in given.items() if key not in _LIMITS}
    rest: JsonObject = {key: value for key, value in config.items() if key != "limits"}
    return {**rest, "limits": limits} if limits else rest


def _without_providers(config: JsonObject) -> JsonObject:
    return {key: value for key, value in config.items() if key != "provider"}


def _require_alone(
    before: JsonObject, after: JsonObject, rest_of: Callable[[JsonObject], JsonObject]
) -> None:
    if rest_of(before) != rest_of(after):
        raise Conflict(
            _(
                "A second person must approve changes of permission rules, higher limits and lower "
                "prices. Save them separately from other settings."
            )
        )


def _in_order(rules: JsonObject) -> str:
    # The order counts and is not compared otherwise.
    return json.dumps(rules, indent=2)


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}
