import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("teams", "0047_erasure_failing_since"),
        ("agent_sessions", "0099_server_plugin"),
    ]

    operations = [
        migrations.CreateModel(
            "RunningCommand",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("token", models.BigIntegerField()),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="commands",
                        to="agent_sessions.run",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="teams.team",
                    ),
                ),
            ],
        ),
    ]
