from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("teams", "0024_former_key")]

    operations = [
        migrations.AddIndex(
            model_name="auditentry",
            index=models.Index(fields=["target_id", "action"], name="teams_audit_of_target"),
        ),
    ]
