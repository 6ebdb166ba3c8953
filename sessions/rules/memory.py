"""What could last be read of each level's rules, kept in a row.

No action: nobody does it, it is no change of a session, and also what stands below the actions
reads rules.
"""

from __future__ import annotations

import hashlib
import json
from functools import partial

from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from opencode_web.lib.json import JsonObject
from sessions.models import Project, RuleSource
from teams.models import Team

# A process looks into the database once in a while whether it still remembers.
_KNOWN_S = 600


def remember_good(
    key: str, rules: JsonObject, *, team: Team | None, project: Project | None
) -> None:
    """Keep rules that can be read, for the time when those in their place cannot.

    Costs nothing while they stay the same.
    """
    # As text: the order of the keys is meaning.
    text = json.dumps(rules)
    digest = hashlib.sha256(text.encode()).hexdigest()
    if cache.get(_cached(key)) != digest:
        _store_good(key, rules, text, team, project)
        transaction.on_commit(partial(cache.set, _cached(key), digest, _KNOWN_S))


@transaction.atomic
def _store_good(
    key: str, rules: JsonObject, text: str, team: Team | None, project: Project | None
) -> None:
    known = RuleSource.objects.filter(key=key).first()
    if known is None or known.problem or json.dumps(known.good) != text:
        now = timezone.now()
        values = {"good": rules, "good_at": now, "problem": "", "team": team, "project": project}
        RuleSource.objects.update_or_create(key=key, defaults=values)


@transaction.atomic
def remember_problem(key: str, problem: str, *, team: Team | None, project: Project | None) -> bool:
    """Keep why rules cannot be read. Returns: whether that is news."""
    row = RuleSource.objects.filter(key=key).first()
    if row is not None and row.problem == problem:
        return False
    values = {"problem": problem, "team": team, "project": project}
    RuleSource.objects.update_or_create(key=key, defaults=values)
    transaction.on_commit(partial(cache.delete, _cached(key)))
    return True


def _cached(key: str) -> str:
    return f"rule-source:{key}"
