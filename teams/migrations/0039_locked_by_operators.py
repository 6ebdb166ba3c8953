from django.db import migrations


def keep_locks(apps, schema_editor):
    """Lock what operators had deactivated, as far as the audit log still tells of it."""
    user, entry = apps.get_model("teams", "User"), apps.get_model("teams", "AuditEntry")
    for account in user.objects.filter(is_active=False, service_of=None).only("pk"):
        told = entry.objects.filter(
            action="user.deactivated", target_type="user", target_id=str(account.pk)
        )
        newest = told.order_by("-time", "-pk").first()
        if newest is not None and newest.actor_id is not None:
            user.objects.filter(pk=account.pk).update(is_locked=True)


class Migration(migrations.Migration):

    dependencies = [
        ('teams', '0038_locked_account'),
    ]

    operations = [
        migrations.RunPython(keep_locks, migrations.RunPython.noop),
    ]
