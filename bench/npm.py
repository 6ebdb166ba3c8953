"""Packages of npm in a cache folder, without their install scripts: the genuine programs, tools."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

_INSTALL_S = 300


class Unavailable(Exception):
    """The package cannot be had here. The message says why."""


def cache(*parts: str) -> Path:
    """A folder of ours that outlives a run."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base, "opencode-web-bench", *parts)


def install(packages: list[str], wanted: Path, folder: Path) -> Path:
    """Install packages of exact versions below `folder`, unless `wanted` is there.

    Returns: `wanted`. Raises: Unavailable.
    """
    if wanted.exists():
        return wanted
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is not installed")
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder)]
    try:
        done = subprocess.run(
            [npm, "install", *options, *packages],
            capture_output=True,
            text=True,
            timeout=_INSTALL_S,
        )
    except subprocess.TimeoutExpired as exc:
        raise Unavailable(f"npm install took over {_INSTALL_S} s") from exc
    if not wanted.exists():
        reason = (done.stderr.strip().splitlines() or [f"no {wanted.name} in the package"])[-1]
        raise Unavailable(f"npm install {' '.join(packages)}: {reason}")
    return wanted
