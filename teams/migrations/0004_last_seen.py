from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("teams", "0003_service_account")]

    operations = [
        migrations.AddField(
            model_name="user", name="last_seen_on", field=models.DateField(blank=True, null=True)
        )
    ]
