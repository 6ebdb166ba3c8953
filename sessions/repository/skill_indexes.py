"""What is known of the skills behind addresses that the settings name (`skills.urls`)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import timedelta

from django.utils import timezone

from sessions.models import SkillIndex

# How long they count, and a failure before it is tried again.
_FRESH = timedelta(hours=1)
_TRY_AGAIN = timedelta(minutes=2)


def key_of(url: str) -> str:
    """Returns: what stands for an address."""
    return hashlib.sha256(url.encode()).hexdigest()


def base_of(url: str) -> str:
    """Returns: the address below which an index lies, without what could be a secret in it."""
    base = url.partition("?")[0].partition("#")[0].removesuffix("index.json").rstrip("/")
    scheme, mark, rest = base.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}"


def known_indexes(team_id: str, urls: Sequence[str]) -> list[SkillIndex]:
    """Returns: what was read of these addresses, in their order. One query, without any none."""
    if not urls:
        return []
    keys = {key_of(url): place for place, url in reversed(list(enumerate(urls)))}
    rows = SkillIndex.objects.filter(team=team_id, key__in=keys)
    return sorted(rows, key=lambda row: keys[row.key])


def outdated_indexes(team_id: str, urls: Sequence[str]) -> tuple[str, ...]:
    """Returns: the addresses that have to be read, as nothing is known of them or no more."""
    now = timezone.now()
    fresh = {
        row.key
        for row in known_indexes(team_id, urls)
        if now - row.tried_at < (_TRY_AGAIN if row.problems else _FRESH)
    }
    return tuple(dict.fromkeys(url for url in urls if key_of(url) not in fresh))
