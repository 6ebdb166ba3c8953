"""The `plugin` list in a repository's settings: which packages of the team it names. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from opencode_web.lib.json import JsonValue
from sessions.repository.brought import Brought, Package
from sessions.repository.problems import Problem
from sessions.repository.settings import read_repository_settings

_KEY = "plugin"
_FILES = (".", "/", "file:")


def with_options(packages: tuple[Package, ...], brought: Brought) -> tuple[Package, ...]:
    """Returns: the packages with the options that trusted settings give them; the last one of a
    name counts."""
    if not brought.is_trusted:
        return packages
    options = {name: given for name, _, given in _entries(brought)}
    return tuple(
        replace(one, options=json.dumps(options[one.name], sort_keys=True))
        if options.get(one.name) is not None
        else one
        for one in packages
    )


def unmet(brought: Brought) -> Iterator[Problem]:
    """Yields: entries that nothing comes of, and why."""
    installed = {one.name: one for one in brought.packages}
    path = read_repository_settings(brought).paths.get(_KEY, "")
    for name, version, _ in _entries(brought):
        if not name or name.startswith(_FILES):
            yield Problem(
                path, f"{name[:200]!r} in plugin is not loaded: put files in .opencode/plugin."
            )
        elif name not in installed:
            yield Problem(
                path,
                f"The plugin {name[:200]} is not installed. An admin can add it on the page "
                "Plugins of the team.",
            )
        elif version and version != installed[name].version:
            yield Problem(
                path,
                f"The plugin {name}@{version[:100]} is not installed. {installed[name].path} is "
                "loaded in its place.",
            )


def _entries(brought: Brought) -> Iterator[tuple[str, str, JsonValue]]:
    """Yields: name, version if one is named, and options of each entry."""
    listed = read_repository_settings(brought).data.get(_KEY)
    for entry in listed if isinstance(listed, list) else []:
        spec, options = entry, None
        if isinstance(entry, list) and len(entry) == 2:
            spec, options = entry
        if isinstance(spec, str):
            name, at, version = spec.rpartition("@")
            yield (name, version, options) if at and name else (spec, "", options)
        else:
            yield "", "", None
