"""The servers that run in a sandbox, and connections to them from outside.

A sandbox may have a network of its own. A socket belongs to the network in which it was made,
whoever holds it: so a small helper process enters that network and hands out unconnected sockets,
which the server connects itself. The helper becomes part of the sandbox's user namespace too, as
only there it may enter the network; so it has one thread, and does nothing else.

Where commands share the host's network, no helper is needed, and every service of the host is in
reach. So only ports on which processes of the sandbox alone listen are connected to, and that is
looked at before a connection and after it: a port may have changed hands between the two.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tools.sandbox.proc import open_folder, open_proc
from tools.sandbox.process import readable
from tools.sandbox.status import Status

# NS_GET_USERNS of ioctl_ns(2), and CLONE_NEWUSER and CLONE_NEWNET of setns(2). To enter its own
# user namespace is an error, and not needed.
_HAND_OUT = """
import ctypes, fcntl, os, socket, sys
network, given = int(sys.argv[1]), socket.socket(fileno=int(sys.argv[2]))
setns = ctypes.CDLL(None, use_errno=True).setns
users = fcntl.ioctl(network, 0xB701)
setns(users, 0x10000000)
if setns(network, 0x40000000):
    code = ctypes.get_errno()
    given.send(os.strerror(code).encode())
    sys.exit(1)
families = {b"4": socket.AF_INET, b"6": socket.AF_INET6}
while wanted := given.recv(1):
    try:
        made = socket.socket(families[wanted])
    except OSError as exc:
        given.send(os.strerror(exc.errno).encode())
        continue
    with made:
        socket.send_fds(given, [b""], [made.fileno()])
