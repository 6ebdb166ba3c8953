from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('teams', '0039_locked_by_operators'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='budget',
            name='teams_budget_once',
        ),
        migrations.RemoveConstraint(
            model_name='budget',
            name='teams_budget_scope',
        ),
        migrations.RemoveConstraint(
            model_name='budgetnotice',
            name='teams_notice_of_team_once',
        ),
        migrations.RemoveIndex(
            model_name='spend',
            name='spend_of_all',
        ),
        migrations.AddField(
            model_name='budget',
            name='model',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
        migrations.AddField(
            model_name='budgetnotice',
            name='model',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
        migrations.AddField(
            model_name='reservation',
            name='api_model',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='spend',
            name='model',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='usageentry',
            name='api_model',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AlterField(
            model_name='budget',
            name='scope',
            field=models.CharField(choices=[('instance', 'Server'), ('team', 'Whole team'), ('project', 'Project'), ('each', 'Each member'), ('service', 'Each service account'), ('member', 'Member'), ('model', 'Model')], max_length=8),
        ),
        migrations.AddIndex(
            model_name='spend',
            index=models.Index(condition=models.Q(('model', ''), ('project', ''), ('user', None)), fields=['start', 'period'], name='spend_of_all'),
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.UniqueConstraint(condition=models.Q(('user', None)), fields=('team', 'scope', 'project', 'model', 'period', 'is_soft'), name='teams_budget_once'),
        ),
        migrations.AddConstraint(
            model_name='budget',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('model', ''), ('project', ''), ('scope', 'instance'), ('team', None), ('user', None)), models.Q(('model', ''), ('project', ''), ('scope', 'member'), ('team__isnull', False), ('user__isnull', False)), models.Q(('model', ''), ('scope', 'project'), ('team__isnull', False), ('user', None), models.Q(('project', ''), _negated=True)), models.Q(('project', ''), ('scope', 'model'), ('team__isnull', False), ('user', None), models.Q(('model', ''), _negated=True)), models.Q(('model', ''), ('project', ''), ('scope__in', ('team', 'each', 'service')), ('team__isnull', False), ('user', None)), _connector='OR'), name='teams_budget_scope'),
        ),
        migrations.AddConstraint(
            model_name='budgetnotice',
            constraint=models.UniqueConstraint(condition=models.Q(('user', None)), fields=('team', 'project', 'model', 'period', 'is_soft', 'start', 'threshold'), name='teams_notice_of_team_once'),
        ),
    ]
