import django.db.models.deletion
import django.utils.timezone
import teams.models.budget
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('teams', '0020_audit_triggers'),
    ]

    operations = [
        migrations.RenameModel(old_name='MonthlySpend', new_name='Spend'),
        migrations.RemoveIndex(model_name='spend', name='spend_of_team'),
        migrations.RenameField(model_name='spend', old_name='month', new_name='start'),
        migrations.AlterField(
            model_name='spend',
            name='id',
            field=models.CharField(max_length=120, primary_key=True, serialize=False),
        ),
        migrations.AddField(
            model_name='spend',
            name='project',
            field=models.CharField(blank=True, default='', max_length=40),
        ),
        migrations.AddField(
            model_name='spend',
            name='period',
            field=models.CharField(choices=[('day', 'Day'), ('week', 'Week'), ('month', 'Month')], default='month', max_length=8),
        ),
        migrations.AlterField(
            model_name='spend',
            name='team',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='teams.team'),
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
            ],
        ),
        migrations.RemoveConstraint(
            model_name='budget',
            name='teams_budget_once',
        ),
        migrations.RemoveConstraint(
            model_name='budget',
            name='teams_budget_of_member_once',
        ),
        migrations.RemoveConstraint(
            model_name='budget',
            name='teams_budget_scope',
        ),
        migrations.RemoveConstraint(
            model_name='budgetnotice',
            name='teams_notice_of_team_once',
        ),
        migrations.RemoveConstraint(
            model_name='budgetnotice',
            name='teams_notice_of_member_once',
        ),
        migrations.RenameField(
            model_name='budgetnotice',
            old_name='month',
            new_name='start',
        ),
        migrations.AddField(
            model_name='budget',
            name='is_soft',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='budget',
            name='period',
            field=models.CharField(choices=[('day', 'Day'), ('week', 'Week'), ('month', 'Month')], default='month', max_length=8),
        ),
        migrations.AddField(
            model_name='budget',
            name='project',
            field=models.CharField(blank=True, default='', max_length=40),
        ),
        migrations.AddField(
            model_name='budgetnotice',
            name='is_soft',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='budgetnotice',
            name='period',
            field=models.CharField(choices=[('day', 'Day'), ('week', 'Week'), ('month', 'Month')], default='month', max_length=8),
        ),
        migrations.AddField(
            model_name='budgetnotice',
            name='project',
            field=models.CharField(blank=True, default='', max_length=40),
        ),
        migrations.AddField(
            model_name='reservation',
            name='project',
            field=models.CharField(blank=True, default='', max_length=40),
        ),
        migrations.AlterField(
            model_name='budget',
            name='scope',
            field=models.CharField(choices=[('instance', 'Server'), ('team', 'Whole team'), ('project', 'Project'), ('each', 'Each member'), ('service', 'Each service account'), ('member', 'Member')], max_length=8),
        ),
        migrations.AlterField(
            model_name='budget',
            name='team',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='budgets', to='teams.team'),
        ),
        migrations.AlterField(
            model_name='budgetnotice',
            name='team',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='budget_notices', to='teams.team'),
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.UniqueConstraint(condition=models.Q(('user', None)), fields=('team', 'scope', 'project', 'period', 'is_soft'), name='teams_budget_once'),
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.UniqueConstraint(fields=('team', 'user', 'period', 'is_soft'), name='teams_budget_of_member_once'),
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.UniqueConstraint(condition=models.Q(('team', None)), fields=('period', 'is_soft'), name='teams_budget_of_instance_once'),
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('project', ''), ('scope', 'instance'), ('team', None), ('user', None)), models.Q(('project', ''), ('scope', 'member'), ('team__isnull', False), ('user__isnull', False)), models.Q(('scope', 'project'), ('team__isnull', False), ('user', None), models.Q(('project', ''), _negated=True)), models.Q(('project', ''), ('scope__in', ('team', 'each', 'service')), ('team__isnull', False), ('user', None)), _connector='OR'), name='teams_budget_scope'),
        ),
        migrations.AddConstraint(
            model_name='budgetnotice',
            constraint=models.UniqueConstraint(condition=models.Q(('user', None)), fields=('team', 'project', 'period', 'is_soft', 'start', 'threshold'), name='teams_notice_of_team_once'),
        ),
        migrations.AddConstraint(
            model_name='budgetnotice',
            constraint=models.UniqueConstraint(fields=('team', 'user', 'period', 'is_soft', 'start', 'threshold'), name='teams_notice_of_member_once'),
        ),
        migrations.AddConstraint(
            model_name='budgetnotice',
            constraint=models.UniqueConstraint(condition=models.Q(('team', None)), fields=('period', 'is_soft', 'start', 'threshold'), name='teams_notice_of_instance_once'),
        ),
        migrations.AddField(
            model_name='budgetrequest',
            name='answered_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='budgetrequest',
            name='asker',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='budgetrequest',
            name='budget',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='requests', to='teams.budget'),
        ),
        migrations.AddField(
            model_name='budgetrequest',
            name='team',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='budget_requests', to='teams.team'),
        ),
        migrations.AddIndex(
            model_name='budgetrequest',
            index=models.Index(fields=['team', 'status'], name='budget_requests_of_team'),
        ),
        migrations.AddConstraint(
            model_name='budgetrequest',
            constraint=models.UniqueConstraint(condition=models.Q(('status', 'pending')), fields=('budget', 'asker', 'start'), name='teams_budget_request_once'),
        ),
        migrations.AddIndex(
            model_name='spend',
            index=models.Index(condition=models.Q(('project', ''), ('user', None)), fields=['start', 'period'], name='spend_of_all'),
        ),
        migrations.AddIndex(
            model_name='spend',
            index=models.Index(fields=['team', 'start'], name='spend_of_team'),
        ),
    ]
