"""When commands last had the secrets of a project, and of its team."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from sessions.models import Project, ProjectSecret
from sessions.secrets import team_secrets_of

# So often at most is it written down.
EVERY = timedelta(hours=1)


def mark_secrets_used(project: Project) -> None:
    """A command of an agent gets them now. Two statements, which mostly change nothing."""
    now = timezone.now()
    is_old = Q(used_at=None) | Q(used_at__lt=now - EVERY)
    own = ProjectSecret.objects.filter(project=project)
    hidden = own.values("name")
    own.filter(is_old).update(used_at=now)
    due = team_secrets_of(project).filter(is_old).exclude(name__in=hidden)
    for row in due:
        row.used_at = now
        row.save(update_fields=["used_at"])
