import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("agent_sessions", "0092_fill_team_of_integration"), ("teams", "0044_fill_token_maker")]

    operations = [
        migrations.AlterField(
            "integration",
            "team",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="integrations",
                to="teams.team",
            ),
        ),
    ]
