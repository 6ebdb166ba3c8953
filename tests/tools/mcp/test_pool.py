from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.tools.mcp.caller import Person
from tests.tools.mcp.servers import living
from tests.tools.sandbox.test_bubblewrap import marked_processes
from tools.errors import ToolError
from tools.mcp.client import ask_for_tools, call_tool
from tools.mcp.content import read_result
from tools.mcp.pool import Kept, Key, Pool
from tools.mcp.stdio import Program
from tools.sandbox.base import Command, Sandbox
from tools.sandbox.select import select_sandbox


@pytest.fixture
def sandbox(tmp_path: Path, worktree: Path) -> Sandbox:
    living(worktree)
    return select_sandbox(worktree=worktree, session_dir=tmp_path / "session", network=False)


@asynccontextmanager
async def pool_of(limit: int = 4, *, idle_s: float = 60) -> AsyncIterator[Pool]:
    pool = Pool(limit, idle_s=idle_s)
    try:
        yield pool
    finally:
        await pool.close()
        assert len(pool) == 0


def kept(pool: Pool, sandbox: Sandbox, session: str = "ses_1", **given: str) -> Kept:
    worktree = sandbox.layout.worktree  # type: ignore[attr-defined]
    command = Command(("python3", "living.py"), worktree, None, env=given)
    key = Key(session, "living", tuple(sorted(given.items())))
    return Kept(pool, key, Program(sandbox, command), 20)


async def said(server: Kept, tool: str, *, timeout_s: float = 20, **given: object) -> str:
    result = await call_tool(server, tool, given, timeout_s=timeout_s, caller=Person())  # type: ignore[arg-type]
    return read_result(result).output


async def test_a_server_remembers_within_a_session_and_nothing_of_another(
    sandbox: Sandbox,
) -> None:
    async with pool_of() as pool:
        first, second = kept(pool, sandbox), kept(pool, sandbox, "ses_2")
        assert len((await ask_for_tools(first, timeout_s=20)).tools) == 14
        assert [await said(first, "count") for _ in range(3)] == ["1", "2", "3"]
        assert await said(second, "count") == "1"
        await pool.end_session("ses_1")
        assert await said(first, "count") == "1"
        assert await said(second, "count") == "2"


async def test_calls_at_the_same_time_share_it(sandbox: Sandbox) -> None:
    async with pool_of() as pool:
        server = kept(pool, sandbox)
        slow = asyncio.create_task(said(server, "slow"))
        counts = await asyncio.gather(*(said(server, "count") for _ in range(4)))
        assert sorted(counts) == ["1", "2", "3", "4"]
        assert await said(server, "last") == "last"
        assert await slow == "first"
        assert len(pool) == 1


async def test_one_that_died_is_started_anew_for_the_next_call(sandbox: Sandbox) -> None:
    async with pool_of() as pool:
        server = kept(pool, sandbox)
        assert await said(server, "count") == "1"
        waiting = asyncio.create_task(said(server, "slow"))
        await asyncio.sleep(0.1)
        with pytest.raises(ToolError, match="exited without a response: it was too much"):
            await said(server, "die")
        # What it worked on is not done again.
        with pytest.raises(ToolError, match="exited without a response: it was too much"):
            await waiting
        assert await said(server, "count") == "1"


async def test_a_call_that_takes_too_long_is_told_of_and_the_server_lives_on(
    sandbox: Sandbox,
) -> None:
    async with pool_of() as pool:
        server = kept(pool, sandbox)
        assert await said(server, "count") == "1"
        with pytest.raises(ToolError, match=r"longer than 0.3 s"):
            await said(server, "slow", timeout_s=0.3)
        heard = json.loads(await said(server, "heard"))
        assert heard == [
            *("initialize", "notifications/initialized", "tools/call", "tools/call"),
            *("notifications/cancelled", "tools/call"),
        ]
        assert await said(server, "count") == "2"


