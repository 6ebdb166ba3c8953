from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agent_sessions', '0068_second_person'),
    ]

    operations = [
        migrations.AddField(
            model_name='pullrequest',
            name='cause',
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name='terminal',
            name='cause',
            field=models.JSONField(default=dict),
        ),
    ]
