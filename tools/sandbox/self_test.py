"""Try each wall of the sandbox on this host: not what should hold, but what does."""

from __future__ import annotations

import asyncio
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

from django.utils.translation import gettext as _

from tools.sandbox.base import Command, Exit
from tools.sandbox.bubblewrap import Bubblewrap, BubblewrapSandbox
from tools.sandbox.cgroup import CgroupError, make_group
from tools.sandbox.limits import Limits
from tools.sandbox.mounts import Layout
from tools.sandbox.network_examination import Wall, examine_list
from tools.sandbox.process_cap import caps_processes

_MIB = 1024 * 1024
_TIMEOUT_S = 15
# Small, so that trying them costs the host nothing.
_LIMITS = Limits(memory_bytes=96 * _MIB, processes=30, cpu_s=10, file_bytes=_MIB, free_disk_bytes=0)
_NAMESPACES = ("user", "pid", "ipc", "uts", "net")
# No more than a shell and a few old programs: nothing else is sure to be there.
_ATTEMPTS = """
say() { echo "$1=$2"; }
attempt() {
  name=$1; shift
  if "$@" >/dev/null 2>&1; then say "$name" yes; else say "$name" no; fi
}
put() { echo x >"$1"; }
for kind in user pid ipc uts net; do say "ns-$kind" "$(readlink /proc/self/ns/$kind)"; done
attempt canary cat "$CANARY"
attempt worktree put inside
attempt usr put /usr/made
attempt etc put /etc/made
attempt kernel put /proc/sys/kernel/core_pattern
attempt nested unshare -U true
attempt loopback bash -c "exec 3<>/dev/tcp/127.0.0.1/$PORT"
say names "$(env | sed -n 's/=.*//p' | tr '\\n' ' ')"
say hostname "$(cat /proc/sys/kernel/hostname)"
while read -r key value; do say "$key" "$value"; done </proc/self/status
"""
_OWN_NAMES = {
    *("PATH", "HOME", "TMPDIR", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "PWD", "OLDPWD"),
    *("GIT_TERMINAL_PROMPT", "GIT_PAGER", "PAGER", "DEBIAN_FRONTEND", "SHLVL", "_"),
    *("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"),
    *("CANARY", "PORT"),
}
_HOG = "x=$(head -c 200000000 /dev/zero | tr '\\0' x); sleep 9"
_CROWD = "i=0; while [ $i -lt 150 ]; do sleep 9 & i=$((i+1)); done; wait"
_FILE = "exec head -c 4000000 /dev/zero >large"


async def examine_walls(
    bubblewrap: Bubblewrap, *, network: bool, lists: bool = True, cgroup: Path | None = None
) -> list[Wall]:
    """Try every wall in real sandboxes; takes a second or two.

    `network`: teams may share it. `lists`: they may list hosts. `cgroup`: the one that the operator
    gives for limits.

    Raises: SandboxError when none can be set up at all.
    """
    with tempfile.TemporaryDirectory(prefix="sandbox-walls-") as folder:
        place = _Place(bubblewrap, Path(folder), network, cgroup)
        said, memory, processes, file, listed = await asyncio.gather(
            place.attempt(),
            place.run(_HOG),
            place.run(_CROWD),
            place.run(_FILE),
            examine_list(place.sandbox) if lists else _nothing(),
        )
    given = list(_cgroup_wall(cgroup))
    return [
        *_walls(said, network=network),
        *listed,
        Wall(
            "memory limit",
            bool(memory.stopped),
            _measured(memory, _("the memory of a command is not limited")),
        ),
        _process_wall(processes, in_cgroup=any(wall.holds for wall in given)),
        *given,
        Wall("file size limit", bool(file.stopped), _kept(file)),
    ]


class _Place:
    def __init__(
        self, bubblewrap: Bubblewrap, folder: Path, network: bool, cgroup: Path | None
    ) -> None:
        self._canary = folder / "canary"
        self._canary.write_text(secrets.token_hex(8), encoding="ascii")
        worktree = folder / "worktree"
        worktree.mkdir()
        layout = Layout(worktree=worktree, session_dir=folder / "session")
        self.sandbox = BubblewrapSandbox(bubblewrap, layout, network, _LIMITS, cgroup)
        self._worktree = worktree

    async def attempt(self) -> dict[str, str]:
        output = bytearray()

        async def take(chunk: bytes) -> None:
            output.extend(chunk)

        server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            extra = {"CANARY": str(self._canary), "PORT": str(port)}
            command = Command(
                ("/bin/sh", "-c", _ATTEMPTS), self._worktree, _TIMEOUT_S, extra, network=True
            )
            await self.sandbox.run(command, on_output=take)
        lines = output.decode("utf-8", "replace").splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)

    async def run(self, text: str) -> Exit:
        async def drop(chunk: bytes) -> None:
            del chunk

        argv = ("/bin/sh", "-c", text)
        return await self.sandbox.run(Command(argv, self._worktree, _TIMEOUT_S), on_output=drop)


