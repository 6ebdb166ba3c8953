"""Python imports this at the start of every process that has this folder on PYTHONPATH."""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import runpy
import sys
from pathlib import Path

POINTS = runpy.run_path(str(Path(__file__).parents[1] / "points.py"))


class _Loader(importlib.abc.Loader):
    """Loads a module as always, then wraps the functions at which a fault may strike."""

    def __init__(self, inner) -> None:
        self._inner = inner

    def create_module(self, spec):
        return self._inner.create_module(spec)

    def exec_module(self, module) -> None:
        self._inner.exec_module(module)
        POINTS["wrap"](module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name not in POINTS["MODULES"]:
            return None
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(name, path, target)):
                spec.loader = _Loader(spec.loader)
                return spec
        return None


if os.environ.get("CHAOS_DIR"):
    sys.meta_path.insert(0, _Finder())
