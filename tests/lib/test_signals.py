from __future__ import annotations

import subprocess
import sys

import pytest

# A shell that has its children ignore and block, the server, and what the server starts.
PARENT = """
import signal, subprocess, sys
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGCHLD, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGUSR1})
sys.exit(subprocess.call([sys.executable, "-c", sys.argv[1]], restore_signals=False))
"""
SERVER = """
import asyncio, os, signal, subprocess, threading
from opencode_web.lib.signals import keep_ignored_signals
keep_ignored_signals()
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
    os.kill(os.getpid(), number)
SHOW = ("grep", "-E", "Sig(Ign|Blk)", "/proc/self/status")

async def start():
    process = await asyncio.create_subprocess_exec(*SHOW)
    await process.wait()

{start}
"""
STARTS = {
    "subprocess": "subprocess.run(SHOW, check=True)",
    "a thread": "threading.Thread(target=subprocess.run, args=(SHOW,)).start()",
    "asyncio": "asyncio.run(start())",
}


@pytest.mark.parametrize("start", STARTS)
def test_children_start_with_default_signals_whatever_the_server_inherited(start: str) -> None:
    server = SERVER.replace("{start}", STARTS[start])
    done = subprocess.run(
        [sys.executable, "-c", PARENT, server], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    masks = dict(line.split(":") for line in done.stdout.splitlines())
    assert set(masks) == {"SigIgn", "SigBlk"}
    # Of the real-time signals some libraries may ignore one.
    assert [int(mask, 16) & 0x7FFF_FFFF for mask in masks.values()] == [0, 0]
