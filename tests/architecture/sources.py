from __future__ import annotations

import ast
import subprocess
from functools import cache
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
ROOMS = ("opencode_web", "sessions", "tools", "providers", "teams")


@cache
def modules(*folders: str) -> list[Path]:
    """Python files below the folders; migrations are written by Django, the sample by its bug."""
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    return sorted(
        path
        for path in found
        if "migrations" not in path.parts and "sample_project" not in path.parts
    )


@cache
def tree_of(path: Path) -> ast.Module:
    """A module's syntax tree. Each file is parsed once, however many tests look at it."""
    return ast.parse(path.read_text())


@cache
def tracked_files() -> list[Path]:
    """Everything in the repository besides unedited third-party files."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    names = [name for name in listed.split("\0") if name and not name.startswith("static/vendor/")]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))
