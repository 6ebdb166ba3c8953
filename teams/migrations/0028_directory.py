from __future__ import annotations

import django.db.models.deletion
import django.utils.timezone
import teams.models.directory
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('teams', '0027_hides_keys'),
    ]

    operations = [
        migrations.AddField(
            model_name='signinpolicy',
            name='team_creation',
            field=models.CharField(blank=True, choices=[('operators', 'Operators'), ('everyone', 'Everyone')], default='', max_length=10),
        ),
        migrations.AlterField(
            model_name='identityprovider',
            name='kind',
            field=models.CharField(choices=[('oidc', 'OpenID Connect'), ('google', 'Google'), ('gitlab', 'GitLab'), ('github', 'GitHub'), ('saml', 'SAML'), ('scim', 'SCIM')], max_length=8),
        ),
        migrations.CreateModel(
            name='DirectoryAccount',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='directory', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('user_name', models.CharField(max_length=255, unique=True)),
                ('external_id', models.CharField(blank=True, max_length=255)),
                ('data', models.JSONField(default=dict)),
                ('is_deleted', models.BooleanField(default=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('external_id', ''), _negated=True), fields=('external_id',), name='teams_directory_external_id_once')],
            },
        ),
        migrations.CreateModel(
            name='DirectoryGroup',
            fields=[
                ('id', models.CharField(default=teams.models.directory.new_group_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=255, unique=True)),
                ('external_id', models.CharField(blank=True, max_length=255)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('members', models.ManyToManyField(related_name='directory_groups', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='DirectoryToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('prefix', models.CharField(max_length=16)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('last_used_at', models.DateTimeField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
    ]
