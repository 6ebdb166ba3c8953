"""The Celery tasks of this app: nothing but calls. A message may come twice or never."""

from __future__ import annotations

from celery import shared_task

from opencode_web.lib.loop import submit
from sessions import clone, sweep
from sessions.actions.project_files import forgotten_projects
from sessions.runner import run_session
from sessions.runner.lease import runnable_sessions
from sessions.runner.title_request import write_title
from sessions.wake import wake_again, wake_clone, wake_sweep
from sessions.worktrees import remove_managed


@shared_task(name="sessions.run")
def run(session_id: str) -> None:
    """Drain a session on the process's own loop, and hold this pool thread meanwhile."""
    submit(run_session(session_id)).result()


@shared_task(name="sessions.title")
def title(session_id: str) -> None:
    """Have a small model name a session after its first turn."""
    submit(write_title(session_id)).result()


@shared_task(name="sessions.wake_runnable")
def wake_runnable() -> None:
    """Ring again for every session that has something to do and no live owner."""
    for session_id, project in runnable_sessions():
        wake_again(session_id, project)


@shared_task(name="sessions.prepare_project")
def prepare_project(project_id: str, sealed_credential: str = "") -> None:
    """Start the clone of a project's repository on the process's own loop."""
    clone.start_clone(project_id, sealed_credential=sealed_credential)


@shared_task(name="sessions.remove_project_files")
def remove_project_files(project_id: str) -> None:
    """Remove the worktree that the server made for a project that is gone."""
    remove_managed(project_id)


@shared_task(name="sessions.wake_preparing")
def wake_preparing() -> None:
    """Ring again for every project whose preparation was lost with its worker."""
    for project in forgotten_projects():
        wake_clone(project)


@shared_task(name="sessions.sweep_files")
def sweep_files() -> None:
    """Remove the files on this host whose session or project is gone."""
    sweep.sweep_files()


@shared_task(name="sessions.sweep_hosts")
def sweep_hosts() -> None:
    """Have every host sweep its own files."""
    for host in sweep.hosts_with_files():
        wake_sweep(host)
