from __future__ import annotations

import errno
import json
import platform
import shutil
import struct
from pathlib import Path

import pytest

from tests.tools.sandbox.conftest import Run
from tools.sandbox.seccomp import build_filter
from tools.sandbox.syscalls import AARCH64, X86_64

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
REFUSED = ERRNO | errno.EPERM
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CALLS = {"x86_64": X86_64, "aarch64": AARCH64}
HERE = CALLS.get(platform.machine(), X86_64)
both = pytest.mark.parametrize("machine", ["x86_64", "aarch64"])


def judge(
    machine: str, number: int, *arguments: int, arch: int | None = None
) -> tuple[int, list[int]]:
    program = build_filter(machine)
    assert program is not None
    given = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("<iIQ6Q", number, arch or ARCH[machine], 0, *given)
    lines = list(struct.iter_unpack("<HBBI", program))
    at, value, visited = 0, 0, []
    while True:
        code, yes, no, k = lines[at]
        visited.append(at)
        at += 1
        match code:
            case 0x20:
                (value,) = struct.unpack_from("<I", data, k)
            case 0x15:
                at += yes if value == k else no
            case 0x35:
                at += yes if value >= k else no
            case 0x45:
                at += yes if value & k else no
            case 0x06:
                return k, visited
            case _:
                raise AssertionError(code)


def answer(machine: str, number: int, *arguments: int, arch: int | None = None) -> int:
    return judge(machine, number, *arguments, arch=arch)[0]


@both
def test_every_named_call_is_refused_and_every_other_one_is_not(machine: str) -> None:
    judged = {"clone", "clone3", "unshare", "ioctl", "socket", "socketpair"}
    refused = {number for name, number in CALLS[machine].items() if name not in judged}
    clone3 = CALLS[machine]["clone3"]
    # With a first argument of AF_INET, as sockets are judged by it.
    found = {number for number in range(600) if answer(machine, number, 2) == REFUSED}
    assert found == refused
    assert answer(machine, clone3) == ERRNO | errno.ENOSYS
    assert all(
        answer(machine, number, 2) == ALLOW for number in set(range(600)) - refused - {clone3}
    )


@both
@pytest.mark.parametrize(
    ("call", "flags", "wanted"),
    [
        ("clone", 0x11, ALLOW),  # fork
        ("clone", 0x3D0F00, ALLOW),  # a thread
        ("clone", 0x4111, ALLOW),  # vfork
        ("clone", 0x10000011, REFUSED),
        ("clone", 0x20000011, REFUSED),
        ("clone", 0x40000000, REFUSED),
        ("clone", 0x00020000, REFUSED),
        ("clone", 0x7E020000, REFUSED),
        ("unshare", 0x200, ALLOW),
        ("unshare", 0x400, ALLOW),
        ("unshare", 0x10000000, REFUSED),
        ("unshare", 0x80, REFUSED),
        ("unshare", 0x10000200, REFUSED),
    ],
)
def test_new_namespaces_are_refused(machine: str, call: str, flags: int, wanted: int) -> None:
    assert answer(machine, CALLS[machine][call], flags) == wanted


@both
@pytest.mark.parametrize(
    ("family", "wanted"),
    [
        *((family, ALLOW) for family in (1, 2, 10, 16)),
        *((family, ERRNO | errno.EAFNOSUPPORT) for family in (0, 3, 15, 17, 21, 31, 38, 40, 44)),
    ],
)
def test_sockets_are_of_few_families(machine: str, family: int, wanted: int) -> None:
    assert answer(machine, CALLS[machine]["socket"], family) == wanted
    assert answer(machine, CALLS[machine]["socketpair"], family) == wanted


@both
@pytest.mark.parametrize(
    ("request_", "wanted"),
    [(0x5412, REFUSED), (0x541C, REFUSED), (0x5413, ALLOW), (0xFFFFFFFF_00005412, REFUSED)],
)
def test_nothing_is_typed_into_a_terminal(machine: str, request_: int, wanted: int) -> None:
    assert answer(machine, CALLS[machine]["ioctl"], 0, request_) == wanted


def test_other_architectures_are_not_served() -> None:
    assert answer("x86_64", 20, arch=0x40000003) == KILL
    assert answer("aarch64", 20, arch=0x40000028) == KILL
    assert answer("x86_64", 0x40000000 | 39) == ERRNO | errno.ENOSYS
    assert build_filter("riscv64") is None


