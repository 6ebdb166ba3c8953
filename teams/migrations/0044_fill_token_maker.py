"""Name who has made each token, as far as the audit log still has it."""

from django.db import migrations
from django.db.models import F, OuterRef, Subquery


def fill(apps, editor):
    tokens = apps.get_model("teams", "ApiToken").objects.all()
    users = apps.get_model("teams", "User").objects.values("pk")
    made = apps.get_model("teams", "AuditEntry").objects.filter(
        action="token.created", target_id=OuterRef("pk"), actor__in=users
    )
    tokens.update(made_by=Subquery(made.order_by("pk").values("actor")[:1]))
    tokens.filter(made_by=None, user__service_of=None).update(made_by=F("user"))


class Migration(migrations.Migration):

    dependencies = [("teams", "0043_token_maker")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
