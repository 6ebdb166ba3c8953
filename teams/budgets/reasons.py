"""Why a call of a model is not made now: which budget is at its end, and who can raise it."""

from __future__ import annotations

import re

from django.utils.translation import gettext_noop

from opencode_web.lib.reasons import Reason
from teams.models import Budget, Period

_NAME = re.compile(r"\{(\w+)\}")


class BudgetReason(Reason):
    """Why a call of a model is not made now."""

    HELD = (
        "budget_held",
        gettext_noop(
            "Other answers that are under way may need the rest of the budget, {limit} for this "
            "month. This goes on by itself when they have ended and enough is left."
        ),
    )
    TEAM_SHORT = (
        "team_budget_short",
        gettext_noop(
            "What is left of the team's budget is not enough for the next answer: {spent} of "
            "{limit} are spent this month. An admin can raise it; the next month begins on "
            "{day}."
        ),
    )
    MEMBER_SHORT = (
        "member_budget_short",
        gettext_noop(
            "What is left of the member's budget is not enough for the next answer: {spent} of "
            "{limit} are spent this month. An admin can raise it; the next month begins on "
            "{day}."
        ),
    )
    OWN_REACHED = (
        "own_budget_reached",
        gettext_noop(
            "Your budget is reached: {spent} of {limit} are spent this month. An admin can "
            "raise it; the next month begins on {day}."
        ),
    )
    TEAM_REACHED = (
        "team_budget_reached",
        gettext_noop(
            "Team budget reached: {spent} of {limit} are spent this month. An admin can raise "
            "it; the next month begins on {day}."
        ),
    )
    MEMBER_REACHED = (
        "member_budget_reached",
        gettext_noop(
            "The member's budget is reached: {spent} of {limit} are spent this month. An admin "
            "can raise it; the next month begins on {day}."
        ),
    )
    # Of a period that may be a day, a week or a month.
    PERIOD_HELD = (
        "period_budget_held",
        gettext_noop(
            "Other responses in progress may need the rest of a budget of {limit}. This continues "
            "automatically when they have ended and enough is left."
        ),
    )
    PERIOD_TEAM_SHORT = (
        "period_team_budget_short",
        gettext_noop(
            "The rest of the team's budget is not enough for the next response: {spent} of {limit} "
            "spent since {since}. An admin can raise it; it resets on {day}."
        ),
    )
    PERIOD_MEMBER_SHORT = (
        "period_member_budget_short",
        gettext_noop(
            "The rest of the member's budget is not enough for the next response: {spent} of "
            "{limit} spent since {since}. An admin can raise it; it resets on {day}."
        ),
    )
    PERIOD_OWN_REACHED = (
        "period_own_budget_reached",
        gettext_noop(
            "Your budget is reached: {spent} of {limit} spent since {since}. An admin can raise "
            "it; it resets on {day}."
        ),
    )
    PERIOD_TEAM_REACHED = (
        "period_team_budget_reached",
        gettext_noop(
            "Team budget reached: {spent} of {limit} spent since {since}. An admin can raise it; "
            "it resets on {day}."
        ),
    )
    PERIOD_MEMBER_REACHED = (
        "period_member_budget_reached",
        gettext_noop(
            "The member's budget is reached: {spent} of {limit} spent since {since}. An admin can "
            "raise it; it resets on {day}."
        ),
    )
    PROJECT_SHORT = (
        "project_budget_short",
        gettext_noop(
            "The rest of the project's budget is not enough for the next response: {spent} of "
            "{limit} spent since {since}. An admin can raise it; it resets on {day}."
        ),
    )
    PROJECT_REACHED = (
        "project_budget_reached",
        gettext_noop(
            "Project budget reached: {spent} of {limit} spent since {since}. An admin can raise "
            "it; it resets on {day}."
        ),
    )
    MODEL_SHORT = (
        "model_budget_short",
        gettext_noop(
            "The rest of the team's budget for {model} is not enough for the next response: "
            "{spent} of {limit} spent since {since}. An admin can raise it; it resets on {day}. "
            "Other models may still be used."
        ),
    )
    MODEL_REACHED = (
        "model_budget_reached",
        gettext_noop(
            "The team's budget for {model} is reached: {spent} of {limit} spent since {since}. An "
            "admin can raise it; it resets on {day}. Other models may still be used."
        ),
    )
    # What all teams together spend is nothing that the members of one may know.
    INSTANCE_SHORT = (
        "instance_budget_short",
        gettext_noop(
            "The rest of this server's budget is not enough for the next response. An operator can "
            "raise it; it resets on {day}."
        ),
    )
    INSTANCE_REACHED = (
        "instance_budget_reached",
        gettext_noop(
            "This server's budget is reached. An operator can raise it; it resets on {day}."
        ),
    )

    INSTANCE_HELD = (
        "instance_budget_held",
        gettext_noop(
            "Other responses in progress may need the rest of this server's budget. This continues "
            "automatically when they have ended and enough is left."
        ),
    )

    @property
    def names(self) -> list[str]:
        """The values that the sentence has."""
        return list(dict.fromkeys(_NAME.findall(self.sentence)))

    @classmethod
    def of(
        cls,
        scope: Budget.Scope,
        period: Period,
        *,
        is_held: bool,
        is_reached: bool,
        is_own: bool,
    ) -> BudgetReason:
        """Returns: the reason in the words for whose budget it is and for how long it counts."""
        if is_held:
            name = "INSTANCE_HELD" if scope == Budget.Scope.INSTANCE else "HELD"
        elif is_own and is_reached and scope == Budget.Scope.MEMBER:
            name = "OWN_REACHED"
        else:
            name = f"{scope.name}_{'REACHED' if is_reached else 'SHORT'}"
        has_periods = scope in (Budget.Scope.TEAM, Budget.Scope.MEMBER) or name == "HELD"
        return cls[f"PERIOD_{name}" if has_periods and period != Period.MONTH else name]
