"""Name who has given sessions words, as far as the audit log and their forks still have it."""

from collections import defaultdict

from django.db import migrations

_BATCH = 500


def fill(apps, editor):
    model = {
        name: apps.get_model("agent_sessions", name)
        for name in ("Session", "QuestionRequest", "PermissionRequest")
    }
    entries = apps.get_model("teams", "AuditEntry").objects.filter(target_type="session")
    users = set(apps.get_model("teams", "User").objects.values_list("pk", flat=True))
    written, answered, sources = defaultdict(set), defaultdict(set), defaultdict(set)
    edits = ("prompt.changed", "part.edited", "session.imported")
    rows = entries.filter(action__in=edits).values_list("target_id", "actor_id", "data")
    for pk, user, data in rows.iterator():
        changes = data.get("changes")
        if not isinstance(changes, list) or "text" in changes:
            written[pk].add(user)
    questions = model["QuestionRequest"].objects.filter(status="answered")
    advice = model["PermissionRequest"].objects.exclude(feedback="")
    for found in (questions, advice):
        for pk, user in found.values_list("session_id", "replied_by_id").iterator():
            answered[pk].add(user)
    forks = entries.filter(action="session.forked").values_list("target_id", "data")
    for pk, data in forks.iterator():
        sources[pk].add(data.get("source"))
    through, batch = model["Session"].writers.through, []
    for pk, origin in model["Session"].objects.values_list("pk", "origin").iterator():
        before, new = set(), {*sources[pk], origin} - {None, ""}
        while new:
            before |= new
            new = {one for known in new for one in sources.get(known, ())} - before
        said = written.get(pk, set()).union(
            *(written.get(one, set()) | answered.get(one, set()) for one in before)
        )
        batch += [through(session_id=pk, user_id=user) for user in said & users]
        if len(batch) >= _BATCH:
            through.objects.bulk_create(batch, ignore_conflicts=True)
            batch = []
    through.objects.bulk_create(batch, ignore_conflicts=True)


class Migration(migrations.Migration):

    dependencies = [
        ("agent_sessions", "0080_session_writers"),
        ("teams", "0044_fill_token_maker"),
    ]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
