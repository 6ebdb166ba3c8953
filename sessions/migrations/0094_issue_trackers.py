import django.db.models.deletion
from django.db import migrations, models

import opencode_web.lib.fields


class Migration(migrations.Migration):

    dependencies = [("agent_sessions", "0093_team_of_integration")]

    operations = [
        migrations.AddField(
            "integration", "is_tracker", models.BooleanField(default=False, db_default=False)
        ),
        migrations.AddField(
            "integration",
            "token",
            opencode_web.lib.fields.EncryptedTextField(blank=True, db_default=""),
        ),
        migrations.AddField("integration", "outside", models.JSONField(default=dict, db_default={})),
        migrations.AlterField(
            "integration",
            "project",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="integrations",
                to="agent_sessions.project",
            ),
        ),
        migrations.AddConstraint(
            "integration",
            models.UniqueConstraint(
                fields=["project"],
                condition=models.Q(is_tracker=False),
                name="one_forge_per_project",
            ),
        ),
        migrations.AddConstraint(
            "integration",
            models.UniqueConstraint(fields=["project", "kind"], name="one_of_each_kind"),
        ),
    ]
