"""Permission rules of one session, written as `permission` of an opencode.json."""

from __future__ import annotations

import json

from opencode_web_cli.failures import Code, Failure

_ACTIONS = {"allow", "ask", "deny"}


def build_rules(text: str) -> list[dict[str, str]]:
    """Returns: the rules in the order in which they are written; the last that matches decides.

    Raises: Failure when it is no such JSON.
    """
    if not text.strip():
        return []
    try:
        given = json.loads(text)
    except ValueError as exc:
        raise Failure(f"The permission rules are no JSON: {exc}", Code.USAGE) from exc
    if isinstance(given, str):
        given = {"*": given}
    if not isinstance(given, dict):
        raise _unknown(given)
    rules = []
    for permission, wanted in given.items():
        patterns = wanted if isinstance(wanted, dict) else {"*": wanted}
        for pattern, action in patterns.items():
            if action not in _ACTIONS:
                raise _unknown(action)
            rules.append({"permission": permission, "pattern": pattern, "action": action})
    return rules


def _unknown(value: object) -> Failure:
    return Failure(
        f"{json.dumps(value)} is no permission rule. Write them as in "
        '{"edit": "allow", "bash": {"git diff *": "allow"}}, with allow, ask or deny.',
        Code.USAGE,
    )
