from __future__ import annotations

from pathlib import Path

from django.conf import settings

from sessions.config.network import project_network
from sessions.git.places import lent_objects
from sessions.models import Project, Session
from sessions.sandboxes.command_limits import command_limits
from sessions.secrets import project_redactor
from tools.sandbox.base import Sandbox
from tools.sandbox.hosts import Reach
from tools.sandbox.select import select_sandbox


def project_sandbox(
    project: Project, *, worktree: Path, session_dir: Path, lent: tuple[Path, ...] = ()
) -> Sandbox:
    """The sandbox for a folder of a project: limits, network, secrets. Asks the database.

    `session_dir` gets its home and tmp; `lent` are folders that may be read beside the worktree.
    """
    network = project_network(project)
    return select_sandbox(
        worktree=worktree,
        session_dir=session_dir,
        network=network.reach is Reach.OPEN,
        hosts=network.hosts,
        redactor=project_redactor(project.pk),
        allow_unsafe=settings.UNSAFE_SANDBOX,
        hidden=(settings.DATA_DIR, settings.BASE_DIR),
        limits=command_limits(project),
        cgroup=settings.SANDBOX_CGROUP,
        lent=lent,
    )


def sandbox_for(session: Session, folder: str = "") -> Sandbox:
    """The sandbox of a session: its worktree, and a home of its own below the data folder.

    `folder` is shown in place of the worktree. One query.
    """
    return project_sandbox(
        session.project,
        worktree=Path(folder or session.worktree),
        session_dir=settings.DATA_DIR / "sessions" / session.pk,
        lent=(lent_objects(session.project_id),) if session.folder else (),
    )
