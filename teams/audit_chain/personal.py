"""What of an entry is personal, so that it is kept apart and can be erased."""

from __future__ import annotations

from collections.abc import Iterable

# By these names an entry has addresses of people, and of their browsers.
_PERSONAL = frozenset(
    {"user", "email", "from", "to", "address", "user_agent", "account", "approved_by", "asker"}
)
# What is about a project, and the names by which such an entry has words of people, models and
# repositories. They can be erased with the project, as addresses can with the person.
_OF_PROJECTS = frozenset(
    {
        *("project", "session", "file", "checkout", "schedule", "secret", "patch", "publishing"),
        *("rule", "permission", "repository", "prompt", "terminal", "pull", "hold", "operator"),
        "emergency",
    }
)
_WORDED = frozenset(
    {
        *("name", "title", "file", "files", "path", "directory", "folder", "git_url", "url"),
        *("branch", "into", "pattern", "patterns", "always", "reason", "before", "after"),
    }
)


def personal_names(action: str, names: Iterable[str]) -> set[str]:
    """Returns: those of the names in an entry's data whose values are personal."""
    # What is said of an account is all about its person.
    kind = action.partition(".")[0]
    personal = _PERSONAL | _WORDED if kind in _OF_PROJECTS else _PERSONAL
    return {name for name in names if kind == "user" or name in personal}