async def _nothing() -> list[Wall]:
    return []


def _walls(said: dict[str, str], *, network: bool) -> Iterator[Wall]:
    files = said.get("canary") == "no" and said.get("worktree") == "yes"
    yield Wall(
        "files",
        files,
        _("a command sees its worktree and nothing of the server's")
        if files
        else _("a file outside the worktree could be read: commands must not be allowed here"),
    )
    system = all(said.get(name) == "no" for name in ("usr", "etc", "kernel"))
    yield Wall(
        "system",
        system,
        _("read-only, kernel settings too")
        if system
        else _("a command could change the system: run the server as an ordinary user"),
    )
    strange = sorted(set(said.get("names", "?").split()) - _OWN_NAMES)
    yield Wall(
        "environment",
        not strange,
        _("shows {names}").format(names=", ".join(strange))
        if strange
        else _("none of the server's"),
    )
    yield from _namespaces(said, network=network)
    nested = said.get("nested") == "no"
    powers = said.get("CapEff:", "") == "0" * 16
    yield Wall(
        "privileges",
        nested and powers,
        _("no capabilities, no new user namespaces")
        if nested and powers
        else _("commands can make user namespaces of their own: install bubblewrap 0.8 or newer"),
    )
    filtered = said.get("Seccomp:") == "2"
    yield Wall(
        "seccomp",
        filtered,
        _("system calls are filtered")
        if filtered
        else _("not filtered: it needs a kernel with CONFIG_SECCOMP_FILTER on x86-64 or arm64"),
    )


def _namespaces(said: dict[str, str], *, network: bool) -> Iterator[Wall]:
    wanted = [kind for kind in _NAMESPACES if kind != "net"]
    shared = [kind for kind in wanted if said.get(f"ns-{kind}", "") in {"", _host(kind)}]
    yield Wall(
        "namespaces",
        not shared,
        _("shared with the host: {names}").format(names=", ".join(shared))
        if shared
        else _("its own: {names}; host name {host}").format(
            names=", ".join(wanted), host=said.get("hostname")
        ),
    )
    if network:
        yield Wall(
            "network",
            False,
            _(
                "SANDBOX_NETWORK is open: commands of teams that choose so reach whatever this "
                "host reaches, services on its loopback and abstract unix sockets included. Keep "
                "databases and Redis behind passwords, or set it to allow-list"
            ),
        )
        return
    cut = said.get("loopback") == "no" and said.get("ns-net", "") not in {"", _host("net")}
    detail = _("none, not even the host's loopback")
    if not cut:
        detail = _("a command reached the host's network")
    yield Wall("network", cut, detail)


def _host(kind: str) -> str:
    return str(Path("/proc/self/ns", kind).readlink())


def _process_wall(ended: Exit, *, in_cgroup: bool) -> Wall:
    by_kernel = in_cgroup or os.getuid() != 0 or caps_processes()
    if not ended.stopped:
        return Wall(
            "process limit", False, _measured(ended, _("the number of processes is not limited"))
        )
    if by_kernel:
        return Wall("process limit", True, _("kept by the kernel, and watched"))
    return Wall(
        "process limit",
        False,
        _(
            "only watched: a fork bomb can use up the process numbers of this host before it is "
            "ended. Run the server as an ordinary user, or on Linux 6.14 or newer, or give it a "
            "SANDBOX_CGROUP"
        ),
    )


def _cgroup_wall(cgroup: Path | None) -> Iterator[Wall]:
    if cgroup is None:
        return
    try:
        make_group(cgroup, _LIMITS).remove()
    except CgroupError as exc:
        yield Wall("cgroup", False, str(exc))
    else:
        yield Wall(
            "cgroup",
            True,
            _("the kernel keeps memory and processes in {folder}").format(folder=cgroup),
        )


def _measured(ended: Exit, unlimited: str) -> str:
    if ended.stopped:
        return _("watched, a command over it is ended")
    why = _("/proc of a sandbox cannot be read (hidepid or a security module)")
    return f"{unlimited}: {why}"


def _kept(ended: Exit) -> str:
    return _("kept by the kernel") if ended.stopped else _("the size of a file is not limited")
