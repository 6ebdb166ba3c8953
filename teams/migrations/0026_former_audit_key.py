from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("teams", "0025_audit_of_target")]

    operations = [
        migrations.AddField(
            model_name="formerkey",
            name="audit_key",
            field=models.CharField(blank=True, default="", max_length=200),
        )
    ]
