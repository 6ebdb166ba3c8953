from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from opencode_web.ops.history import Span, load_history
from sessions.jobs.samples import take_sample
from sessions.models import ServerSample
from teams.models import Team, UsageEntry

pytestmark = pytest.mark.django_db
HOUR = datetime(2026, 3, 1, 9, tzinfo=UTC)


def use(team: Team, time: datetime, number: int) -> None:
    UsageEntry.objects.create(
        id=f"ses_x.{number}", team=team, session="ses_x", project="prj_x", input=100, output=20,
        reasoning=0, cache_read=5, cache_write=0, cost=Decimal("0.25"), time=time,
    )  # fmt: skip


def test_minutes_are_kept_and_added_up_to_hours(team: Team) -> None:
    use(team, HOUR + timedelta(seconds=30), 1)
    use(team, HOUR + timedelta(seconds=59), 2)
    use(team, HOUR + timedelta(seconds=60), 3)
    for minute in (1, 2, 2):
        # One that comes twice counts once.
        take_sample(HOUR + timedelta(minutes=minute, seconds=7))
    rows = ServerSample.objects.order_by("start")
    assert [(row.responses, row.cost, row.tokens) for row in rows] == [
        (2, Decimal("0.5"), {team.pk: 250}),
        (1, Decimal("0.25"), {team.pk: 125}),
    ]
    rows.filter(start=HOUR).update(running=4, queue_age_s=9)
    take_sample(HOUR + timedelta(hours=1, minutes=1))
    (hour,) = rows.filter(step_s=3600)
    assert (hour.start, hour.running, hour.queue_age_s, hour.responses) == (HOUR, 2, 9, 3)
    assert (hour.cost, hour.tokens) == (Decimal("0.75"), {team.pk: 375})
    # A day later only the hour is left, and 90 days later nothing.
    take_sample(HOUR + timedelta(days=1, hours=3))
    assert rows.filter(step_s=60, start__lt=HOUR + timedelta(hours=1)).count() == 0
    assert rows.filter(step_s=3600, start=HOUR).count() == 1
    take_sample(HOUR + timedelta(days=91))
    assert rows.filter(step_s=3600, start=HOUR).count() == 0


def test_the_page_draws_them_and_has_a_table(console: Client, team: Team) -> None:
    now = timezone.now()
    use(team, now - timedelta(minutes=2), 1)
    take_sample(now - timedelta(minutes=1))
    history = load_history(Span.DAY)
    assert len(history.bins) == 48
    cost = next(chart for chart in history.charts if chart.id == "cost")
    assert (cost.most, len(cost.bars), cost.bars[0].height) == ("$0.25", 1, 100)
    assert [(one.name, one.tokens, one.percent) for one in history.teams] == [("Acme", 125, 100)]
    for span in ("day", "week", "month", "nonsense"):
        page = console.get(f"/ops/history?range={span}").content.decode()
        assert page.count('<svg class="usage-chart"') == 7
    page = console.get("/ops/history").content.decode()
    assert re.search(r'<rect class="usage-bar" x="\d+" y="0.0" width="8" height="100.0">', page)
    assert 'data-label="Spend" class="end">$0.25' in page
    samples = console.get("/instance/samples?range=day").json()
    assert [(one["responses"], one["cost"]) for one in samples] == [(1, 0.25)]
