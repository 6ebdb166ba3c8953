"""Packages beside the server, written and loaded by a test."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

from opencode_web.lib.plugins.loading import load_plugins

IMPORTS = "from opencode_web.plugin import *\nimport threading, time\n"


def write_package(folder: Path, name: str, text: str, *, version: str = "1.0") -> None:
    """Put a package of one module there as pip would: `name` also is that of its entry point."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (folder / f"{name}.py").write_text(IMPORTS + dedent(text))
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[opencode_web.plugins]\n{name} = {name}\n")


@contextmanager
def loaded(folder: Path, *allowed: str) -> Iterator[None]:
    """Have the packages of a folder loaded, all of them unless some are named."""
    known = {*sys.modules}
    sys.path.insert(0, str(folder))
    try:
        load_plugins(allowed or ["*"], [str(folder)])
        yield
    finally:
        sys.path.remove(str(folder))
        load_plugins([], [])
        for name in {*sys.modules} - known:
            if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]
