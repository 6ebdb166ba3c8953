"""The Celery tasks of exports: nothing but calls. A message may come twice or never."""

from __future__ import annotations

from celery import shared_task

from opencode_web.transfer import jobs


@shared_task(name="opencode_web.export_team")
def export(export_id: str) -> None:
    """Make an archive of a team."""
    jobs.run_export(export_id)


@shared_task(name="opencode_web.go_on_with_exports")
def go_on() -> None:
    """Begin exports that were forgotten, and remove the files of old ones."""
    jobs.go_on_with_exports()
