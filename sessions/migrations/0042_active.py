from __future__ import annotations

from typing import Any

from django.db import migrations, models
from django.db.models import F


def _fill(apps: Any, schema_editor: Any) -> None:
    rows = apps.get_model("agent_sessions", "Session").objects.filter(active_at=None)
    rows.update(active_at=F("updated_at"))


class Migration(migrations.Migration):
    dependencies = [("agent_sessions", "0041_review")]

    operations = [
        migrations.AddField("session", "active_at", models.DateTimeField(null=True)),
        migrations.RunPython(_fill, migrations.RunPython.noop),
        migrations.AlterField("session", "active_at", models.DateTimeField()),
        migrations.AddIndex(
            "session",
            models.Index(fields=["project", "-active_at"], name="session_rail_of_project"),
        ),
    ]
