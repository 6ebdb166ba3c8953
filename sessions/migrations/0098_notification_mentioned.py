from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("agent_sessions", "0097_own_webhook")]

    operations = [
        migrations.AlterField(
            "notification",
            "kind",
            models.CharField(
                choices=[
                    ("asks", "An agent or a teammate needs a response"),
                    ("mentioned", "A teammate has mentioned you"),
                    ("ends", "A turn has ended"),
                    ("fails", "A turn has failed"),
                    ("budget", "A budget is nearly or fully spent"),
                ],
                max_length=9,
            ),
        ),
    ]
