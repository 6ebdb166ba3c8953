"""When a cron expression of five fields is due, in its time zone. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice, pairwise
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from cronsim import CronSim, CronSimError
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from opencode_web.lib.errors import Invalid

# Cron's numbers, in the order of the week.
DAYS = ("1", "2", "3", "4", "5", "6", "0")
_WEEKLY = re.compile(r"([0-5]?\d) ([01]?\d|2[0-3]) \* \* (\*|[0-7](?:[-,][0-7])*)")
MIN_INTERVAL = timedelta(minutes=5)
# A pattern repeats within these, except for leap years and months.
_LOOKED_AT = 60
MAX_MISSED = 1_000
# No moment of the changes of summer time, from which a pattern is looked at.
_SAMPLE = datetime(2024, 1, 1, tzinfo=UTC)


def check_times(cron: str, zone: str) -> str:
    """Returns: the expression with single spaces.

    Raises: Invalid for what cannot be read, is never due, or is due too often.
    """
    cron = " ".join(cron.split()).upper()
    if len(cron.split(" ")) != 5:
        raise Invalid(
            _(
                "A schedule has five fields: minute, hour, day of the month, month, day of the "
                "week. For example: “30 6 * * 1-5”."
            ),
            field="cron",
        )
    zone_of(zone)
    try:
        first = list(islice(_moments(cron, zone, _SAMPLE), _LOOKED_AT))
    except CronSimError as exc:
        raise Invalid(
            _("This schedule is not valid: {why}.").format(why=exc), field="cron"
        ) from exc
    if not first:
        raise Invalid(_("This date does not exist, so the schedule would never run."), field="cron")
    if any(after - before < MIN_INTERVAL for before, after in pairwise(first)):
        minutes = int(MIN_INTERVAL.total_seconds() // 60)
        raise Invalid(
            _("A schedule can run every {minutes} minutes at most.").format(minutes=minutes),
            field="cron",
        )
    return cron


def next_time(cron: str, zone: str, after: datetime) -> datetime | None:
    """Returns: the first moment later than `after`, in UTC; None when there is none."""
    return next(_moments(cron, zone, after), None)


def missed_between(cron: str, zone: str, since: datetime, now: datetime) -> int:
    """Returns: how many moments lie after `since` and not after `now`, MAX_MISSED at most."""
    count = 0
    for moment in islice(_moments(cron, zone, since), MAX_MISSED):
        if moment > now:
            break
        count += 1
    return count


def zone_of(name: str) -> ZoneInfo:
    """Raises: Invalid for a name that is none."""
    try:
        if name in zone_names():
            return ZoneInfo(name)
    except ZoneInfoNotFoundError as exc:
        raise Invalid(_("This server does not support the time zone."), field="timezone") from exc
    raise Invalid(
        _("This time zone does not exist. Use a name such as “Europe/Berlin”."), field="timezone"
    )


@lru_cache
def zone_names() -> frozenset[str]:
    """The names of every time zone there is here: reading the folders takes a while."""
    return frozenset(available_timezones())


def _moments(cron: str, zone: str, after: datetime) -> Iterator[datetime]:
    return (moment.astimezone(UTC) for moment in CronSim(cron, after.astimezone(ZoneInfo(zone))))


def cron_of(days: Collection[str], time: str) -> str:
    """Returns: the expression for these of `DAYS` at `HH:MM`."""
    hour, _colon, minute = time.partition(":")
    chosen = [day for day in DAYS if day in days]
    week = "*" if len(chosen) == len(DAYS) else ",".join(chosen)
    return f"{int(minute)} {int(hour)} * * {week}"


def weekly_of(cron: str) -> tuple[list[str], str] | None:
    """Returns: of `DAYS` those of an expression, and its time; None for what says more."""
    found = _WEEKLY.fullmatch(cron)
    if found is None:
        return None
    minute, hour, week = found.groups()
    days: set[str] = set(DAYS) if week == "*" else set()
    for part in week.split(",") if week != "*" else ():
        first, _dash, last = part.partition("-")
        if last and last < first:
            return None
        days |= {str(day % 7) for day in range(int(first), int(last or first) + 1)}
    return [day for day in DAYS if day in days], f"{int(hour):02d}:{int(minute):02d}"


def times_in_words(cron: str, zone: str) -> str:
    """Returns: when it is due, as a phrase; an expression that says more than a week as it is."""
    weekly = weekly_of(cron)
    if weekly is None:
        return _("{cron} in {zone}").format(cron=cron, zone=zone)
    days, time = weekly
    if len(days) == len(DAYS):
        return _("Every day at {time} ({zone})").format(time=time, zone=zone)
    if days == list(DAYS[:5]):
        return _("Monday to Friday at {time} ({zone})").format(time=time, zone=zone)
    names = {
        "1": pgettext("every week", "Mondays"),
        "2": pgettext("every week", "Tuesdays"),
        "3": pgettext("every week", "Wednesdays"),
        "4": pgettext("every week", "Thursdays"),
        "5": pgettext("every week", "Fridays"),
        "6": pgettext("every week", "Saturdays"),
        "0": pgettext("every week", "Sundays"),
    }
    listed = get_text_list([names[day] for day in days], _("and"))
    return _("{days} at {time} ({zone})").format(days=listed, time=time, zone=zone)
