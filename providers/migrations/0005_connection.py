from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("providers", "0004_credential_kind"),
    ]

    operations = [
        migrations.AddField(
            model_name="providerconfig",
            name="connection",
            field=models.JSONField(blank=True, default=dict),
        ),
    ]
