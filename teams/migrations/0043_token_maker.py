from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("teams", "0042_token_client")]

    operations = [
        migrations.AddField(
            model_name="apitoken",
            name="made_by",
            field=models.ForeignKey(
                null=True,
                on_delete=models.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
    ]
