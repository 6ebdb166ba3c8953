from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("agent_sessions", "0100_running_command")]

    operations = [
        migrations.AlterField(
            "outsidereply",
            "kind",
            models.CharField(
                choices=[
                    ("comment", "Reply"),
                    ("review", "Review"),
                    ("check", "Check"),
                    ("pull", "Pull request"),
                    ("react", "Reaction"),
                ],
                db_default="comment",
                default="comment",
                max_length=7,
            ),
        ),
    ]