async def test_one_with_another_secret_is_another_server(sandbox: Sandbox) -> None:
    async with pool_of() as pool:
        before, after = kept(pool, sandbox, GIVEN="old"), kept(pool, sandbox, GIVEN="new")
        slow = asyncio.create_task(said(before, "slow"))
        await asyncio.sleep(0.5)
        assert await said(after, "env") == "new"
        # The first is there for what it works on, and nothing else.
        assert len(pool) == 1
        assert not slow.done()
        slow.cancel()
        await asyncio.wait({slow})
        async with asyncio.timeout(10):
            while len(pool._tasks) > 1:
                await asyncio.sleep(0.01)
        assert "old" not in repr(before.key)


async def test_it_ends_without_use(sandbox: Sandbox) -> None:
    async with pool_of(idle_s=0.2) as pool:
        assert await said(kept(pool, sandbox), "count") == "1"
        async with asyncio.timeout(10):
            while len(pool):
                await asyncio.sleep(0.02)
        assert await said(kept(pool, sandbox), "count") == "1"


async def test_the_one_that_was_idle_longest_makes_room(sandbox: Sandbox) -> None:
    async with pool_of(2) as pool:
        servers = [kept(pool, sandbox, f"ses_{number}") for number in range(3)]
        for server in servers:
            await said(server, "count")
        assert {key.session_id for key in pool.kept_keys()} == {"ses_1", "ses_2"}
        # Where all are at work another one serves its call and ends.
        slow = [asyncio.create_task(said(server, "slow")) for server in servers[1:]]
        await asyncio.sleep(0.2)
        assert await said(servers[0], "count") == "1"
        assert await said(servers[0], "count") == "1"
        assert len(pool) == 2
        for task in slow:
            task.cancel()
        await asyncio.wait(slow)


async def test_one_that_is_starting_can_be_ended(sandbox: Sandbox) -> None:
    worktree = sandbox.layout.worktree  # type: ignore[attr-defined]
    program = Program(sandbox, Command(("sleep", "86432"), worktree, None))
    async with pool_of() as pool:
        call = asyncio.create_task(said(Kept(pool, Key("s", "n", ""), program, 60), "count"))
        await asyncio.sleep(0.3)
        await asyncio.wait_for(pool.close(), 10)
        with pytest.raises(ToolError, match="The server was ended"):
            await call
    assert not marked_processes("86432")


async def test_one_that_does_not_greet_is_given_up(sandbox: Sandbox) -> None:
    worktree = sandbox.layout.worktree  # type: ignore[attr-defined]
    program = Program(sandbox, Command(("sleep", "60"), worktree, None))
    async with pool_of() as pool:
        with pytest.raises(ToolError, match="did not start within 1 s"):
            await said(Kept(pool, Key("s", "n", ""), program, 1), "count")
        assert len(pool) == 0


DIES = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, {root!r})
import django; django.setup()
from tests.tools.mcp.test_pool import kept, said
from tools.mcp.pool import Pool
from tools.sandbox.select import select_sandbox

async def main():
    worktree = Path({worktree!r})
    sandbox = select_sandbox(worktree=worktree, session_dir=Path({session!r}), network=False)
    print(await said(kept(Pool(2, idle_s=60), sandbox), "count"), flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def test_it_ends_with_the_process(worktree: Path, tmp_path: Path) -> None:
    mark = f"living-{os.getpid()}.py"
    living(worktree)
    (worktree / mark).write_text((worktree / "living.py").read_text())
    (worktree / "living.py").write_text(f"import os\nos.execvp('python3', ['python3', {mark!r}])")
    root = str(Path(__file__).parents[3])
    script = DIES.format(root=root, worktree=str(worktree), session=str(tmp_path / "s"))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"1\n"
        assert marked_processes(mark)
        process.send_signal(signal.SIGKILL)
        process.wait()
    for _ in range(500):
        if not marked_processes(mark):
            return
        time.sleep(0.02)
    raise AssertionError("it is still there")
