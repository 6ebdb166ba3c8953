"""The tables of a new database in one step. An older one has them by what this replaces."""

import importlib

import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import opencode_web.lib.fields
import teams.models.budget
import teams.models.directory
import teams.models.erasure
import teams.models.export
import teams.models.group
import teams.models.hold
import teams.models.idempotency
import teams.models.invite
import teams.models.team
import teams.models.token
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models


_audit = importlib.import_module("teams.migrations.0020_audit_triggers")


class Migration(migrations.Migration):

    replaces = [
        ('teams', '0001_initial'),
        ('teams', '0002_idempotency_key'),
        ('teams', '0003_service_account'),
        ('teams', '0004_last_seen'),
        ('teams', '0005_usage'),
        ('teams', '0006_usage_of_all'),
        ('teams', '0007_budget'),
        ('teams', '0008_role_billing'),
        ('teams', '0009_budget_notice'),
        ('teams', '0010_allowed_address'),
        ('teams', '0011_failed_attempt'),
        ('teams', '0012_monthly_spend'),
        ('teams', '0013_fill_monthly_spend'),
        ('teams', '0014_own_accounts'),
        ('teams', '0015_basis_billed'),
        ('teams', '0016_own_accounts_labels'),
        ('teams', '0017_approvers_and_emergencies'),
        ('teams', '0018_audit_chain'),
        ('teams', '0019_chain_old_entries'),
        ('teams', '0020_audit_triggers'),
        ('teams', '0021_budget_scopes'),
        ('teams', '0022_fill_spend'),
        ('teams', '0023_identity'),
        ('teams', '0024_former_key'),
        ('teams', '0025_audit_of_target'),
        ('teams', '0026_former_audit_key'),
        ('teams', '0027_hides_keys'),
        ('teams', '0028_directory'),
        ('teams', '0029_budget_warn_percent'),
        ('teams', '0030_announcements'),
        ('teams', '0031_retention'),
        ('teams', '0032_erasure'),
        ('teams', '0033_team_export'),
        ('teams', '0034_team_limits'),
        ('teams', '0035_sso_provider'),
        ('teams', '0036_needs_approval'),
        ('teams', '0037_team_groups'),
        ('teams', '0038_locked_account'),
        ('teams', '0039_locked_by_operators'),
        ('teams', '0040_budget_of_model'),
        ('teams', '0041_fill_model_spend'),
        ('teams', '0042_token_client'),
        ('teams', '0043_token_maker'),
        ('teams', '0044_fill_token_maker'),
        ('teams', '0045_token_renewal'),
        ('teams', '0046_budget_notice_is_told'),
    ]

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('email', models.EmailField(max_length=254, unique=True, verbose_name='e-mail')),
                ('name', models.CharField(blank=True, max_length=120)),
                ('theme', models.CharField(blank=True, choices=[('', 'Same as the system'), ('light', 'Light'), ('dark', 'Dark')], default='', max_length=8)),
                ('preferences', models.JSONField(blank=True, default=dict)),
                ('is_active', models.BooleanField(default=True)),
                ('is_staff', models.BooleanField(default=False, verbose_name='may open the raw-row admin')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('last_seen_on', models.DateField(blank=True, null=True)),
                ('is_locked', models.BooleanField(db_default=False, default=False)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
        ),
        migrations.CreateModel(
            name='AuditHead',
            fields=[
                ('chain', models.CharField(max_length=40, primary_key=True, serialize=False)),
                ('seq', models.BigIntegerField(default=0)),
                ('hash', models.CharField(blank=True, default='', max_length=64)),
                ('problem', models.CharField(blank=True, default='', max_length=300)),
            ],
        ),
        migrations.CreateModel(
            name='FormerKey',
            fields=[
                ('name', models.CharField(max_length=16, primary_key=True, serialize=False)),
                ('sealed', models.TextField()),
                ('rotated_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('audit_key', models.CharField(blank=True, default='', max_length=200)),
            ],
        ),
        migrations.CreateModel(
            name='IdentityProvider',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.CharField(max_length=40, unique=True, validators=[django.core.validators.RegexValidator('^[a-z0-9]+(?:-[a-z0-9]+)*\\Z')])),
                ('kind', models.CharField(choices=[('oidc', 'OpenID Connect'), ('google', 'Google'), ('gitlab', 'GitLab'), ('github', 'GitHub'), ('saml', 'SAML'), ('scim', 'SCIM')], max_length=8)),
                ('name', models.CharField(max_length=60)),
                ('server_url', models.CharField(blank=True, max_length=500)),
                ('client_id', models.CharField(blank=True, max_length=200)),
                ('secret', models.TextField(blank=True)),
                ('metadata', models.JSONField(default=dict)),
                ('domains', models.JSONField(default=list)),
                ('trusts_email', models.BooleanField(default=False)),
                ('allows_signup', models.BooleanField(default=False)),
                ('counts_as_mfa', models.BooleanField(default=False)),
                ('is_enabled', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name='RetentionLimit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('session_days', models.PositiveIntegerField(null=True)),
                ('output_days', models.PositiveIntegerField(null=True)),
                ('audit_days', models.PositiveIntegerField(null=True)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.CharField(default=teams.models.team.new_team_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('slug', models.CharField(max_length=40, unique=True, validators=[django.core.validators.RegexValidator('^[a-z0-9]+(?:-[a-z0-9]+)*\\Z', 'Use only lowercase letters, digits and single hyphens.')])),
                ('name', models.CharField(max_length=80)),
                ('config', opencode_web.lib.fields.OrderedJSONField(blank=True, default=dict)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('budgets_changed_at', models.DateTimeField(null=True)),
                ('has_budgets', models.BooleanField(default=False)),
                ('allows_unpriced_models', models.BooleanField(default=False)),
                ('own_accounts', models.CharField(choices=[('never', 'Not allowed'), ('team', 'With providers used by the team'), ('any', 'With any provider in the catalog')], default='any', max_length=8)),
                ('emergency_until', models.DateTimeField(null=True)),
                ('instance_requires_mfa', models.BooleanField(default=False)),
                ('instance_requires_sso', models.BooleanField(default=False)),
                ('requires_mfa', models.BooleanField(default=False)),
                ('requires_sso', models.BooleanField(default=False)),
                ('hides_keys', models.BooleanField(db_default=True, default=True)),
                ('max_commands', models.PositiveIntegerField(blank=True, null=True)),
                ('max_disk_mb', models.PositiveIntegerField(blank=True, null=True)),
                ('max_terminals', models.PositiveIntegerField(blank=True, null=True)),
                ('max_turns', models.PositiveIntegerField(blank=True, null=True)),
                ('sso_provider', models.CharField(blank=True, db_default='', default='', max_length=40)),
                ('needs_approval', models.JSONField(blank=True, default=list)),
                ('access_version', models.PositiveIntegerField(db_default=0, default=0)),
            ],
        ),
        migrations.CreateModel(
            name='SignInPolicy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('requires_mfa', models.BooleanField(default=False)),
                ('requires_sso', models.BooleanField(default=False)),
                ('exempts_operators', models.BooleanField(default=True)),
                ('team_creation', models.CharField(blank=True, choices=[('operators', 'Operators'), ('everyone', 'Everyone')], default='', max_length=10)),
            ],
        ),
        migrations.CreateModel(
            name='AllowedAddress',
            fields=[
                ('place', models.CharField(max_length=300, primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Budget',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('scope', models.CharField(choices=[('instance', 'Server'), ('team', 'Whole team'), ('project', 'Project'), ('each', 'Each member'), ('service', 'Each service account'), ('member', 'Member'), ('model', 'Model')], max_length=8)),
                ('amount', models.DecimalField(decimal_places=2, max_digits=12)),
                ('is_soft', models.BooleanField(default=False)),
                ('period', models.CharField(choices=[('day', 'Day'), ('week', 'Week'), ('month', 'Month')], default='month', max_length=8)),
                ('project', models.CharField(blank=True, default='', max_length=40)),
                ('warn_percent', models.PositiveSmallIntegerField(db_default=80, default=80)),
                ('model', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='budgets', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='budgets', to='teams.team')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('amount__gte', 0)), name='teams_budget_amount'), models.UniqueConstraint(fields=('team', 'user', 'period', 'is_soft'), name='teams_budget_of_member_once'), models.UniqueConstraint(condition=models.Q(('team', None)), fields=('period', 'is_soft'), name='teams_budget_of_instance_once'), models.UniqueConstraint(condition=models.Q(('user', None)), fields=('team', 'scope', 'project', 'model', 'period', 'is_soft'), name='teams_budget_once'), models.CheckConstraint(condition=models.Q(models.Q(('model', ''), ('project', ''), ('scope', 'instance'), ('team', None), ('user', None)), models.Q(('model', ''), ('project', ''), ('scope', 'member'), ('team__isnull', False), ('user__isnull', False)), models.Q(('model', ''), ('scope', 'project'), ('team__isnull', False), ('user', None), models.Q(('project', ''), _negated=True)), models.Q(('project', ''), ('scope', 'model'), ('team__isnull', False), ('user', None), models.Q(('model', ''), _negated=True)), models.Q(('model', ''), ('project', ''), ('scope__in', ('team', 'each', 'service')), ('team__isnull', False), ('user', None)), _connector='OR'), name='teams_budget_scope')],
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
        migrations.CreateModel(
            name='FailedAttempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('password', 'Password'), ('token', 'Token'), ('invite', 'Invite'), ('setup', 'Setup'), ('mfa', 'Mfa'), ('reset', 'Reset')], max_length=8)),
                ('address', models.CharField(max_length=45)),
                ('account', models.CharField(blank=True, max_length=64)),
                ('failures', models.FloatField(default=0)),
                ('failed_at', models.DateTimeField(db_index=True)),
                ('blocked_until', models.DateTimeField(null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('account', 'address', 'kind'), name='teams_failed_attempt_once')],
            },
        ),
        migrations.CreateModel(
            name='IdempotencyKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('caller', models.CharField(max_length=60)),
                ('key', models.CharField(max_length=255)),
                ('digest', models.CharField(max_length=64)),
                ('state', models.CharField(choices=[('running', 'Running'), ('done', 'Done')], default='running', max_length=7)),
                ('held_until', models.DateTimeField()),
                ('message_id', models.CharField(default=teams.models.idempotency.new_message_id, max_length=40)),
                ('status', models.PositiveSmallIntegerField(default=0)),
                ('content_type', models.CharField(blank=True, max_length=100)),
                ('answer', models.TextField(blank=True)),
                ('withheld', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('caller', 'key'), name='teams_idempotency_once')],
            },
        ),
        migrations.CreateModel(
            name='ResetLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='RetentionPolicy',
            fields=[
                ('session_days', models.PositiveIntegerField(null=True)),
                ('output_days', models.PositiveIntegerField(null=True)),
                ('audit_days', models.PositiveIntegerField(null=True)),
                ('team', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='retention', serialize=False, to='teams.team')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Reservation',
            fields=[
                ('id', models.CharField(max_length=120, primary_key=True, serialize=False)),
                ('provider', models.TextField(blank=True)),
                ('model', models.TextField(blank=True)),
                ('prompt', models.CharField(blank=True, max_length=60)),
                ('amount', models.DecimalField(decimal_places=10, default=Decimal('0'), max_digits=18)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('project', models.CharField(blank=True, default='', max_length=40)),
                ('api_model', models.TextField(blank=True, db_default='', default='')),
                ('user', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reservations', to='teams.team')),
            ],
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('owner', 'Owner'), ('admin', 'Admin'), ('member', 'Member'), ('viewer', 'Viewer'), ('billing', 'Billing')], default='member', max_length=8)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField(null=True)),
                ('is_approver', models.BooleanField(default=False)),
                ('reason', models.TextField(blank=True, default='')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='teams.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team', 'user'), name='teams_membership_once'), models.CheckConstraint(condition=models.Q(('role__in', ['owner', 'admin', 'member', 'viewer', 'billing'])), name='teams_membership_role')],
            },
        ),
        migrations.CreateModel(
            name='LegalHold',
            fields=[
                ('id', models.CharField(default=teams.models.hold.new_hold_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('scope', models.CharField(choices=[('team', 'Team'), ('session', 'Session'), ('person', 'Person')], max_length=7)),
                ('session', models.CharField(blank=True, default='', max_length=40)),
                ('reason', models.CharField(max_length=500)),
                ('set_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('released_at', models.DateTimeField(null=True)),
                ('released_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('set_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='holds', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='holds', to='teams.team')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('released_at', None)), fields=['team'], name='teams_hold_live')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('scope', 'team'), ('session', ''), ('team__isnull', False), ('user', None)), models.Q(('scope', 'session'), ('team__isnull', False), ('user', None), models.Q(('session', ''), _negated=True)), models.Q(('scope', 'person'), ('session', ''), ('user__isnull', False)), _connector='OR'), name='teams_hold_scope')],
            },
        ),
        migrations.CreateModel(
            name='Invite',
            fields=[
                ('id', models.CharField(default=teams.models.invite.new_invite_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('role', models.CharField(choices=[('owner', 'Owner'), ('admin', 'Admin'), ('member', 'Member'), ('viewer', 'Viewer'), ('billing', 'Billing')], default='member', max_length=8)),
                ('email', models.EmailField(blank=True, max_length=254)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('accepted_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('accepted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invites', to='teams.team')),
            ],
        ),
        migrations.CreateModel(
            name='IdentityRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('claim', models.CharField(max_length=200)),
                ('value', models.CharField(max_length=300)),
                ('role', models.CharField(choices=[('owner', 'Owner'), ('admin', 'Admin'), ('member', 'Member'), ('viewer', 'Viewer'), ('billing', 'Billing')], max_length=8)),
                ('provider', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rules', to='teams.identityprovider')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='teams.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('provider', 'claim', 'value', 'team'), name='teams_identity_rule_once')],
            },
        ),
        migrations.CreateModel(
            name='BudgetRequest',
            fields=[
                ('id', models.CharField(default=teams.models.budget.new_request_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('session', models.CharField(blank=True, default='', max_length=40)),
                ('start', models.DateField()),
                ('amount', models.DecimalField(decimal_places=2, max_digits=12)),
                ('reason', models.CharField(max_length=500)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('status', models.CharField(choices=[('pending', 'Waiting'), ('granted', 'Granted'), ('denied', 'Denied')], default='pending', max_length=8)),
                ('granted', models.DecimalField(decimal_places=2, default=Decimal('0'), max_digits=12)),
                ('answer', models.CharField(blank=True, default='', max_length=500)),
                ('answered_at', models.DateTimeField(null=True)),
                ('is_put_away', models.BooleanField(default=False)),
                ('answered_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('asker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('budget', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='requests', to='teams.budget')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='budget_requests', to='teams.team')),
            ],
            options={
                'indexes': [models.Index(fields=['team', 'status'], name='budget_requests_of_team')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status', 'pending')), fields=('budget', 'asker', 'start'), name='teams_budget_request_once')],
            },
        ),
        migrations.CreateModel(
            name='BudgetNotice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('threshold', models.PositiveSmallIntegerField()),
                ('spent', models.DecimalField(decimal_places=10, max_digits=18)),
                ('limit', models.DecimalField(decimal_places=2, max_digits=12)),
                ('time', models.DateTimeField()),
                ('start', models.DateField()),
                ('is_soft', models.BooleanField(default=False)),
                ('period', models.CharField(choices=[('day', 'Day'), ('week', 'Week'), ('month', 'Month')], default='month', max_length=8)),
                ('project', models.CharField(blank=True, default='', max_length=40)),
                ('model', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('is_told', models.BooleanField(db_default=False, default=False)),
                ('put_away_by', models.ManyToManyField(related_name='+', to=settings.AUTH_USER_MODEL)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='budget_notices', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='budget_notices', to='teams.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team', 'user', 'period', 'is_soft', 'start', 'threshold'), name='teams_notice_of_member_once'), models.UniqueConstraint(condition=models.Q(('team', None)), fields=('period', 'is_soft', 'start', 'threshold'), name='teams_notice_of_instance_once'), models.UniqueConstraint(condition=models.Q(('user', None)), fields=('team', 'project', 'model', 'period', 'is_soft', 'start', 'threshold'), name='teams_notice_of_team_once')],
            },
        ),
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('actor_email', models.EmailField(blank=True, max_length=254)),
                ('action', models.CharField(max_length=60)),
                ('target_type', models.CharField(blank=True, max_length=40)),
                ('target_id', models.CharField(blank=True, max_length=80)),
                ('data', models.JSONField(default=dict)),
                ('ip', models.GenericIPAddressField(null=True)),
                ('time', models.DateTimeField(default=django.utils.timezone.now)),
                ('actor_kind', models.CharField(blank=True, choices=[('person', 'Person'), ('service', 'Service account'), ('operator', 'Operator'), ('server', 'Server')], default='', max_length=8)),
                ('client', models.CharField(blank=True, default='', max_length=200)),
                ('digest', models.CharField(default='', max_length=64)),
                ('hash', models.CharField(blank=True, default='', max_length=64)),
                ('names', models.JSONField(default=dict)),
                ('personal_hash', models.CharField(default='', max_length=64)),
                ('prev_hash', models.CharField(blank=True, default='', max_length=64)),
                ('salt', models.CharField(blank=True, default='', max_length=32)),
                ('seq', models.BigIntegerField(null=True)),
                ('token', models.CharField(blank=True, default='', max_length=40)),
                ('actor', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='teams.team')),
            ],
            options={
                'indexes': [models.Index(fields=['team', '-id'], name='teams_audit_team_newest'), models.Index(fields=['target_id', 'action'], name='teams_audit_of_target')],
                'constraints': [models.UniqueConstraint(fields=('team', 'seq'), name='teams_audit_team_seq'), models.UniqueConstraint(condition=models.Q(('team', None)), fields=('seq',), name='teams_audit_server_seq')],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.CharField(default=teams.models.token.new_token_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=80)),
                ('prefix', models.CharField(db_index=True, max_length=12)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('scopes', models.JSONField(default=list)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('client', models.CharField(blank=True, default='', max_length=64)),
                ('renew_by', models.DateTimeField(blank=True, null=True)),
                ('renewals', models.PositiveIntegerField(default=0)),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to='teams.team')),
            ],
        ),
        migrations.AddField(
            model_name='user',
            name='service_of',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='service_accounts', to='teams.team'),
        ),
        migrations.CreateModel(
            name='SignedHead',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chain', models.CharField(max_length=40)),
                ('seq', models.BigIntegerField()),
                ('hash', models.CharField(max_length=64)),
                ('time', models.DateTimeField(default=django.utils.timezone.now)),
                ('is_checkpoint', models.BooleanField(default=False)),
                ('public_key', models.CharField(max_length=64)),
                ('signature', models.CharField(max_length=128)),
            ],
            options={
                'indexes': [models.Index(fields=['chain', '-seq'], name='teams_signed_head_newest')],
            },
        ),
        migrations.CreateModel(
            name='Spend',
            fields=[
                ('id', models.CharField(max_length=120, primary_key=True, serialize=False)),
                ('cost', models.DecimalField(decimal_places=10, default=Decimal('0'), max_digits=18)),
                ('start', models.DateField()),
                ('project', models.CharField(blank=True, default='', max_length=40)),
                ('period', models.CharField(choices=[('day', 'Day'), ('week', 'Week'), ('month', 'Month')], default='month', max_length=8)),
                ('model', models.TextField(blank=True, db_default='', default='')),
                ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='teams.team')),
                ('user', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['team', 'start'], name='spend_of_team'), models.Index(condition=models.Q(('model', ''), ('project', ''), ('user', None)), fields=['start', 'period'], name='spend_of_all')],
            },
        ),
        migrations.CreateModel(
            name='TeamExport',
            fields=[
                ('id', models.CharField(default=teams.models.export.new_export_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='waiting', max_length=7)),
                ('done', models.PositiveIntegerField(default=0)),
                ('total', models.PositiveIntegerField(default=0)),
                ('host', models.CharField(blank=True, default='', max_length=100)),
                ('size_bytes', models.BigIntegerField(default=0)),
                ('again', models.JSONField(default=list)),
                ('problem', models.CharField(blank=True, default='', max_length=500)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('expires_at', models.DateTimeField()),
                ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='exports', to='teams.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ('waiting', 'running'))), fields=('team',), name='teams_export_once')],
            },
        ),
        migrations.CreateModel(
            name='TeamGroup',
            fields=[
                ('id', models.CharField(default=teams.models.group.new_team_group_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=80)),
                ('is_approver', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('members', models.ManyToManyField(related_name='groups', to='teams.membership')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='groups', to='teams.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team', 'name'), name='teams_group_name_once')],
            },
        ),
        migrations.CreateModel(
            name='UsageEntry',
            fields=[
                ('id', models.CharField(max_length=70, primary_key=True, serialize=False)),
                ('session', models.CharField(db_index=True, max_length=40)),
                ('project', models.CharField(max_length=40)),
                ('prompt', models.CharField(blank=True, max_length=60)),
                ('provider', models.TextField(blank=True)),
                ('model', models.TextField(blank=True)),
                ('input', models.BigIntegerField()),
                ('output', models.BigIntegerField()),
                ('reasoning', models.BigIntegerField()),
                ('cache_read', models.BigIntegerField()),
                ('cache_write', models.BigIntegerField()),
                ('cost', models.DecimalField(decimal_places=10, default=Decimal('0'), max_digits=18)),
                ('time', models.DateTimeField()),
                ('basis', models.CharField(choices=[('counted', 'Counted'), ('billed', 'Billed'), ('bound', 'Bound'), ('unpriced', 'Unpriced'), ('personal', 'Personal')], default='counted', max_length=8)),
                ('api_model', models.TextField(blank=True, db_default='', default='')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='usage', to='teams.team')),
                ('user', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='usage', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['team', 'time'], name='usage_of_team'), models.Index(fields=['time'], name='usage_of_all')],
            },
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
            name='Announcement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.CharField(max_length=500)),
                ('level', models.CharField(choices=[('info', 'Information'), ('warn', 'Warning'), ('bad', 'Outage')], default='info', max_length=4)),
                ('stops_prompts', models.BooleanField(default=False)),
                ('starts_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('ends_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['ends_at'], name='announcement_end')],
                'constraints': [models.CheckConstraint(condition=models.Q(('ends_at', None), ('ends_at__gt', models.F('starts_at')), _connector='OR'), name='announcement_span')],
            },
        ),
        migrations.CreateModel(
            name='Erasure',
            fields=[
                ('id', models.CharField(default=teams.models.erasure.new_erasure_id, editable=False, max_length=40, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('person', 'Person'), ('project', 'Project'), ('team', 'Team')], max_length=7)),
                ('subject', models.CharField(max_length=40)),
                ('pseudonym', models.CharField(blank=True, default='', max_length=40)),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='waiting', max_length=7)),
                ('lease_until', models.DateTimeField(null=True)),
                ('done', models.PositiveIntegerField(default=0)),
                ('total', models.PositiveIntegerField(default=0)),
                ('report', models.JSONField(default=dict)),
                ('problem', models.CharField(blank=True, default='', max_length=500)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('ended_at', models.DateTimeField(null=True)),
                ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('state__in', ('waiting', 'running'))), fields=('kind', 'subject'), name='teams_erasure_once')],
            },
        ),
        migrations.CreateModel(
            name='ManagedMembership',
            fields=[
                ('membership', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to='teams.membership')),
                ('provider', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='teams.identityprovider')),
            ],
        ),
        migrations.AddConstraint(
            model_name='user',
            constraint=models.UniqueConstraint(django.db.models.functions.text.Lower('email'), name='teams_user_email_any_case'),
        ),
        migrations.RunPython(_audit.create, _audit.drop),
    ]
