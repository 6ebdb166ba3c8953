"""Well-known keys in the texts of a project: hidden, unless its team does not want that."""

from __future__ import annotations

from functools import cache

from opencode_web.lib.json import JsonValue
from opencode_web.lib.known_keys import KnownKeys
from sessions.models import AllowedKey, Project
from tools.redaction import NO_SECRETS, Redactor


def key_redactor(project: Project) -> Redactor:
    """Returns: what hides keys, but not those that somebody has allowed. `project.team` should be
    loaded; the database is asked only once a key is found."""
    if not project.team.hides_keys:
        return NO_SECRETS

    @cache
    def allowed() -> frozenset[str]:
        rows = AllowedKey.objects.filter(project=project)
        return frozenset(rows.values_list("fingerprint", flat=True))

    return Redactor({}, keys=KnownKeys(allowed))


def hide_keys(project: Project, text: str) -> str:
    """Returns: a text as it may be kept."""
    return key_redactor(project).text(text)


def keys_in(project: Project, text: str) -> dict[str, str]:
    """Returns: what would be hidden in a text: the values, and what kind each is of."""
    data, keys = text.encode("utf-8", "surrogatepass"), key_redactor(project).keys
    found = keys.found(data) if keys else ()
    return {data[one.start : one.end].decode(): one.kind for one in found}


def restore_files(old: JsonValue, new: JsonValue) -> JsonValue:
    """Returns: `new` with the contents of files as they are in `old`: they are no text, and what
    looks like a key in them is chance."""
    match old, new:
        case str(), _ if old.startswith("data:") and ";base64," in old[:200]:
            return old
        case list(), list():
            return [restore_files(*pair) for pair in zip(old, new, strict=True)]
        case dict(), dict():
            return {key: restore_files(old[key], item) for key, item in new.items()}
        case _:
            return new
