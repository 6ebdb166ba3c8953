"""What the processes of one sandbox use, read through its own /proc."""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass

from tools.sandbox.proc import open_folder, open_proc

logger = logging.getLogger(__name__)

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_BLOCK_BYTES = 512
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# Of all descriptors so many are looked at, which takes some 40 ms.
_MAX_DESCRIPTORS = 20_000


@dataclass(frozen=True)
class Usage:
    """Of all processes together. `processes` counts threads; `cpu_s` those that ended too."""

    memory_bytes: int
    processes: int
    cpu_s: float


@dataclass(frozen=True)
class _Process:
    id: str
    started: int
    own_ticks: int
    waited_ticks: int
    threads: int
    resident_bytes: int


class Meter:
    """Measures one sandbox again and again. Each call blocks for milliseconds.

    `in_memory` are its folders that are memory, relative to its root.
    """

    def __init__(self, in_memory: tuple[str, ...]) -> None:
        self._in_memory = in_memory
        # Processor time that each process was last seen with: it is gone with the process.
        self._ticks: dict[tuple[str, int], int] = {}

    def measure(self, pid: int, *, suspicious_bytes: int, most: int) -> Usage | None:
        """Measure the sandbox in which `pid` is the first process.

        Memory that processes share is counted for each of them, up to `suspicious_bytes`. Above
        that it is counted once, which takes longer. Of more than `most` processes nothing is
        measured but that there are more: a fork bomb leaves no time to look at all of them.

        Returns: None when it is not set up yet, or gone.
        """
        try:
            with open_proc(pid) as (root, proc):
                processes: list[_Process] = []
                for one in _processes(proc):
                    processes.append(one)
                    if len(processes) > most:
                        return Usage(memory_bytes=0, processes=len(processes), cpu_s=0.0)
                memory = self._files_bytes(root) + _memfd_bytes(proc, processes)
                resident = sum(one.resident_bytes for one in processes)
                if resident + memory > suspicious_bytes:
                    resident, shared = _proportional(proc, processes)
                    memory = max(memory, shared)
                return Usage(
                    memory_bytes=resident + memory,
                    processes=sum(one.threads for one in processes),
                    cpu_s=self._cpu_ticks(processes) / _TICKS_PER_S,
                )
        except (FileNotFoundError, ProcessLookupError):
            return None
        except PermissionError as exc:
            _warn_once(str(exc))
            return None

    def _cpu_ticks(self, processes: list[_Process]) -> int:
        # Two sums, each a part of the truth: what was seen of every process while it lived, and
        # what parents, pid 1 above all, were told of children that ended.
        self._ticks.update({(one.id, one.started): one.own_ticks for one in processes})
        told = sum(one.own_ticks + one.waited_ticks for one in processes)
        return max(told, sum(self._ticks.values()))

    def _files_bytes(self, root: int) -> int:
        total = 0
        for name in self._in_memory:
            with open_folder(name, at=root) as folder:
                state = os.fstatvfs(folder)
            total += (state.f_blocks - state.f_bfree) * state.f_frsize
        return total


def _processes(proc: int) -> Iterator[_Process]:
    for name in os.listdir(proc):
        if name.isdigit() and (process := _process(name, proc)):
            yield process


def _process(id: str, proc: int) -> _Process | None:
    text = _read(f"{id}/stat", proc)
    if not text:
        return None
    # After the name, which may hold anything, comes field 3 of proc_pid_stat(5): a letter.
    fields = [0, 0, 0, 0, *map(int, text.rpartition(b")")[2].split()[1:])]
    return _Process(
        id=id,
        started=fields[22],
        own_ticks=fields[14] + fields[15],
        waited_ticks=fields[16] + fields[17],
        threads=fields[20],
        resident_bytes=fields[24] * _PAGE_BYTES,
    )


def _memfd_bytes(proc: int, processes: list[_Process]) -> int:
    """Memory of files without a name, which need not be mapped anywhere."""
    device = _memfd_device()
    sizes: dict[int, int] = {}
    looked = 0
    for one in processes:
        if looked >= _MAX_DESCRIPTORS:
            break
        try:
            with open_folder(f"{one.id}/fd", at=proc) as folder:
                for name in os.listdir(folder):  # noqa: PTH208  a descriptor
                    looked += 1
                    state = _stat(name, folder)
                    if state is not None and state.st_dev == device:
                        sizes[state.st_ino] = state.st_blocks * _BLOCK_BYTES
        except OSError:
            # It ended, or may not be looked into while it changes who it is.
            continue
    return sum(sizes.values())


def _proportional(proc: int, processes: list[_Process]) -> tuple[int, int]:
    """Count memory that processes share once. Pages of files on disks are left out: the kernel
    takes those back when it needs room.

    Returns: bytes of private memory, and of files in memory as far as they are mapped.
    """
    private = shared = 0
    for one in processes:
        lines = (line.split() for line in _read(f"{one.id}/smaps_rollup", proc).splitlines())
        kilobytes = {words[0]: int(words[1]) for words in lines if words[-1] == b"kB"}
        if b"Pss_Anon:" in kilobytes:
            private += kilobytes[b"Pss_Anon:"] * 1024
            shared += kilobytes.get(b"Pss_Shmem:", 0) * 1024
        elif now := _process(one.id, proc):
            private += now.resident_bytes
    return private, shared


@functools.cache
def _warn_once(problem: str) -> None:
    logger.warning("the memory and processes of commands cannot be watched: %s", problem)


@functools.cache
def _memfd_device() -> int:
    fd = os.memfd_create("meter")
    try:
        return os.fstat(fd).st_dev
    finally:
        os.close(fd)


def _read(path: str, at: int) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=at)
        try:
            return os.read(fd, 8_192)
        finally:
            os.close(fd)
    except OSError:
        # It has ended since it was listed.
        return b""


def _stat(name: str, at: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=at)
    except OSError:
        return None
