from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("teams", "0028_directory")]

    operations = [
        migrations.AddField(
            model_name="budget",
            name="warn_percent",
            field=models.PositiveSmallIntegerField(db_default=80, default=80),
        )
    ]
