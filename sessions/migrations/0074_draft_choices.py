from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agent_sessions", "0073_server_sample")]

    operations = [
        migrations.AddField(
            model_name="keptdraft",
            name="choices",
            field=models.JSONField(default=dict, db_default={}),
        ),
    ]
