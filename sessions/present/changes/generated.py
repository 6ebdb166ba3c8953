"""Files that programs write and nobody reads line by line, told by their names."""

from __future__ import annotations

import re

_LOCKS = frozenset(
    {
        *("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock"),
        *("poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "requirements.lock"),
        *("Cargo.lock", "Gemfile.lock", "composer.lock", "go.sum", "mix.lock", "flake.lock"),
        *("Podfile.lock", "Package.resolved", "pubspec.lock", "deno.lock", "gradle.lockfile"),
        *("packages.lock.json", ".terraform.lock.hcl", "Chart.lock", "MODULE.bazel.lock"),
    }
)
_WRITTEN = re.compile(
    r"\.min\.(?:js|css|mjs)$|\.(?:js|css|mjs)\.map$|_pb2(?:_grpc)?\.pyi?$|\.pb\.(?:go|cc|h)$"
    r"|\.(?:g|freezed)\.dart$|\.designer\.cs$|_generated\.\w+$|\.generated\.\w+$|\.snap$",
    re.IGNORECASE,
)
_FOLDERS = re.compile(r"(?:^|/)(?:node_modules|__generated__|__snapshots__)/")


def is_generated(path: str) -> bool:
    """Whether a path names a lock file or another file that a program writes."""
    name = path.rpartition("/")[2]
    return name in _LOCKS or bool(_WRITTEN.search(name) or _FOLDERS.search(path))
