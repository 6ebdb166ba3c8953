from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("agent_sessions", "0101_outside_reaction")]

    operations = [
        migrations.AlterField(
            "notification",
            "state",
            models.CharField(
                choices=[("pending", "Pending"), ("failed", "Failed"), ("kept", "Kept")],
                default="pending",
                max_length=7,
            ),
        ),
    ]
