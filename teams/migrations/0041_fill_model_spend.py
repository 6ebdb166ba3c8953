"""Sum up what teams have spent on each model, in each day, week and month."""

from datetime import UTC, timedelta
from decimal import Decimal
from hashlib import sha256

from django.db import migrations

_UNIT = Decimal(1).scaleb(-10)


def fill(apps, editor):
    spend = apps.get_model("teams", "Spend")
    entries = apps.get_model("teams", "UsageEntry").objects.exclude(model="").values_list(
        "team_id", "provider", "model", "cost", "time"
    )
    sums = {}
    for team_id, provider, model, cost, time in entries.iterator():
        day, cost = time.astimezone(UTC).date(), cost.quantize(_UNIT)
        monday = day - timedelta(days=day.weekday())
        periods = (
            ("day", day, f"{day:%Y-%m-%d}"),
            ("week", monday, f"{day:%G-W%V}"),
            ("month", day.replace(day=1), f"{day:%Y-%m}"),
        )
        name = f"{provider}/{model}"
        digest = sha256(name.encode()).hexdigest()[:32]
        for period, start, key in periods if cost else ():
            row = {"team_id": team_id, "model": name, "period": period, "start": start}
            found = sums.setdefault(f"{team_id}.{key}.model-{digest}", {**row, "cost": Decimal(0)})
            found["cost"] += cost
    rows = [spend(id=key, **columns) for key, columns in sums.items()]
    spend.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)


def take_out(apps, editor):
    for name in ("Spend", "Budget", "BudgetNotice"):
        apps.get_model("teams", name).objects.exclude(model="").delete()


class Migration(migrations.Migration):

    dependencies = [("teams", "0040_budget_of_model")]

    operations = [migrations.RunPython(fill, take_out)]
