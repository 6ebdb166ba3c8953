import django.db.models.deletion
import django.utils.timezone
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('teams', '0011_failed_attempt'),
    ]

    operations = [
        # No call outlives the workers that are replaced by this version: nothing is reserved.
        migrations.DeleteModel(name='Reservation'),
        migrations.CreateModel(
            name='Reservation',
            fields=[
                ('id', models.CharField(max_length=120, primary_key=True, serialize=False)),
                ('provider', models.TextField(blank=True)),
                ('model', models.TextField(blank=True)),
                ('prompt', models.CharField(blank=True, max_length=60)),
                ('amount', models.DecimalField(decimal_places=10, default=Decimal('0'), max_digits=18)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reservations', to='teams.team')),
                ('user', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.AddField(
            model_name='team',
            name='allows_unpriced_models',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='usageentry',
            name='basis',
            field=models.CharField(choices=[('counted', 'Counted'), ('bound', 'Bound'), ('unpriced', 'Unpriced')], default='counted', max_length=8),
        ),
        migrations.CreateModel(
            name='MonthlySpend',
            fields=[
                ('id', models.CharField(max_length=70, primary_key=True, serialize=False)),
                ('month', models.DateField()),
                ('cost', models.DecimalField(decimal_places=10, default=Decimal('0'), max_digits=18)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='teams.team')),
                ('user', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['team', 'month'], name='spend_of_team')],
            },
        ),
    ]
