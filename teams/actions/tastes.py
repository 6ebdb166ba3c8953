from __future__ import annotations

from django.db import transaction

from opencode_web.lib.json import JsonValue
from teams.models import User


@transaction.atomic
def remember_taste(user: User, *, key: str, value: JsonValue) -> User:
    """Keep one of a person's `preferences`. A taste, so nothing is audited."""
    locked = User.objects.select_for_update().get(pk=user.pk)
    user.preferences = {**locked.preferences, key: value}
    user.save(update_fields=["preferences"])
    return user
