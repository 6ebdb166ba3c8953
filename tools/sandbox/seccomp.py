"""A filter for system calls that agents' commands never need. Pure: it makes bytes for bubblewrap.

The other walls say what a command can see. This one keeps it away from the parts of the kernel
where holes in such walls are found: mounting, namespaces, io_uring, bpf, keys, modules. What is
refused fails with EPERM, as without privileges, so programs fall back as they would elsewhere.

* `clone3` is "not implemented": its flags lie in memory, where no filter can look, and every libc
  then uses `clone`, whose flags are seen.
* `ptrace` stays, for gdb and strace: it reaches processes of the same command only, as they have a
  process namespace of their own, and gives nothing that they do not have.
* Sockets are of the local, IP and netlink families. AF_VSOCK is the one that counts: it reaches the
  hypervisor past every network namespace.

Source: linux/filter.h, linux/seccomp.h, linux/audit.h, seccomp(2).
"""

from __future__ import annotations

import errno
import functools
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tools.sandbox.syscalls import AARCH64, X86_64

_LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_AT_LEAST = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_ANY_BIT = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K

_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_ERRNO = 0x00050000

# Offsets in struct seccomp_data: int nr; u32 arch; u64 instruction_pointer; u64 args[6].
_NUMBER, _ARCH, _ARGS = 0, 4, 16

# Calls of the x32 ABI, which has the architecture of x86-64.
_X32_BIT = 0x40000000

_NEW_TIME = 0x00000080
# NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
_NEW_NAMESPACES = 0x7E020000
# They type into a terminal: TIOCSTI, TIOCLINUX.
_TERMINAL_INPUT = (0x5412, 0x541C)
# AF_UNIX, AF_INET, AF_INET6, AF_NETLINK (name resolution asks it for the interfaces).
_FAMILIES = (1, 2, 10, 16)
_JUDGED = ("clone", "clone3", "unshare", "ioctl", "socket", "socketpair")


@dataclass(frozen=True)
class _Machine:
    audit_arch: int
    calls: Mapping[str, int]
    has_x32: bool = False


_MACHINES = {
    "x86_64": _Machine(0xC000003E, X86_64, has_x32=True),
    "aarch64": _Machine(0xC00000B7, AARCH64),
}


@dataclass
class _Program:
    """Instructions with named places to jump to. Jumps go forwards, by 255 instructions at most."""

    _lines: list[tuple[int, int, str, str]] = field(default_factory=list)
    _places: dict[str, int] = field(default_factory=dict)

    def place(self, name: str) -> None:
        self._places[name] = len(self._lines)

    def load(self, offset: int) -> None:
        self._lines.append((_LOAD, offset, "", ""))

    def jump(self, test: int, value: int, *, yes: str = "", no: str = "") -> None:
        self._lines.append((test, value, yes, no))

    def end(self, value: int) -> None:
        self._lines.append((_RETURN, value, "", ""))

    def to_bytes(self) -> bytes:
        """Build an array of struct sock_filter: u16 code; u8 jt; u8 jf; u32 k."""
        return b"".join(
            struct.pack("<HBBI", code, self._hop(at, yes), self._hop(at, no), value)
            for at, (code, value, yes, no) in enumerate(self._lines)
        )

    def _hop(self, at: int, place: str) -> int:
        return self._places[place] - at - 1 if place else 0


@functools.cache
def build_filter(machine: str) -> bytes | None:
    """Build the filter for a kind of processor, as `platform.machine()` names it.

    Returns: what `bwrap --seccomp` reads; None for a processor whose numbers are not known.
    """
    known = _MACHINES.get(machine)
    if known is None:
        return None
    program = _Program()
    program.load(_ARCH)
    program.jump(_EQUAL, known.audit_arch, no="kill")
    program.load(_NUMBER)
    if known.has_x32:
        program.jump(_AT_LEAST, _X32_BIT, yes="missing")
    _refuse(program, (number for name, number in known.calls.items() if name not in _JUDGED))
    program.jump(_EQUAL, known.calls["clone3"], yes="missing")
    for name in ("clone", "unshare", "ioctl", "socket"):
        program.jump(_EQUAL, known.calls[name], yes=name)
    program.jump(_EQUAL, known.calls["socketpair"], yes="socket")
    program.end(_ALLOW)
    _judge_arguments(program)
    for name, answer in _ANSWERS.items():
        program.place(name)
        program.end(answer)
    return program.to_bytes()


_ANSWERS = {
    "kill": _KILL_PROCESS,
    "missing": _ERRNO | errno.ENOSYS,
    "refuse": _ERRNO | errno.EPERM,
    "allow": _ALLOW,
}


def _refuse(program: _Program, numbers: Iterable[int]) -> None:
    for number in sorted(numbers):
        program.jump(_EQUAL, number, yes="refuse")


def _judge_arguments(program: _Program) -> None:
    # The low half of an argument is all that the kernel looks at, too: flags, request and family
    # are 32 bits.
    program.place("clone")
    program.load(_ARGS)
    # Not _NEW_TIME: in these bits `clone` has the signal that tells of the child's end.
    program.jump(_ANY_BIT, _NEW_NAMESPACES, yes="refuse", no="allow")
    program.place("unshare")
    program.load(_ARGS)
    program.jump(_ANY_BIT, _NEW_NAMESPACES | _NEW_TIME, yes="refuse", no="allow")
    program.place("ioctl")
    program.load(_ARGS + 8)
    for request in _TERMINAL_INPUT:
        program.jump(_EQUAL, request, yes="refuse")
    program.end(_ALLOW)
    program.place("socket")
    program.load(_ARGS)
    for family in _FAMILIES:
        program.jump(_EQUAL, family, yes="allow")
    program.end(_ERRNO | errno.EAFNOSUPPORT)
