"""What a person wants to be told of, where and when. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.utils.dateparse import parse_time

from opencode_web.lib.json import JsonObject
from sessions.cron_times import zone_names
from sessions.models import NotificationKind
from teams.models import User

# The key of `User.preferences`.
KEY = "notifications"
DIGEST_AT = time(8, 0)


@dataclass(frozen=True)
class ChannelChoice:
    """What one channel brings. `is_daily`: all of a day in one message."""

    kinds: frozenset[NotificationKind]
    is_daily: bool = False


@dataclass(frozen=True)
class Choices:
    """`channels`: by name, only those that the person has decided about. No `zone`: none chosen.

    Nothing is sent from `quiet_from` until `quiet_until`, in the person's time zone.
    """

    channels: Mapping[str, ChannelChoice] = field(default_factory=dict)
    zone: str = ""
    quiet_from: time | None = None
    quiet_until: time | None = None
    digest_at: time = DIGEST_AT

    @classmethod
    def of(cls, user: User) -> Choices:
        """Read what is stored; what cannot be read is as if it was never chosen."""
        stored = user.preferences.get(KEY)
        if not isinstance(stored, dict):
            return cls()
        channels = stored.get("channels")
        found = channels if isinstance(channels, dict) else {}
        zone = str(stored.get("zone", ""))
        return cls(
            channels={name: _read(one) for name, one in found.items() if isinstance(one, dict)},
            zone=zone if zone in zone_names() else "",
            quiet_from=_time(stored.get("quiet_from")),
            quiet_until=_time(stored.get("quiet_until")),
            digest_at=_time(stored.get("digest_at")) or DIGEST_AT,
        )

    def to_json(self) -> JsonObject:
        return {
            "channels": {
                name: {"kinds": [kind.value for kind in sorted(one.kinds)], "daily": one.is_daily}
                for name, one in self.channels.items()
            },
            "zone": self.zone,
            "quiet_from": _text(self.quiet_from),
            "quiet_until": _text(self.quiet_until),
            "digest_at": _text(self.digest_at),
        }

    def held_until(self, *, is_daily: bool, now: datetime) -> datetime | None:
        """Returns: when a message that comes now is to be sent with the others, None for at once.

        A daily message that would fall into the quiet hours waits for their end.
        """
        here = _zone(self.zone)
        due = _next(self.digest_at, now, here) if is_daily else now
        if self._is_quiet(due.astimezone(here).time()) and self.quiet_until is not None:
            return _next(self.quiet_until, due, here)
        return due if is_daily else None

    def _is_quiet(self, moment: time) -> bool:
        start, end = self.quiet_from, self.quiet_until
        if start is None or end is None:
            return False
        # Those of a night go over midnight.
        return start <= moment < end if start <= end else moment >= start or moment < end


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name or "UTC")
    except ZoneInfoNotFoundError:
        return ZoneInfo("UTC")


def _next(moment: time, after: datetime, here: ZoneInfo) -> datetime:
    """Returns: when the clocks there next show this."""
    day = after.astimezone(here).date()
    found = datetime.combine(day, moment, tzinfo=here)
    if found <= after:
        found = datetime.combine(day + timedelta(days=1), moment, tzinfo=here)
    return found


def _read(stored: JsonObject) -> ChannelChoice:
    kinds = stored.get("kinds")
    named = {str(one) for one in kinds} if isinstance(kinds, list) else set()
    return ChannelChoice(
        frozenset(kind for kind in NotificationKind if kind.value in named),
        is_daily=bool(stored.get("daily")),
    )


def _time(stored: object) -> time | None:
    try:
        return parse_time(stored) if isinstance(stored, str) else None
    except ValueError:
        return None


def _text(moment: time | None) -> str:
    return "" if moment is None else f"{moment:%H:%M}"
