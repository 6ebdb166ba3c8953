import django.db.models.deletion
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def remove_plugins_of_the_server(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("agent_sessions", "TeamPlugin").objects.filter(team=None).delete()


class Migration(migrations.Migration):

    dependencies = [
        ("agent_sessions", "0098_notification_mentioned"),
        ("teams", "0047_erasure_failing_since"),
    ]

    operations = [
        migrations.AlterField(
            "teamplugin",
            "team",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="plugins",
                to="teams.team",
            ),
        ),
        migrations.RunPython(migrations.RunPython.noop, remove_plugins_of_the_server),
        migrations.AddConstraint(
            "teamplugin",
            models.UniqueConstraint(
                fields=["name", "version"],
                condition=models.Q(team=None),
                name="one_server_plugin_per_version",
            ),
        ),
        migrations.AddConstraint(
            "teamplugin",
            models.UniqueConstraint(
                fields=["name"],
                condition=models.Q(team=None, trusted_at__isnull=False),
                name="one_trusted_version_of_a_server_plugin",
            ),
        ),
    ]
