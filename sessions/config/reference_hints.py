"""References in settings that are not replaced where they stand, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _

from opencode_web.lib.config_references import TEMPLATE, TEXTS, Reference, references_in, stands_in
from opencode_web.lib.json import JsonObject
from sessions.config.known_keys import join_keys
from sessions.repository.references import PLACES
from sessions.repository.settings import Ignored, RepositorySettings

# What a server is started with or sent: secrets of the project, and at an address listed variables.
_VARIABLES = tuple(("mcp", "*", key, "*") for key in ("environment", "headers", "oauth"))
_NEVER_COUNT = ("mcp", "provider")
_MAX = 10


def say_references(data: JsonObject) -> list[str]:
    """Returns: a sentence about each that is not replaced in settings that people have written."""
    return [one for one in map(_said, references_in(data)) if one][:_MAX]


def _said(one: Reference) -> str:
    if stands_in(one.path, TEXTS if one.file else _VARIABLES):
        return ""
    if one.file and one.path[:1] == TEMPLATE[:1]:
        said = _(
            "%(reference)s in %(key)s is not replaced. Write the command to a file in "
            ".opencode/command of the repository instead."
        )
    elif one.file:
        said = _(
            "%(reference)s in %(key)s is not replaced. Files can only be included in agent "
            "prompts, in descriptions of agents and commands, and in instructions_text."
        )
    else:
        said = _(
            "%(reference)s in %(key)s is not replaced. Variables can only be used in the "
            "environment, headers and sign-in of MCP servers, and as the complete key of a "
            "provider."
        )
    return said % {"reference": one.shown, "key": join_keys([one.path])}


def ignored_references(found: RepositorySettings) -> Iterator[Ignored]:
    """Yield those that are left in a repository's own settings; of missing files others tell."""
    left = [
        one
        for one in references_in(found.data)
        if one.path[0] not in _NEVER_COUNT and not (one.file and stands_in(one.path, PLACES))
    ]
    for one in left[:_MAX]:
        reason = (
            "files can be included only in texts for models"
            if one.file
            else "it is given no variables"
        )
        yield Ignored(
            join_keys([one.path]),
            found.paths[one.path[0]],
            f"{one.shown} is not replaced in a repository's own settings: {reason}.",
        )
