from __future__ import annotations

from collections.abc import Sequence

from django.utils import timezone

from opencode_web.lib.json import JsonObject
from sessions.models import SkillIndex
from sessions.repository.skill_indexes import key_of


def keep_index(
    team_id: str, url: str, *, skills: Sequence[JsonObject] | None, problems: Sequence[str]
) -> None:
    """Note what came of reading an address; without `skills` the ones of before go on counting."""
    changes: JsonObject = {"url": url, "problems": list(problems)}
    if skills is not None:
        changes["skills"] = list(skills)
    SkillIndex.objects.update_or_create(
        team_id=team_id, key=key_of(url), defaults={**changes, "tried_at": timezone.now()}
    )
