"""What a second person may have to approve is written only by actions that hold it, and those that
need nobody say why."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.sources import ROOMS, modules, name_of, tree_of

ROWS = {"Budget", "ProjectSecret", "SavedRule", "TeamSecret"}
WRITING = {"create", "bulk_create", "get_or_create", "update_or_create", "bulk_update"}
HOLDING = {"_hold", "hold_budgets", "hold_for_approval", "hold_limit", "hold_settings"}

HELD = {
    "sessions/actions/secrets.py": {"set_secret", "remove_secret"},
    "sessions/actions/team_secrets.py": {"set_team_secret", "remove_team_secret"},
    "sessions/actions/settings.py": {"update_team_settings", "update_project_settings"},
    "sessions/actions/budgets.py": {"set_budgets"},
    "sessions/actions/budget_limits.py": {"put_limit", "remove_limit"},
    "sessions/actions/checkouts.py": {"request_job"},
    "sessions/actions/change_requests.py": {"set_approvals"},
}
WITHOUT = {
    "opencode_web/transfer/load.py": "a team that is imported is new here",
    "sessions/actions/permissions.py": "saves no answer where rules are approved",
    "sessions/actions/saved_rules.py": "restores none where rules are approved",
    "teams/actions/budget_limits.py": "called by `sessions.actions.budget_limits`",
    "teams/actions/budgets.py": "called by `sessions.actions.budgets`",
}


def written(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in ROWS:
                yield node.func.id
            if isinstance(node.func, ast.Attribute) and node.func.attr in WRITING:
                named = {one.id for one in ast.walk(node.func) if isinstance(one, ast.Name)}
                yield from named & ROWS
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            for one in ast.walk(target):
                if isinstance(one, ast.Attribute) and one.attr in ("config", "needs_approval"):
                    yield one.attr


def test_what_is_held_is_written_nowhere_else() -> None:
    found = {
        name_of(path): set(written(tree_of(path)))
        for path in modules(*ROOMS)
        if "/migrations/" not in name_of(path)
    }
    assert {name for name, what in found.items() if what} == {
        *(HELD.keys() - {"sessions/actions/budget_limits.py", "sessions/actions/checkouts.py"}),
        *WITHOUT,
    }


def test_each_of_these_actions_holds_its_change() -> None:
    missing = []
    for path in modules("sessions"):
        for function in ast.walk(tree_of(path)):
            if not isinstance(function, ast.FunctionDef):
                continue
            if function.name not in HELD.get(name_of(path), ()):
                continue
            called = {
                call.func.id
                for call in ast.walk(function)
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
            }
            missing += [] if called & HOLDING else [f"{name_of(path)}: {function.name}"]
    assert missing == []
