"""What a worker writes about the files of a project while it prepares them."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from sessions.events.live import publish_project
from sessions.models import Project

# A clone that nobody has begun after this long was lost with its worker.
_FORGOTTEN_AFTER = timedelta(seconds=60)


def find_preparing(project_id: str) -> Project | None:
    """Returns: None when the project is gone, is ready, or failed meanwhile."""
    return Project.objects.filter(
        pk=project_id, status=Project.Status.PREPARING, host=settings.HOST_NAME
    ).first()


def is_gone(project_id: str) -> bool:
    """Whether somebody has deleted the project."""
    return not Project.objects.filter(pk=project_id).exists()


def forgotten_projects() -> list[Project]:
    """Returns: projects whose preparation should long have begun. Asking twice does no harm."""
    before = timezone.now() - _FORGOTTEN_AFTER
    return list(Project.objects.filter(status=Project.Status.PREPARING, created_at__lt=before))


def report_progress(project: Project, detail: str) -> bool:
    """Tell how far it is. Returns: False when the project is gone, so that the work can end."""
    return _settle(project, Project.Status.PREPARING, detail)


def mark_ready(project: Project) -> bool:
    """The files are complete. Returns: False when the project is gone."""
    return _settle(project, Project.Status.READY, "")


def mark_failed(project: Project, reason: str) -> bool:
    """Preparing ended without files. `reason` is a sentence for people and holds no secret."""
    return _settle(project, Project.Status.FAILED, reason)


def _settle(project: Project, status: Project.Status, detail: str) -> bool:
    rows = Project.objects.filter(pk=project.pk, status=Project.Status.PREPARING)
    if not rows.update(status=status, status_detail=detail):
        return False
    project.status, project.status_detail = status, detail
    publish_project(project)
    return True
