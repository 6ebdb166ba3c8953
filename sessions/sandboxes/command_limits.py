from __future__ import annotations

from django.conf import settings

from sessions.config.effective import project_limits
from sessions.models import Project
from tools.sandbox.limits import Limits

_MIB = 1024 * 1024


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
