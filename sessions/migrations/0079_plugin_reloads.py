from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agent_sessions', '0078_plugin_descriptions'),
    ]

    operations = [
        migrations.AddField(
            model_name='repositorytrust',
            name='reloads',
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
    ]
