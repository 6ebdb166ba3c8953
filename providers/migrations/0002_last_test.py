from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("providers", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="providerconfig",
            name="tested_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="providerconfig",
            name="test_fault",
            field=models.CharField(blank=True, default="", max_length=40),
            preserve_default=False,
        ),
    ]
