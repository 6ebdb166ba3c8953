"""Each integration was of a project, whose team it is of."""

from django.db import migrations
from django.db.models import OuterRef, Subquery


def fill(apps, editor):
    projects = apps.get_model("agent_sessions", "Project").objects.filter(pk=OuterRef("project"))
    integrations = apps.get_model("agent_sessions", "Integration").objects.filter(team=None)
    integrations.update(team=Subquery(projects.values("team")[:1]))


class Migration(migrations.Migration):

    dependencies = [("agent_sessions", "0091_slack")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
