"""The tables of a new database in one step. An older one has them by what this replaces."""

import django.db.models.deletion
import django.utils.timezone
import providers.models
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('providers', '0001_initial'),
        ('providers', '0002_last_test'),
        ('providers', '0003_learned_bound'),
        ('providers', '0004_credential_kind'),
        ('providers', '0005_connection'),
        ('providers', '0006_accounts'),
        ('providers', '0007_circuits_and_rooms'),
        ('providers', '0008_line_in_rounds'),
        ('providers', '0009_answered_at'),
    ]

    initial = True

    dependencies = [
        ('teams', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Credential',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('secret', models.TextField()),
                ('last4', models.CharField(blank=True, max_length=4)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('rotated_at', models.DateTimeField(blank=True, null=True)),
                ('kind', models.CharField(choices=[('key', 'Key'), ('cloud', 'Cloud'), ('oauth', 'Oauth')], default='key', max_length=8)),
                ('account', models.CharField(blank=True, max_length=200)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('fault', models.CharField(blank=True, choices=[('', 'None'), ('signed-out', 'Signed Out')], default='', max_length=20)),
                ('label', models.CharField(blank=True, max_length=100)),
                ('refreshing_until', models.DateTimeField(blank=True, null=True)),
                ('failed_by', models.CharField(blank=True, max_length=60)),
                ('failure', models.CharField(blank=True, max_length=40)),
                ('failures', models.PositiveIntegerField(default=0)),
                ('max_calls', models.PositiveIntegerField(blank=True, null=True)),
                ('open_until', models.DateTimeField(blank=True, null=True)),
                ('tokens_per_minute', models.PositiveIntegerField(blank=True, null=True)),
                ('used_at', models.DateTimeField(blank=True, null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='ProviderConfig',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider_id', models.CharField(max_length=60)),
                ('kind', models.CharField(choices=[('openai', 'OpenAI'), ('anthropic', 'Anthropic'), ('openai-compatible', 'OpenAI-compatible'), ('scripted', 'Scripted demo')], max_length=20)),
                ('name', models.CharField(max_length=100)),
                ('base_url', models.CharField(blank=True, max_length=500)),
                ('enabled', models.BooleanField(default=True)),
                ('picked', models.JSONField(blank=True, default=dict)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('tested_at', models.DateTimeField(blank=True, null=True)),
                ('test_fault', models.CharField(blank=True, max_length=40)),
                ('connection', models.JSONField(blank=True, default=dict)),
                ('for_all_teams', models.BooleanField(default=True)),
                ('listed', models.JSONField(blank=True, default=dict)),
                ('listed_at', models.DateTimeField(blank=True, null=True)),
                ('failed_by', models.CharField(blank=True, max_length=60)),
                ('failure', models.CharField(blank=True, max_length=40)),
                ('failures', models.PositiveIntegerField(default=0)),
                ('open_until', models.DateTimeField(blank=True, null=True)),
                ('answered_at', models.DateTimeField(blank=True, null=True)),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='providers', to=settings.AUTH_USER_MODEL)),
                ('shared_with', models.ManyToManyField(blank=True, related_name='+', to='teams.team')),
                ('team', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='providers', to='teams.team')),
            ],
            options={
                'ordering': ('name', 'id'),
                'constraints': [models.UniqueConstraint(fields=('team', 'provider_id'), name='one_provider_of_an_id_per_team'), models.UniqueConstraint(fields=('owner', 'provider_id'), name='one_provider_of_an_id_per_person'), models.UniqueConstraint(condition=models.Q(('owner', None), ('team', None)), fields=('provider_id',), name='one_provider_of_an_id_of_the_instance'), models.CheckConstraint(condition=models.Q(('team', None), ('owner', None), _connector='OR'), name='provider_of_a_team_or_a_person')],
            },
        ),
        migrations.CreateModel(
            name='KeyUse',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('call', models.CharField(max_length=60)),
                ('tokens', models.PositiveBigIntegerField(default=0)),
                ('started_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('alive_until', models.DateTimeField()),
                ('asker', models.CharField(blank=True, max_length=60)),
                ('turn', models.PositiveIntegerField(default=0)),
                ('credential', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to='providers.credential')),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uses', to='providers.providerconfig')),
            ],
            options={
                'indexes': [models.Index(fields=['account', 'ended_at'], name='key_use_of_account')],
            },
        ),
        migrations.AddField(
            model_name='credential',
            name='provider',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='credentials', to='providers.providerconfig'),
        ),
        migrations.CreateModel(
            name='SignInAttempt',
            fields=[
                ('id', models.CharField(default=providers.models.new_attempt_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('provider_id', models.CharField(max_length=60)),
                ('method', models.CharField(max_length=40)),
                ('state', models.TextField()),
                ('url', models.CharField(max_length=4000)),
                ('user_code', models.CharField(blank=True, max_length=40)),
                ('redirect_uri', models.CharField(blank=True, max_length=500)),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('complete', 'Complete'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='pending', max_length=10)),
                ('fault', models.CharField(blank=True, max_length=40)),
                ('interval_s', models.FloatField(default=5)),
                ('next_poll_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('started_by', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='teams.team')),
            ],
        ),
        migrations.CreateModel(
            name='LearnedBound',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.TextField()),
                ('model', models.TextField()),
                ('input', models.DecimalField(decimal_places=3, max_digits=9)),
                ('output', models.DecimalField(decimal_places=3, max_digits=9)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='teams.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team', 'provider', 'model'), name='one_learned_bound_per_model')],
            },
        ),
    ]
