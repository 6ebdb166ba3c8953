
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agent_sessions', '0016_repository_trust'),
    ]

    operations = [
        migrations.CreateModel(
            name='TodoList',
            fields=[
                ('session', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='todo_list', serialize=False, to='agent_sessions.session')),
                ('items', models.JSONField()),
                ('seq', models.BigIntegerField()),
            ],
        ),
    ]
