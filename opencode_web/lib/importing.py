"""What makes a start quicker while much is imported."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collections() -> Iterator[None]:
    """Leave the collector off, and what exists afterwards out of all its later work.

    Modules make hundreds of thousands of objects, and all of them stay: looking for garbage among
    them again and again is a quarter of the time of an import, and finds none.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


@contextmanager
def without_module(name: str) -> Iterator[None]:
    """Import as if an optional library were not installed, unless it has been imported already."""
    is_imported = name in sys.modules
    if not is_imported:
        sys.modules[name] = None  # type: ignore[assignment]  # Python's way to say so
    try:
        yield
    finally:
        if not is_imported:
            del sys.modules[name]
