from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("agent_sessions", "0079_plugin_reloads"),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="writers",
            field=models.ManyToManyField(related_name="+", to=settings.AUTH_USER_MODEL),
        ),
    ]
