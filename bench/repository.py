"""The small git repository that every server works in: 32 files, the same bytes for each."""

from __future__ import annotations

import subprocess
from pathlib import Path

FILES = 32
NEEDLE = "needle_of_the_benchmark"


def make_repository(folder: Path) -> Path:
    """Make and commit the files. Returns: the file that the three-step turn reads."""
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
    return folder / "part_0" / "module_00.py"


def _functions(number: int) -> list[str]:
    return [
        line
        for index in range(12)
        for line in (f"def value_{number}_{index}(x: int) -> int:", f"    return x + {index}", "")
    ]
