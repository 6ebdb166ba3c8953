"""What differs for the role billing from what an outsider gets: the rest of a team is not there."""

from __future__ import annotations

from tests.architecture.access_table import Row

_T = "t/<slug:team>/"
_FOR_BILLING = {
    # To what the team uses.
    f"get {_T}": 302,
    f"get {_T}usage": 200,
    f"get {_T}usage.csv": 200,
    f"get {_T}settings/approvals": 200,
    f"get {_T}settings/budgets": 200,
    f"post {_T}settings/budgets": 302,
    f"post {_T}settings/budgets/notices/<int:notice>/away": 302,
    f"post {_T}settings/budgets/limits": 302,
    f"post {_T}settings/budgets/limits/<int:budget>/remove": 302,
    f"post {_T}settings/budgets/requests/<str:asked>": 302,
    f"post {_T}settings/budgets/requests/<str:asked>/away": 302,
    # Pages by their names, and nothing else.
    f"get {_T}search": 200,
    "get member": 200,
    "get usage": 200,
    "get approval": 200,
    "get approval/requests": 200,
    "get budget": 200,
    "put budget": 200,
    "get budget/limits": 200,
    "put budget/limits": 200,
    "delete budget/limits/<budget_id>": 200,
    "get budget/requests": 200,
    "post budget/requests/<ask_id>": 200,
}


# Ids that nothing may name to them.
OF_WORK = ("session", "project", "child", "pty_id", "schedule", "webhook", "part", "question")


def code_for_billing(row: Row) -> int:
    """What somebody of the role billing gets."""
    outsider = row.codes[4]
    return _FOR_BILLING.get(str(row), outsider)
