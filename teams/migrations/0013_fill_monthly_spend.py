"""Sum up what teams have spent in each month from the usage that is there."""

from datetime import UTC, date
from decimal import Decimal

from django.db import migrations
from django.db.models import Sum
from django.db.models.functions import TruncMonth

_UNIT = Decimal(1).scaleb(-10)


def _fill(apps, editor):
    usage = apps.get_model("teams", "UsageEntry")
    spend = apps.get_model("teams", "MonthlySpend")
    people = set(apps.get_model("teams", "User").objects.values_list("pk", flat=True))
    entries = usage.objects.annotate(month=TruncMonth("time", tzinfo=UTC)).order_by()
    rows = {}

    def add(team_id, month, user_id, cost):
        key = f"{team_id}.{month:%Y-%m}" + ("" if user_id is None else f".{user_id}")
        row = rows.setdefault(
            key, spend(id=key, team_id=team_id, user_id=user_id, month=month, cost=Decimal(0))
        )
        row.cost += cost

    for team_id, user_id, month, cost in entries.values_list("team_id", "user_id", "month").annotate(
        Sum("cost")
    ):
        first = date(month.year, month.month, 1)
        cost = cost.quantize(_UNIT)
        if cost:
            add(team_id, first, None, cost)
            if user_id in people:
                add(team_id, first, user_id, cost)
    spend.objects.bulk_create(rows.values(), batch_size=500)


class Migration(migrations.Migration):

    dependencies = [
        ("teams", "0012_monthly_spend"),
    ]

    operations = [migrations.RunPython(_fill, migrations.RunPython.noop)]
