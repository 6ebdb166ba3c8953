"""How many there were of what a tool found or did, in words."""

from __future__ import annotations

from django.utils.translation import ngettext


def edits_of(count: int) -> str:
    return ngettext("%(count)s edit", "%(count)s edits", count) % {"count": count}


def lines_of(count: int) -> str:
    return ngettext("%(count)s line", "%(count)s lines", count) % {"count": count}


def results_of(count: int) -> str:
    return ngettext("%(count)s result", "%(count)s results", count) % {"count": count}


def questions_of(count: int) -> str:
    return ngettext("%(count)s question", "%(count)s questions", count) % {"count": count}


def calls_of(count: int) -> str:
    return ngettext("%(count)s call", "%(count)s calls", count) % {"count": count}


def found_by(tool: str, count: int) -> str:
    """Returns: such as `2 matches`, for a search for text, for files or in a folder."""
    match tool:
        case "grep":
            said = ngettext("%(count)s match", "%(count)s matches", count)
        case "glob":
            said = ngettext("%(count)s file", "%(count)s files", count)
        case _:
            said = ngettext("%(count)s entry", "%(count)s entries", count)
    return said % {"count": count}


def looks_of(tool: str, count: int) -> str:
    """Returns: such as `3 reads`, for calls that only look around."""
    match tool:
        case "read":
            said = ngettext("%(count)s read", "%(count)s reads", count)
        case "grep":
            said = ngettext("%(count)s search", "%(count)s searches", count)
        case "list":
            said = ngettext("%(count)s listing", "%(count)s listings", count)
        case _:
            said = ngettext("%(count)s lookup", "%(count)s lookups", count)
    return said % {"count": count}
