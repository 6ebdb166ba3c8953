from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("teams", "0044_fill_token_maker")]

    operations = [
        migrations.AddField(
            model_name="apitoken",
            name="renew_by",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="apitoken",
            name="renewals",
            field=models.PositiveIntegerField(default=0),
        ),
    ]
