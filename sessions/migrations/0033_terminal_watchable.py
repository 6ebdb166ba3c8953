from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agent_sessions", "0032_share")]

    operations = [
        migrations.AddField(
            model_name="terminal",
            name="watchable",
            field=models.BooleanField(default=False),
        ),
    ]
