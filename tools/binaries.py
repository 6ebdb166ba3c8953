from __future__ import annotations

import functools
import importlib.metadata
import os
import shutil
from pathlib import Path


@functools.cache
def find_binary(name: str, *, distribution: str) -> Path | None:
    """Find a program on PATH, else in the installed Python package that carries it.

    Returns: its absolute path, where it must stay: some lie beside libraries of their own. None if
    absent.
    """
    if found := shutil.which(name):
        return Path(found).absolute()
    return packaged_binary(name, distribution=distribution)


@functools.cache
def packaged_binary(name: str, *, distribution: str) -> Path | None:
    """Find a program in the files of an installed Python package."""
    try:
        files = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        path = Path(os.path.normpath(Path(str(file.locate()))))
        if path.name == name and os.access(path, os.X_OK) and path.is_file():
            return path
    return None
