from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.security import commands
from tests.security.arena import ONLY_INSIDE, Arena, open_arena
from tests.security.deny import DENIED
from tests.security.paths import OUTSIDE_PATHS
from tests.tools.sandbox.test_bubblewrap import marked_processes
from tools.sandbox.hosts import parse_patterns
from tools.sandbox.select import probe

_MADE_ON_HOST = (
    "/usr/bin",
    "/usr/local/bin",
    "/etc",
    "/etc/cron.d",
    "/var",
    "/opt",
    "/root",
    "/dev",
)


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    assert probe().ok, probe().sentence
    with open_arena(tmp_path / "host") as arena:
        yield arena


def reached(arena: Arena) -> dict[str, int]:
    return {
        name: listener.reached for name, listener in arena.listeners.items() if listener.reached
    }


def test_the_corpus_is_large_and_has_nothing_twice() -> None:
    lists = (
        *(commands.READ_OUTSIDE, commands.READ_SERVER, commands.WRITE_OUTSIDE, commands.NETWORK),
        *(commands.KILL, commands.OUTLIVE, commands.PAST_THE_LIST, DENIED, OUTSIDE_PATHS),
    )
    rows = [row for rows in lists for row in rows]
    assert len(rows) == len(set(rows)) >= 150


def test_the_arena_itself_is_no_wall(arena: Arena) -> None:
    import socket

    assert arena.leaked((arena.other / "key.txt").read_text()) == ["project"]
    socket.create_connection(("127.0.0.1", arena.listeners["tcp"].address[1])).close()
    before = arena.outside()
    (arena.other / "made").touch()
    assert arena.outside() != before


@pytest.mark.parametrize("goal", ["READ_OUTSIDE", "READ_SERVER", "WRITE_OUTSIDE", "NETWORK"])
async def test_feat2_nfr_01_no_command_gets_through(arena: Arena, goal: str) -> None:
    rows: list[str] = getattr(commands, goal)
    before = arena.outside()
    said = await arena.attempt(rows)
    leaks = {
        row: found for row, text in zip(rows, said, strict=True) if (found := arena.leaked(text))
    }
    assert leaks == {}
    assert arena.outside() == before
    assert reached(arena) == {}
    made = [folder for folder in _MADE_ON_HOST if Path(folder, "corpus-made").exists()]
    assert made == []
    # What they left in the worktree is no way out later either.
    for path in arena.worktree.rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert arena.leaked(path.read_bytes().decode("utf-8", "replace")) == []


@pytest.mark.parametrize("command", commands.END_THEIR_SANDBOX)
async def test_feat2_nfr_01_who_ends_their_own_sandbox_reads_nothing(
    arena: Arena, command: str
) -> None:
    before = arena.outside()
    (said,) = await arena.attempt([command], may_end=True)
    assert arena.leaked(said) == []
    assert arena.outside() == before


async def test_feat2_nfr_01_a_list_of_hosts_leads_nowhere_else(arena: Arena) -> None:
    arena.listed = parse_patterns(["allowed.test:1"])
    rows = [*commands.NETWORK, *commands.PAST_THE_LIST]
    said = await arena.attempt(rows)
    assert reached(arena) == {}
    # The proxy was there to be asked.
    assert sum("on the team's list of hosts" in text for text in said) > 5


@pytest.mark.parametrize("command", commands.KILL)
async def test_feat2_nfr_01_nothing_outside_is_killed_or_removed(
    arena: Arena, command: str
) -> None:
    before = arena.outside()
    await arena.context().call("bash", command=ONLY_INSIDE + command, timeout=10_000)
    assert arena.outside() == before


async def test_nothing_outlives_its_command(arena: Arena) -> None:
    mark = f"mark-{secrets.token_hex(8)}"
    folder = arena.worktree / "attempts"
    folder.mkdir()
    for number, command in enumerate(commands.OUTLIVE):
        (folder / str(number)).write_text(command.replace("@MARK@", mark) + "\n")
    context = arena.context()
    enough = len(commands.OUTLIVE) // 2 + 1
    result = await context.call(
        "bash",
        command="for f in attempts/*; do timeout -k 1 9 bash $f </dev/null >/dev/null 2>&1 & done;"
        f" for i in {{1..90}}; do n=$(grep -las {mark} /proc/[0-9]*/cmdline | wc -l);"
        f" [ $n -ge {enough} ] && break; sleep 0.1; done; echo $n",
    )
    # They did stay while they could.
    assert int(result.output.split()[0]) >= enough
    assert marked_processes(mark) == []
