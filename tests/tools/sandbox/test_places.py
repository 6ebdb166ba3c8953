from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tools.sandbox.base import Command
from tools.sandbox.bubblewrap import BubblewrapSandbox
from tools.sandbox.places import Places

PROGRAM = "until mkdir only; do exit 1; done; sleep 0.1; rmdir only"


async def test_commands_beyond_the_limit_of_their_owner_wait_in_line(
    sandbox: BubblewrapSandbox,
) -> None:
    async def drop(_: bytes) -> None:
        pass

    async def run(owner: str, program: str) -> int | None:
        limited = replace(sandbox, limits=replace(sandbox.limits, places=Places(owner, 1)))
        command = Command(("sh", "-c", program), sandbox.layout.worktree, 20)
        return (await limited.run(command, on_output=drop)).code

    # Two at the same time would find the folder of the other.
    assert await asyncio.gather(*(run("acme", PROGRAM) for _ in range(4))) == [0] * 4
    long = asyncio.create_task(run("acme", "sleep 60"))
    await asyncio.sleep(0.1)
    waiting = asyncio.create_task(run("acme", "true"))
    assert await run("globex", "true") == 0
    assert not waiting.done()
    waiting.cancel()
    long.cancel()
    with pytest.raises(asyncio.CancelledError):
        await long
    # Who gave up while waiting has left no gap.
    assert await run("acme", "true") == 0
