"""What operators tell everybody, and whether messages are accepted at the moment.

Every page shows it, so each process keeps the rows for a few seconds.
"""

from __future__ import annotations

import math

from django.core.cache import cache
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from opencode_web.lib.errors import Unavailable
from teams.models import Announcement

# All processes know of a change after so long.
KEPT_S = 5
# For clients, where nobody has said when it ends.
RETRY_S = 60
_KEY = "announcements"
# Key of the browser's session: numbers of those that the person has hidden there.
HIDDEN = "hidden_announcements"
MAX_HIDDEN = 50


def planned_announcements() -> list[Announcement]:
    """Returns: those that are not over, the ones that began first first."""
    open_rows = Announcement.objects.filter(Q(ends_at=None) | Q(ends_at__gt=Now()))
    return list(open_rows.order_by("starts_at", "pk"))


def shown_announcements() -> list[Announcement]:
    """Returns: those that are shown now, maintenance first. Up to `KEPT_S` old."""
    rows = cache.get(_KEY)
    if rows is None:
        rows = planned_announcements()
        cache.set(_KEY, rows, KEPT_S)
    now = timezone.now()
    shown = [row for row in rows if row.is_shown(now)]
    return sorted(shown, key=lambda row: not row.stops_prompts)


def forget_kept_announcements() -> None:
    """Have this process know of a change at once."""
    cache.delete(_KEY)


def shown_maintenance() -> Announcement | None:
    """Returns: the announcement because of which no messages are accepted now."""
    return next((one for one in shown_announcements() if one.stops_prompts), None)


def require_no_maintenance() -> None:
    """Raises: Unavailable with the operators' reason, and `retryAfter` in seconds."""
    row = shown_maintenance()
    if row is not None:
        left = (row.ends_at - timezone.now()).total_seconds() if row.ends_at else RETRY_S
        raise Unavailable(row.text, retryAfter=max(1, math.ceil(left)))
