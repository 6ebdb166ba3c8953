import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("agent_sessions", "0095_github_apps")]

    operations = [
        migrations.AddField(
            "notification",
            "change",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="agent_sessions.changerequest",
            ),
        ),
        migrations.AlterField(
            "notification",
            "kind",
            models.CharField(
                choices=[
                    ("asks", "An agent or a teammate needs a response"),
                    ("ends", "A turn has ended"),
                    ("fails", "A turn has failed"),
                    ("budget", "A budget is nearly or wholly spent"),
                ],
                max_length=6,
            ),
        ),
    ]
