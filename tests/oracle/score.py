"""What differs on purpose is declared in differences.toml, and does not count."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

LEAST, LEAST_OF_ONE = 95.0, 90.0
_DECLARED = Path(__file__).with_name("differences.toml")


def declared() -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = tomllib.loads(_DECLARED.read_text())["difference"]
    return rules


def undeclared(case: str, differences: list[Any], rules: list[dict[str, Any]]) -> list[Any]:
    """Returns: the differences of a case that no rule declares."""
    left, found = list(differences), False
    for rule in rules:
        if rule.get("follows") and not found:
            continue
        if not re.search(rule.get("case", "."), case):
            continue
        kept = [one for one in left if not _is_meant(rule, one)]
        found = found or ("shown" in rule and len(kept) < len(left))
        left = kept
    return left


def _is_meant(rule: dict[str, Any], difference: Any) -> bool:
    name, want, got = difference
    shown = json.dumps([want, got])
    return bool(re.search(rule["field"], name) and re.search(rule.get("shown", ""), shown))
