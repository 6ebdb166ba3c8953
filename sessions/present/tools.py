"""One row for each tool call: verb, object, numbers, state; and which body it opens to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from opencode_web.lib.json import JsonObject
from sessions.present.bodies import (
    ALL_LINES,
    DIFF_ROWS,
    Body,
    OutputBody,
    Pair,
    attachments_of,
    diff_body,
    file_body,
    output_body,
    problems_of,
    report_body,
    shell_body,
    written_body,
)
from sessions.present.data import (
    duration_of,
    first_line,
    list_of,
    moment_of,
    number_of,
    object_of,
    text_of,
)
from sessions.present.decisions import Decision
from sessions.present.patches import names_in, patch_body, patched_files
from sessions.present.place import Place
from sessions.present.todos import build_todos
from tools.todo import MAX_ITEMS

EXPLORING = frozenset({"read", "glob", "grep", "list", "lsp"})
_STATES = {"completed": "done"}
_EDIT, _READ = "sessions/tools/_edit.html", "sessions/tools/_read.html"
_BASH, _DEFAULT = "sessions/tools/_bash.html", "sessions/tools/_default.html"
_TASK, _TODOS = "sessions/tools/_task.html", "sessions/tools/_todo_items.html"
_PATCH = "sessions/tools/_patch.html"
_LSP_VERBS = {
    "goToDefinition": "Looked up definition",
    "findReferences": "Looked up uses",
    "goToImplementation": "Looked up implementations",
    "hover": "Looked up type",
    "documentSymbol": "Listed symbols",
    "workspaceSymbol": "Searched symbols",
    "prepareCallHierarchy": "Looked up function",
    "incomingCalls": "Looked up callers",
    "outgoingCalls": "Looked up calls",
}


@dataclass(frozen=True)
class ToolRow:
    """What `parts/_tool.html` shows."""

    id: str
    tool: str
    verb: str
    object: str
    # pending, running, done, error, or stopped: a person cut it off.
    state: str
    numbers: str = ""
    added: int | None = None
    removed: int | None = None
    note: str = ""
    since: datetime | None = None
    duration_s: float | None = None
    error: str = ""
    body_template: str = ""
    body: Body | None = None
    open: bool = False
    decisions: Sequence[Decision] = field(default_factory=list)


@dataclass(frozen=True)
class _Looks:
    verb: str
    object: str
    numbers: str = ""
    added: int | None = None
    removed: int | None = None
    template: str = ""
    body: Body | None = None


@dataclass(frozen=True)
class _Call:
    tool: str
    state: JsonObject
    place: Place
    url: str
    whole: bool

    @property
    def input(self) -> JsonObject:
        return object_of(self.state, "input")

    @property
    def metadata(self) -> JsonObject:
        return object_of(self.state, "metadata")

    @property
    def path(self) -> str:
        given = text_of(self.input, "filePath") or text_of(self.input, "path")
        return self.place.short(given)

    @property
    def failed(self) -> bool:
        return self.state.get("status") in ("error", "stopped")


def build_tool_row(
    part: JsonObject,
    place: Place,
    *,
    waiting: bool = False,
    whole: bool = False,
    decisions: Sequence[Decision] = (),
) -> ToolRow:
    """`waiting`: a person has to answer first. `whole`: nothing of the body is cut."""
    part_id, tool, state = text_of(part, "id"), text_of(part, "tool"), object_of(part, "state")
    error = first_line(text_of(state, "error"))
    cut_off = _cut_off(state, decisions)
    if cut_off:
        # What it says of itself is for the model.
        error = cut_off
        state = {**state, "error": "", "status": "stopped"}
    call = _Call(tool, state, place, place.body_url(part_id), whole)
    looks = _TOOLS.get(tool, _other)(call)
    status = text_of(state, "status")
    time = object_of(state, "time")
    return ToolRow(
        id=part_id,
        tool=tool,
        verb=looks.verb,
        object=looks.object,
        state=_STATES.get(status, status),
        numbers=looks.numbers,
        added=looks.added,
        removed=looks.removed,
        note="Waiting for you" if waiting else "",
        since=moment_of(number_of(time, "start")),
        duration_s=duration_of(time),
        error=error,
        body_template=looks.template if looks.body else "",
        body=looks.body,
        decisions=[decision for decision in decisions if decision.said],
    )


def _cut_off(state: JsonObject, decisions: Sequence[Decision]) -> str:
    """Returns: how a person ended a call that failed by this alone."""
    if state.get("status") != "error":
        return ""
    for decision in decisions:
        if decision.rejected:
            return first_line(f"{decision.said}: {decision.message}".removesuffix(": "))
    interrupted = object_of(state, "metadata").get("interrupted") is True
    return first_line(text_of(state, "error")) if interrupted else ""


def _shell(call: _Call) -> _Looks:
    command = text_of(call.input, "command")
    code = number_of(call.metadata, "exit")
    numbers = f"exit {code}" if code else ""
    body = shell_body(call.state, url=call.url, whole=call.whole) if command else None
    title = text_of(call.input, "description") or command
    if call.state.get("status") == "error" and body is not None and not body.output:
        return _Looks("Shell", first_line(title), numbers, template=_DEFAULT, body=_plain(call))
    return _Looks("Shell", first_line(title), numbers, template=_BASH, body=body)


def _edit(call: _Call) -> _Looks:
    diff = object_of(call.metadata, "filediff")
    patch = text_of(diff, "patch") or text_of(call.metadata, "diff")
    body = diff_body(
        patch,
        path=call.path,
        url=call.url,
        problems=problems_of(call.metadata, call.place),
        whole=call.whole,
    )
    if body is None:
        return _Looks("Edit", call.path, template=_DEFAULT, body=_plain(call))
    added, removed = number_of(diff, "additions"), number_of(diff, "deletions")
    count = len(list_of(call.input, "edits"))
    numbers = f"{count} edits" if count > 1 else ""
    return _Looks("Edit", call.path, numbers, added, removed, template=_EDIT, body=body)


def _write(call: _Call) -> _Looks:
    content = text_of(call.input, "content")
    diff = object_of(call.metadata, "filediff")
    if diff:
        looks = _edit(call)
        return _Looks(
            "Write",
            call.path,
            added=looks.added,
            removed=looks.removed,
            template=_EDIT,
            body=looks.body,
        )
    if not content or call.failed:
        return _Looks("Write", call.path, template=_DEFAULT, body=_plain(call))
    body = written_body(
        content,
        path=call.path,
        url=call.url,
        problems=problems_of(call.metadata, call.place),
        whole=call.whole,
    )
    lines = len(content.removesuffix("\n").split("\n"))
    return _Looks("Write", call.path, added=lines, template=_READ, body=body)


def _read(call: _Call) -> _Looks:
    display = object_of(call.metadata, "display")
    body = file_body(call.state, path=call.path, url=call.url, whole=call.whole)
    if body is None:
        count = attachments_of(call.state)
        return _Looks(
            "Read", call.path, "image" if count else "", template=_DEFAULT, body=_plain(call)
        )
    start, end = number_of(display, "lineStart"), number_of(display, "lineEnd")
    numbers = f"lines {start} to {end}" if display.get("truncated") else f"{body.more or end} lines"
    return _Looks("Read", call.path, numbers, template=_READ, body=body)


def _search(call: _Call) -> _Looks:
    count = number_of(call.metadata, "count")
    if count is None:
        count = number_of(call.metadata, "matches")
    nouns = {"grep": ("match", "matches"), "glob": ("file", "files"), "list": ("entry", "entries")}
    one, many = nouns[call.tool]
    numbers = "" if count is None else f"{count} {one if count == 1 else many}"
    verb = {"grep": "Searched", "glob": "Found", "list": "Listed"}[call.tool]
    given = text_of(call.input, "pattern") or call.path or "."
    return _Looks(verb, given, numbers, template=_DEFAULT, body=_plain(call))


def _lsp(call: _Call) -> _Looks:
    operation = text_of(call.input, "operation")
    verb = _LSP_VERBS.get(operation, "Asked about code")
    line, count = number_of(call.input, "line"), number_of(call.metadata, "count")
    asked = f"{call.path}:{line}" if line else call.path
    if operation == "workspaceSymbol":
        asked = first_line(text_of(call.input, "query")) or call.path
    elif operation == "documentSymbol":
        asked = call.path
    numbers = "" if count is None else f"{count} result{'' if count == 1 else 's'}"
    return _Looks(verb, asked, numbers, template=_DEFAULT, body=_plain(call))


def _patch(call: _Call) -> _Looks:
    files = patched_files(call.metadata, call.place, show_large=call.whole)
    named = [file.name for file in files] or names_in(text_of(call.input, "patchText"))
    names = ", ".join(call.place.short(name) for name in named[:3])
    if len(named) > 3:
        names += f" and {len(named) - 3} more"
    body = patch_body(
        files,
        most=ALL_LINES if call.whole else DIFF_ROWS,
        url=call.url,
        problems=problems_of(call.metadata, call.place),
    )
    if body is None:
        return _Looks("Patch", names, template=_DEFAULT, body=_plain(call))
    added, removed = sum(file.added for file in files), sum(file.removed for file in files)
    return _Looks("Patch", names, added=added, removed=removed, template=_PATCH, body=body)


def _question(call: _Call) -> _Looks:
    asked = [item for item in list_of(call.input, "questions") if isinstance(item, dict)]
    count = len(asked)
    what = text_of(asked[0], "question") if count == 1 else f"{count} questions"
    answers = list_of(call.metadata, "answers")
    given = [answer if isinstance(answer, list) else [] for answer in answers]
    given += [[] for _ in range(count - len(given))]
    pairs = [
        Pair(text_of(item, "question"), ", ".join(str(text) for text in answer) or "Left open")
        for item, answer in zip(asked, given, strict=False)
    ]
    body = OutputBody(pairs, "", "", 0, call.url) if pairs and answers else None
    return _Looks("Asked", first_line(what), template=_DEFAULT, body=body)


def _task(call: _Call) -> _Looks:
    child = text_of(call.metadata, "sessionId")
    body = report_body(call.state, url=call.place.url_of(child)) if child else _plain(call)
    template = _TASK if child else _DEFAULT
    described, agent = (text_of(call.input, key) for key in ("description", "subagent_type"))
    return _Looks("Task", first_line(described), agent, template=template, body=body)


def _web(call: _Call) -> _Looks:
    verb, key = ("Fetched", "url") if call.tool == "webfetch" else ("Searched the web", "query")
    asked = text_of(call.input, key)
    return _Looks(verb, first_line(asked), template=_DEFAULT, body=_plain(call))


def _todos(call: _Call) -> _Looks:
    if "todos" not in call.metadata:
        return _Looks("Plan", "", template=_DEFAULT, body=_plain(call))
    given = list_of(call.metadata, "todos")[:MAX_ITEMS]
    view = build_todos([item for item in given if isinstance(item, dict)])
    verb = "Plan read" if call.tool == "todoread" else "Plan updated"
    return _Looks(verb, f"{view.done} of {view.total}", template=_TODOS, body=view)


def _plan(call: _Call) -> _Looks:
    entering = call.tool == "plan_enter"
    agreed = bool(text_of(call.metadata, "agent"))
    if entering:
        verb = "Plan mode on" if agreed else "Plan mode proposed"
        return _Looks(verb, first_line(text_of(call.input, "reason")), template=_DEFAULT, body=None)
    verb = "Plan approved" if agreed else "Plan proposed"
    return _Looks(verb, text_of(call.metadata, "plan"), template=_DEFAULT, body=_plain(call))


def _invalid(call: _Call) -> _Looks:
    return _Looks(
        "Could not call", text_of(call.input, "tool"), template=_DEFAULT, body=_plain(call)
    )


def _batch(call: _Call) -> _Looks:
    count, left_out = (number_of(call.metadata, key) or 0 for key in ("totalCalls", "leftOut"))
    numbers = f"{left_out} not made" if left_out else ""
    body = _plain(call) if call.failed else None
    return _Looks("Batch", f"{count} calls" if count else "", numbers, template=_DEFAULT, body=body)


def _other(call: _Call) -> _Looks:
    title = text_of(call.state, "title") or first_line(
        ", ".join(str(value) for value in call.input.values() if isinstance(value, str | int))
    )
    return _Looks(call.tool.capitalize(), first_line(title), template=_DEFAULT, body=_plain(call))


def _plain(call: _Call) -> Body | None:
    return output_body(call.state, place=call.place, url=call.url, whole=call.whole)


_TOOLS: dict[str, Callable[[_Call], _Looks]] = {
    "bash": _shell,
    "batch": _batch,
    "invalid": _invalid,
    "edit": _edit,
    "multiedit": _edit,
    "write": _write,
    "read": _read,
    "grep": _search,
    "glob": _search,
    "list": _search,
    "lsp": _lsp,
    "task": _task,
    "patch": _patch,
    "apply_patch": _patch,
    "plan_enter": _plan,
    "plan_exit": _plan,
    "question": _question,
    "webfetch": _web,
    "websearch": _web,
    "codesearch": _web,
    "todoread": _todos,
    "todowrite": _todos,
}
