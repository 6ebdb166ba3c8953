"""Sum up what members, projects and teams have spent in each day and week as well."""

from datetime import UTC, timedelta
from decimal import Decimal

from django.db import migrations

_UNIT = Decimal(1).scaleb(-10)


def _fill(apps, editor):
    spend = apps.get_model("teams", "Spend")
    people = set(apps.get_model("teams", "User").objects.values_list("pk", flat=True))
    entries = apps.get_model("teams", "UsageEntry").objects.values_list(
        "team_id", "user_id", "project", "cost", "time"
    )
    sums = {}
    for team_id, user_id, project, cost, time in entries.iterator():
        day, cost = time.astimezone(UTC).date(), cost.quantize(_UNIT)
        monday = day - timedelta(days=day.weekday())
        periods = (
            ("day", day, f"{day:%Y-%m-%d}"),
            ("week", monday, f"{day:%G-W%V}"),
            ("month", day.replace(day=1), f"{day:%Y-%m}"),
        )
        # Of all together, of the person, and of the project, as far as there are any.
        whose = {("", None, ""), (f".{user_id}", user_id, ""), (f".{project}", None, project)}
        for period, start, name in periods:
            for suffix, user, one in whose:
                is_gone = user is not None and user not in people
                if suffix in (".", ".None") or is_gone or not cost:
                    continue
                row = (team_id, user, one, period, start)
                sums.setdefault(f"{team_id}.{name}{suffix}", [row, Decimal(0)])[1] += cost
    rows = []
    for key, ((team_id, user, project, period, start), cost) in sums.items():
        rows.append(
            spend(
                id=key,
                team_id=team_id,
                user_id=user,
                project=project,
                period=period,
                start=start,
                cost=cost,
            )
        )
    spend.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)


def _take_out(apps, editor):
    spend = apps.get_model("teams", "Spend").objects
    spend.exclude(period="month", project="", team__isnull=False).delete()
    budgets = apps.get_model("teams", "Budget").objects
    monthly = {"period": "month", "is_soft": False, "scope__in": ["team", "each", "member"]}
    budgets.exclude(**monthly).delete()
    notices = apps.get_model("teams", "BudgetNotice").objects
    notices.exclude(period="month", is_soft=False, project="", team__isnull=False).delete()


class Migration(migrations.Migration):

    dependencies = [("teams", "0021_budget_scopes")]

    operations = [migrations.RunPython(_fill, _take_out)]
