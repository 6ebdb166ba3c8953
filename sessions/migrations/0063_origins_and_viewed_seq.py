from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import OuterRef, Subquery


def take_for_current(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """What was viewed before counts as viewed now."""
    sessions = apps.get_model("agent_sessions", "Session").objects.filter(pk=OuterRef("session"))
    viewed = apps.get_model("agent_sessions", "ViewedFile").objects.all()
    viewed.update(seq=Subquery(sessions.values("seq")[:1]))


class Migration(migrations.Migration):
    dependencies = [("agent_sessions", "0062_compared_sessions")]

    operations = [
        migrations.AddField(
            "session", "origin", models.CharField(blank=True, default="", max_length=40),
            preserve_default=False,
        ),
        migrations.AddField("viewedfile", "seq", models.BigIntegerField(default=0)),
        migrations.RunPython(take_for_current, migrations.RunPython.noop),
    ]
