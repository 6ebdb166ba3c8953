"""The rows of calls that read, find or change files."""

from __future__ import annotations

from dataclasses import replace

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from opencode_web.lib.json import list_of, number_of, object_of, text_of
from sessions.present.changes.call_lines import gap_place_of
from sessions.present.changes.patches import names_in, patch_body, patched_files
from sessions.present.conversation.bodies import (
    ALL_LINES,
    DIFF_ROWS,
    diff_body,
    file_body,
    problems_of,
    written_body,
)
from sessions.present.conversation.counts import edits_of, found_by, lines_of, results_of
from sessions.present.conversation.tool_looks import DEFAULT, Call, Draw, Looks, changes_url, plain
from sessions.present.data import first_line

_EDIT, _READ = "sessions/tools/_edit.html", "sessions/tools/_read.html"
_PATCH = "sessions/tools/_patch.html"
_VERBS = {
    "goToDefinition": gettext_noop("Looked up definition"),
    "findReferences": gettext_noop("Looked up references"),
    "goToImplementation": gettext_noop("Looked up implementations"),
    "hover": gettext_noop("Looked up type"),
    "documentSymbol": gettext_noop("Listed symbols"),
    "workspaceSymbol": gettext_noop("Searched symbols"),
    "prepareCallHierarchy": gettext_noop("Looked up function"),
    "incomingCalls": gettext_noop("Looked up callers"),
    "outgoingCalls": gettext_noop("Looked up calls"),
}


def _edit(call: Call) -> Looks:
    diff = object_of(call.metadata, "filediff")
    patch = text_of(diff, "patch")
    gaps = gap_place_of(call.place, call.id)
    if not patch:
        # Its lines lack the indentation that all of them share, so they are in no file.
        patch, gaps = text_of(call.metadata, "diff"), replace(gaps, url="")
    body = diff_body(
        patch,
        path=call.path,
        url=call.url,
        gaps=gaps,
        problems=problems_of(call.metadata, call.place),
        whole=call.whole,
        changes_url=call.changes_url,
    )
    if body is None:
        return Looks(pgettext("tool", "Edit"), call.path, template=DEFAULT, body=plain(call))
    added, removed = number_of(diff, "additions"), number_of(diff, "deletions")
    count = len(list_of(call.input, "edits"))
    numbers = edits_of(count) if count > 1 else ""
    return Looks(
        pgettext("tool", "Edit"), call.path, numbers, added, removed, template=_EDIT, body=body
    )


def _write(call: Call) -> Looks:
    content = text_of(call.input, "content")
    diff = object_of(call.metadata, "filediff")
    if diff:
        return replace(_edit(call), verb=pgettext("tool", "Write"))
    if not content or call.failed:
        return Looks(pgettext("tool", "Write"), call.path, template=DEFAULT, body=plain(call))
    body = written_body(
        content,
        path=call.path,
        url=call.url,
        problems=problems_of(call.metadata, call.place),
        whole=call.whole,
        changes_url=call.changes_url,
    )
    lines = len(content.removesuffix("\n").split("\n"))
    return Looks(pgettext("tool", "Write"), call.path, added=lines, template=_READ, body=body)


def _read(call: Call) -> Looks:
    display = object_of(call.metadata, "display")
    link = call.place.file_url(call.path)
    body = file_body(call.state, path=call.path, url=call.url, whole=call.whole, file_url=link)
    if body is None:
        count = len(call.state.get("attachments", []))
        return Looks(
            pgettext("tool", "Read"),
            call.path,
            _("image") if count else "",
            template=DEFAULT,
            body=plain(call),
        )
    start, end = number_of(display, "lineStart"), number_of(display, "lineEnd")
    numbers = (
        _("lines %(start)s to %(end)s") % {"start": start, "end": end}
        if display.get("truncated")
        else lines_of(body.more or end or 0)
    )
    return Looks(pgettext("tool", "Read"), call.path, numbers, template=_READ, body=body)


def _search(call: Call) -> Looks:
    count = number_of(call.metadata, "count")
    if count is None:
        count = number_of(call.metadata, "matches")
    numbers = "" if count is None else found_by(call.tool, count)
    verb = {"grep": _("Searched"), "glob": _("Found"), "list": _("Listed")}[call.tool]
    given = text_of(call.input, "pattern") or call.path or "."
    return Looks(verb, given, numbers, template=DEFAULT, body=plain(call))


def _lsp(call: Call) -> Looks:
    operation = text_of(call.input, "operation")
    verb = _lookup_verb(operation)
    line, count = number_of(call.input, "line"), number_of(call.metadata, "count")
    asked = f"{call.path}:{line}" if line else call.path
    if operation == "workspaceSymbol":
        asked = first_line(text_of(call.input, "query")) or call.path
    elif operation == "documentSymbol":
        asked = call.path
    numbers = "" if count is None else results_of(count)
    return Looks(verb, asked, numbers, template=DEFAULT, body=plain(call))


def _patch(call: Call) -> Looks:
    files = patched_files(call.metadata, call.place, show_large=call.whole)
    named = [file.name for file in files] or names_in(text_of(call.input, "patchText"))
    names = ", ".join(call.place.short(name) for name in named[:3])
    if len(named) > 3:
        names = _("%(names)s and %(count)s more") % {"names": names, "count": len(named) - 3}
    body = patch_body(
        [replace(file, changes_url=changes_url(call.place, file.name)) for file in files],
        gaps=[gap_place_of(call.place, call.id, file.id) for file in files],
        most=ALL_LINES if call.whole else DIFF_ROWS,
        url=call.url,
        problems=problems_of(call.metadata, call.place),
    )
    if body is None:
        return Looks(_("Patch"), names, template=DEFAULT, body=plain(call))
    added, removed = sum(file.added for file in files), sum(file.removed for file in files)
    return Looks(_("Patch"), names, added=added, removed=removed, template=_PATCH, body=body)


FILE_TOOLS: dict[str, Draw] = {
    "edit": _edit,
    "multiedit": _edit,
    "write": _write,
    "read": _read,
    "grep": _search,
    "glob": _search,
    "list": _search,
    "lsp": _lsp,
    "patch": _patch,
    "apply_patch": _patch,
}


def _lookup_verb(operation: str) -> str:
    """Returns: what the operation has done, such as `Looked up references`."""
    return _(_VERBS.get(operation, gettext_noop("Asked about code")))