"""
_CONNECT_S = 5.0
_LISTENING = "0A"
_LOOPBACK = {socket.AF_INET: "127.0.0.1", socket.AF_INET6: "::1"}
_MAX_DESCRIPTORS = 20_000


class InnerNetwork:
    """Of one running sandbox. `aclose` it before the sandbox is forgotten."""

    def __init__(self, status: Status) -> None:
        self._status = status
        self._helper: asyncio.subprocess.Process | None = None
        self._ours: socket.socket | None = None
        self._one_at_a_time = asyncio.Lock()

    async def ports(self) -> list[int]:
        """Returns: the ports at which programs of the sandbox answer, in order."""
        return sorted(await self._listeners())

    async def connect(self, port: int) -> socket.socket:
        """Connect to a port that a program of the sandbox listens on.

        Returns: a socket that does not block.
        Raises: OSError, a ConnectionRefusedError when no program of the sandbox listens there.
        """
        listeners = (await self._listeners()).get(port)
        if not listeners:
            raise ConnectionRefusedError(f"nothing in the sandbox listens on port {port}")
        family = min(family for family, _ in listeners)
        made = await self._socket(family)
        try:
            made.setblocking(False)
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            async with asyncio.timeout(_CONNECT_S):
                loop = asyncio.get_running_loop()
                await loop.sock_connect(made, (_LOOPBACK[family], port))
            # One that has listened all the time has kept everybody else from the port.
            if not listeners & (await self._listeners()).get(port, frozenset()):
                raise ConnectionRefusedError(f"port {port} has changed hands")
        except BaseException:
            made.close()
            raise
        return made

    async def aclose(self) -> None:
        """End the helper."""
        if helper := self._drop_helper():
            await helper.wait()

    async def _listeners(self) -> Listeners:
        if self._status.pid is None or not self._status.alive:
            return {}
        found = await asyncio.to_thread(find_listeners, self._status.pid)
        # Only of a process that still lives the number was surely its own.
        return found if self._status.alive else {}

    async def _socket(self, family: socket.AddressFamily) -> socket.socket:
        async with self._one_at_a_time:
            if self._helper is None:
                pid = self._status.pid
                network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
                try:
                    if not self._status.alive:
                        raise ConnectionRefusedError("the sandbox has ended")
                    if os.path.samestat(os.fstat(network), Path("/proc/self/ns/net").stat()):
                        return socket.socket(family)
                    await self._start(network)
                finally:
                    os.close(network)
            assert self._ours is not None
            try:
                return await _ask(self._ours, b"4" if family == socket.AF_INET else b"6")
            except BaseException:
                # An answer that comes late must not be taken for that to the next question.
                self._drop_helper()
                raise

    def _drop_helper(self) -> asyncio.subprocess.Process | None:
        helper, self._helper = self._helper, None
        if self._ours is not None:
            self._ours.close()
        if helper is not None:
            with contextlib.suppress(ProcessLookupError):
                helper.kill()
        return helper

    async def _start(self, network: int) -> None:
        # Packets: one answer each, and the end of the other side is an empty one.
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        with theirs:
            self._ours = ours
            self._helper = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", "-c", _HAND_OUT, str(network), str(theirs.fileno())),
                stdin=asyncio.subprocess.DEVNULL,
                env={},
                pass_fds=(network, theirs.fileno()),
            )


async def _ask(helper: socket.socket, wanted: bytes) -> socket.socket:
    try:
        helper.send(wanted)
    except OSError as exc:
        raise ConnectionRefusedError("the network of the sandbox cannot be entered") from exc
    async with asyncio.timeout(_CONNECT_S):
        await readable(helper.fileno())
    said, fds, _, _ = socket.recv_fds(helper, 200, 1, socket.MSG_CMSG_CLOEXEC)
    if not fds:
        raise ConnectionRefusedError(
            f"the network of the sandbox cannot be entered: {said.decode(errors='replace')}"
        )
    return socket.socket(fileno=fds[0])


# Of each port the sockets that listen on it at a loopback address, by family and inode.
Listeners = dict[int, frozenset[tuple[socket.AddressFamily, str]]]


def find_listeners(pid: int) -> Listeners:
    """Find what listens in the sandbox in which `pid` is the first process.

    Blocks for milliseconds. Ports on which a process outside listens too are left out.

    Returns: nothing for a sandbox that is not set up yet, or gone.
    """
    try:
        with open_proc(pid) as (_, proc):
            rows = [*_rows(proc, "tcp"), *_rows(proc, "tcp6")]
            if not rows:
                return {}
            owned = _sockets(proc)
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return {}
    found: dict[int, set[tuple[socket.AddressFamily, str]]] = defaultdict(set)
    for family, port, inode in rows:
        found[port].add((family, inode))
    return {
        port: frozenset(listeners)
        for port, listeners in found.items()
        if {inode for _, inode in listeners} <= owned
    }


def _rows(proc: int, table: str) -> Iterator[tuple[socket.AddressFamily, int, str]]:
    """Yield what listens at a loopback address. Source: proc_pid_net(5)."""
    try:
        fd = os.open(f"1/net/{table}", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    except FileNotFoundError:
        return  # without IPv6
    with os.fdopen(fd) as lines:
        next(lines, None)
        for line in lines:
            fields = line.split()
            address, _, port = fields[1].partition(":")
            family = _family_of(address)
            if fields[3] == _LISTENING and family is not None:
                yield family, int(port, 16), fields[9]


def _family_of(address: str) -> socket.AddressFamily | None:
    """Returns: with which protocol it is reached at loopback; None if it is not."""
    words = [int(address[start : start + 8], 16) for start in range(0, len(address), 8)]
    packed = b"".join(word.to_bytes(4, sys.byteorder) for word in words)
    if len(packed) == 4:
        return socket.AF_INET if packed in {b"\x7f\0\0\1", b"\0\0\0\0"} else None
    if packed == b"\0" * 16 or packed == b"\0" * 15 + b"\1":
        return socket.AF_INET6
    mapped = packed[:12] == b"\0" * 10 + b"\xff\xff"
    return socket.AF_INET if mapped and packed[12:] in {b"\x7f\0\0\1", b"\0\0\0\0"} else None


def _sockets(proc: int) -> set[str]:
    """Returns: the inodes of the sockets that processes of the sandbox hold."""
    found: set[str] = set()
    looked = 0
    for name in os.listdir(proc):
        if not name.isdigit() or looked >= _MAX_DESCRIPTORS:
            continue
        try:
            with open_folder(f"{name}/fd", at=proc) as folder:
                for number in os.listdir(folder):  # noqa: PTH208  a descriptor
                    looked += 1
                    target = _target(number, folder)
                    if target.startswith("socket:["):
                        found.add(target[len("socket:[") : -1])
        except OSError:
            continue  # it has ended since it was listed
    return found


def _target(number: str, folder: int) -> str:
    try:
        return os.readlink(number, dir_fd=folder)
    except OSError:
        return ""  # it was closed since it was listed
