"""The git repositories that every server works in, the same bytes for each: 32 files, and many."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

FILES = 32
LARGE_FILES = 50_000
NEEDLE = "needle_of_the_benchmark"


@dataclass(frozen=True)
class Repository:
    directory: str
    # What the three-step turn reads.
    file: str


def make_repository(folder: Path) -> Repository:
    """Make and commit the files."""
    folder.mkdir(parents=True)
    for number in range(FILES):
        lines = [f'"""Module {number}."""', "", *_functions(number)]
        if number % 8 == 0:
            lines += ["", f'MARK = "{NEEDLE} {number}"']
        path = folder / f"part_{number % 4}" / f"module_{number:02}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        identity = ["-c", "user.name=Bench", "-c", "user.email=bench@localhost"]
        subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, timeout=60)
    return _at(folder)


def make_large(folder: Path) -> Repository:
    """Make and commit a repository of 50,000 small files in 500 folders."""
    for number in range(LARGE_FILES):
        path = folder / f"part_{number % 20:02}" / f"group_{number % 500:03}" / f"file_{number}.txt"
        if number < 500:
            path.parent.mkdir(parents=True)
        mark = f"{NEEDLE} {number}\n" if number % 1_000 == 0 else ""
        path.write_text(f"File {number}.\n{mark}" + f"Some line of file {number}.\n" * 8)
    (folder / "counter.txt").write_text("counter = 0\n")
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        identity = ["-c", "user.name=Bench", "-c", "user.email=bench@localhost"]
        subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, timeout=300)
    return Repository(str(folder), str(folder / "part_07" / "group_007" / "file_7.txt"))


def copy_repository(repository: Repository, folder: Path, *, count: int) -> list[Repository]:
    """Make so many copies below `folder`, each a repository of its own."""
    copies = [folder / f"copy_{number:02}" for number in range(count)]
    return [_at(Path(shutil.copytree(repository.directory, copy))) for copy in copies]


def _at(folder: Path) -> Repository:
    return Repository(str(folder), str(folder / "part_0" / "module_00.py"))


def _functions(number: int) -> list[str]:
    return [
        line
        for index in range(12)
        for line in (f"def value_{number}_{index}(x: int) -> int:", f"    return x + {index}", "")
    ]
