from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from django.conf import settings

from sessions.config.effective import project_limits
from sessions.config.network import Network, project_network
from sessions.git.places import lent_objects
from sessions.models import Project, Session
from sessions.sandboxes.places import TeamPlaces
from sessions.secrets import project_redactor
from teams.limits import most_commands
from tools.sandbox.base import Sandbox
from tools.sandbox.hosts import Reach
from tools.sandbox.limits import Limits
from tools.sandbox.places import ANY_NUMBER, Places
from tools.sandbox.select import select_sandbox

_MIB = 1024 * 1024


def project_sandbox(
    project: Project,
    *,
    worktree: Path,
    session_dir: Path,
    lent: tuple[Path, ...] = (),
    isolated: bool = False,
    places: Places = ANY_NUMBER,
) -> Sandbox:
    """The sandbox for a folder of a project: limits, network, secrets. Asks the database.

    `session_dir` gets its home and tmp; `lent` are folders that may be read beside the worktree.
    An `isolated` one has no network and no secrets.
    """
    network = Network(Reach.NONE) if isolated else project_network(project)
    redactor = project_redactor(project.pk)
    return select_sandbox(
        worktree=worktree,
        session_dir=session_dir,
        network=network.reach is Reach.OPEN,
        hosts=network.hosts,
        redactor=redactor.withheld() if isolated else redactor,
        allow_unsafe=settings.UNSAFE_SANDBOX,
        hidden=(settings.DATA_DIR, settings.BASE_DIR),
        limits=replace(command_limits(project), places=places),
        cgroup=settings.SANDBOX_CGROUP,
        lent=lent,
    )


def sandbox_for(session: Session, folder: str = "") -> Sandbox:
    """The sandbox of a session: its worktree, and a home of its own below the data folder.

    `folder` is shown in place of the worktree. One query.
    """
    most = most_commands(session.project.team)
    return project_sandbox(
        session.project,
        worktree=Path(folder or session.worktree),
        session_dir=settings.DATA_DIR / "sessions" / session.pk,
        lent=(lent_objects(session.project_id),) if session.folder else (),
        isolated=session.is_read_only,
        places=TeamPlaces(session.pk, session.project.team_id, most) if most else ANY_NUMBER,
    )


def command_limits(project: Project) -> Limits:
    """What one command may use in a project: the server's limits, or lower ones of its team."""
    ours = project_limits(project)
    server = Limits(
        memory_bytes=settings.SANDBOX_MEMORY_MB * _MIB,
        processes=settings.SANDBOX_PROCESSES,
        cpu_s=settings.SANDBOX_CPU_S,
        file_bytes=settings.SANDBOX_FILE_MB * _MIB,
        home_bytes=settings.SANDBOX_HOME_MB * _MIB,
        free_disk_bytes=settings.SANDBOX_FREE_DISK_MB * _MIB,
    )
    memory = ours.command_memory_mb
    return server.lowered(
        memory_bytes=None if memory is None else memory * _MIB,
        processes=ours.command_processes,
    )
