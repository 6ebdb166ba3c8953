from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("teams", "0046_budget_notice_is_told"),
    ]

    operations = [
        migrations.AddField(
            model_name="erasure",
            name="failing_since",
            field=models.DateTimeField(null=True),
        ),
    ]
