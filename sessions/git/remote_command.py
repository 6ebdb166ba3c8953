from __future__ import annotations

import asyncio
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from django.conf import settings

from sessions.git.clone_address import Pin
from sessions.git.process import git_environment
from tools.sandbox.process import kill_group


@asynccontextmanager
async def remote_git(
    *arguments: str, cwd: Path, pin: Pin, config: Mapping[str, str], stdout: int = DEVNULL
) -> AsyncIterator[Process]:
    """Run a git command that reaches the network, at an address that was judged.

    Yields: the process, whose errors are piped; at the end all of it is gone.
    Raises: TimeoutError after `CLONE_TIMEOUT_S`.
    """
    process = await asyncio.create_subprocess_exec(
        *("git", *arguments),
        cwd=cwd,
        env=git_environment({**config, **pin.config}, ssh_options=pin.ssh_options),
        stdin=DEVNULL,
        stdout=stdout,
        stderr=PIPE,
        # git starts helpers for the transport: the group is what can be ended as a whole.
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(settings.CLONE_TIMEOUT_S):
            yield process
    finally:
        if process.returncode is None:
            kill_group(process)
            # To its end: git may still write into a folder that is removed next.
            await asyncio.shield(asyncio.ensure_future(process.communicate()))
