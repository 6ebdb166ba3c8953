from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agent_sessions", "0086_answers_on_forges"),
    ]

    operations = [
        migrations.AddField(
            model_name='session',
            name='cost_limit',
            field=models.DecimalField(decimal_places=2, max_digits=10, null=True),
        ),
        migrations.AddField(
            model_name='session',
            name='is_read_only',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