@both
def test_no_line_is_out_of_reach(machine: str) -> None:
    reached = set()
    for number in {*range(600), 0x40000000}:
        for first in (0, 1, 2, 10, 16, 17, 0x10000000):
            for second in (0, 0x5412, 0x541C):
                reached.update(judge(machine, number, first, second)[1])
    reached.update(judge(machine, 0, arch=1)[1])
    program = build_filter(machine)
    assert program is not None
    assert reached == set(range(len(program) // 8))


_PROBE = """
import ctypes, errno, json, sys
libc = ctypes.CDLL(None, use_errno=True)
found = {}
for name, number in json.loads(sys.argv[1]).items():
    ctypes.set_errno(0)
    libc.syscall(number, *[ctypes.c_long(0)] * 6)
    found[name] = ctypes.get_errno()
print(json.dumps(found))
"""


async def test_real_calls_are_refused(run: Run, worktree: Path) -> None:
    skipped = {"clone", "clone3", "ioctl", "socket", "socketpair", "unshare", "vhangup", "exit"}
    asked = {name: number for name, number in HERE.items() if name not in skipped}
    script = worktree / "probe.py"
    script.write_text(_PROBE)
    _, output = await run(f"python3 probe.py '{json.dumps(asked)}'")
    found = json.loads(output)
    assert found == dict.fromkeys(asked, errno.EPERM)


_ATTEMPTS = """
import ctypes, errno, fcntl, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, call):
    try:
        call()
        print(name, "worked")
    except OSError as exc:
        print(name, errno.errorcode[exc.errno])
def system(number, *arguments):
    if libc.syscall(number, *map(ctypes.c_long, arguments)) == -1:
        raise OSError(ctypes.get_errno(), "")
attempt("clone3", lambda: system(435, 0, 0))
attempt("unshare-user", lambda: system(UNSHARE, 0x10000000))
attempt("unshare-files", lambda: system(UNSHARE, 0x400))
attempt("clone-net", lambda: system(CLONE, 0x40000011, 0))
attempt("sti", lambda: fcntl.ioctl(os.openpty()[1], 0x5412, b"x"))
attempt("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
attempt("alg", lambda: socket.socket(38, socket.SOCK_SEQPACKET))
attempt("packet", lambda: socket.socket(17, socket.SOCK_RAW))
attempt("unix", lambda: socket.socketpair())
attempt("inet", lambda: socket.socket())
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attempt("x32", lambda: system(0x40000000 + 39))
"""


async def test_real_programs_meet_the_filter(run: Run, worktree: Path) -> None:
    text = _ATTEMPTS.replace("UNSHARE", str(HERE["unshare"])).replace("CLONE", str(HERE["clone"]))
    (worktree / "attempts.py").write_text(text)
    _, output = await run("python3 attempts.py")
    assert dict(line.split() for line in output.splitlines()) == {
        "clone3": "ENOSYS",
        "unshare-user": "EPERM",
        "unshare-files": "worked",
        "clone-net": "EPERM",
        "sti": "EPERM",
        "vsock": "EAFNOSUPPORT",
        "alg": "EAFNOSUPPORT",
        "packet": "EAFNOSUPPORT",
        "unix": "worked",
        "inet": "worked",
        "netlink": "worked",
        "x32": "ENOSYS",
    }


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("git", "git init -q x && cd x && git commit -q --allow-empty -m a && git log --oneline"),
        ("python3", "python3 -m venv --without-pip v && v/bin/python -c 'import ssl, sqlite3'"),
        ("python3", "python3 -c 'import multiprocessing as m; print(m.Pool(2).map(abs, [-1]))'"),
        ("python3", "python3 -c 'import threading as t; x = t.Thread(); x.start(); x.join()'"),
        ("node", 'node -e \'new (require("worker_threads").Worker)("1", {eval: true})\''),
        ("npm", "npm init -y && npm --version"),
        ("gcc", "echo 'int main(){return 0;}' > a.c && gcc -O2 -pthread a.c -o a && ./a"),
        ("make", "printf 'all:\\n\\techo made\\n' > Makefile && make -j4"),
        ("strace", "strace -f -o t true && grep -q execve t"),
        ("tar", "mkdir d && tar czf d.tgz d && tar xzf d.tgz"),
        ("rg", "echo needle > f && rg needle"),
        ("bash", "coproc cat; echo x >&${COPROC[1]}; read -r y <&${COPROC[0]}; [ $y = x ]"),
    ],
)
async def test_ordinary_programs_work(run: Run, program: str, text: str) -> None:
    if shutil.which(program) is None:
        text = "true"
    ended, output = await run(text, timeout_s=60)
    assert ended.code == 0, output


async def test_the_filter_holds_for_every_process_of_a_command(run: Run) -> None:
    # Bubblewrap's own process takes it on while the command begins.
    _, output = await run("sleep 0.3; grep -h ^Seccomp: /proc/[0-9]*/status")
    assert set(output.splitlines()) == {"Seccomp:\t2"}
