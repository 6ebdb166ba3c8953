from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.days import start_of


class Period(models.TextChoices):
    """For how long a budget counts, in UTC. Weeks begin on Monday."""

    DAY = "day", _("Day")
    WEEK = "week", _("Week")
    MONTH = "month", _("Month")

    def first_day(self, now: datetime | None = None) -> date:
        """Returns: the first day of the period that `now` is in."""
        day = (now or timezone.now()).astimezone(UTC).date()
        if self is Period.DAY:
            return day
        if self is Period.WEEK:
            return day - timedelta(days=day.weekday())
        return day.replace(day=1)

    def start(self, now: datetime | None = None) -> datetime:
        """Returns: the first moment of the period that `now` is in."""
        return start_of(self.first_day(now))

    def end(self, now: datetime | None = None) -> datetime:
        """Returns: the first moment after it."""
        first = self.first_day(now)
        if self is Period.MONTH:
            # 31 days later it is the next month, on one of its first days.
            return start_of((first + timedelta(days=31)).replace(day=1))
        return start_of(first + timedelta(days=7 if self is Period.WEEK else 1))

    def key(self, first_day: date) -> str:
        """Returns: the name of a period, such as 2026-11, 2026-W48 or 2026-11-26."""
        return first_day.strftime({"day": "%Y-%m-%d", "week": "%G-W%V"}.get(self, "%Y-%m"))
