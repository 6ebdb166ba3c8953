from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agent_sessions", "0087_read_only_session"),
    ]

    operations = [
        migrations.AddField(
            model_name='checkout',
            name='follows',
            field=models.CharField(blank=True, db_default='', max_length=64),
        ),
    ]
