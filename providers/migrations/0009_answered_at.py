from __future__ import annotations

from typing import Any

from django.db import migrations, models
from django.utils import timezone


def keep_defaults(apps: Any, schema_editor: Any) -> None:
    """What was not found to fail stays the default; one time for all keeps them in order."""
    rows = apps.get_model("providers", "ProviderConfig").objects
    rows.filter(test_fault="", answered_at=None).update(answered_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [("providers", "0008_line_in_rounds")]

    operations = [
        migrations.AddField(
            model_name="providerconfig",
            name="answered_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.RunPython(keep_defaults, migrations.RunPython.noop),
    ]
