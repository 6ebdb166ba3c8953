"""What a tool row shows when it is opened. Long bodies are cut; the rest is fetched on demand."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from django.utils.safestring import SafeString

from opencode_web.lib.ansi import to_plain_lines
from opencode_web.lib.diff_html import render_diff
from opencode_web.lib.highlight import lexer_for_path, runs_to_html, split_runs
from opencode_web.lib.json import JsonObject, JsonValue, number_of, object_of, text_of
from opencode_web.lib.markdown import render_markdown
from sessions.events.stored import StoredState
from sessions.files import PICTURES
from sessions.present.changes.call_lines import parts_of_call
from sessions.present.changes.diff_gaps import GapPlace, Part
from sessions.present.changes.patches import PatchBody
from sessions.present.conversation.todos import TodoView
from sessions.present.place import Place

DIFF_ROWS = 60
OUTPUT_LINES = 12
# What "Show all" shows at most; tools cut their output at 2,000 lines.
ALL_LINES = 20_000
_VALUE_CHARS = 400
_TASK_CHARS = 2_000
_REPORT = re.compile(r"<task_result>\n(.*)\n</task_result>", re.DOTALL)
_SGR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class DiffBody:
    """`changes_url`: the same file in the changes of the session."""

    path: str
    parts: list[Part]
    more: int
    url: str
    problems: list[str] = field(default_factory=list)
    changes_url: str = ""


@dataclass(frozen=True)
class NumberedLine:
    number: int
    code: SafeString


@dataclass(frozen=True)
class FileBody:
    path: str
    first: int
    lines: list[NumberedLine]
    more: int
    url: str
    problems: list[str] = field(default_factory=list)
    # The file in the panel, as it is now; in the changes, when it was written.
    file_url: str = ""
    changes_url: str = ""


@dataclass(frozen=True)
class Picture:
    """A picture that the model was given."""

    url: str
    name: str


@dataclass(frozen=True)
class Pair:
    key: str
    value: str


@dataclass(frozen=True)
class OutputBody:
    input: list[Pair]
    output: str
    error: str
    hidden: int
    url: str
    pictures: list[Picture] = field(default_factory=list)


@dataclass(frozen=True)
class PageBody:
    """A page of the web. `link` is its address where it may be followed, else empty."""

    address: str
    link: str
    title: str
    status: int | None
    size_bytes: int | None
    mime: str
    output: str
    hidden: int
    url: str
    pictures: list[Picture] = field(default_factory=list)


@dataclass(frozen=True)
class ShellBody:
    """`hidden`: lines before `output`. `stop_url`: while it can be ended."""

    command: str
    cwd: str
    output: SafeString
    hidden: int
    url: str
    exit: int | None
    live: bool
    stop_url: str = ""


@dataclass(frozen=True)
class ReportBody:
    """`latest` and `stop_url`: while it works."""

    task: str
    report: SafeString
    error: str
    live: bool
    latest: str = ""
    stop_url: str = ""


Body = DiffBody | PatchBody | ShellBody | FileBody | OutputBody | PageBody | ReportBody | TodoView


def diff_body(
    patch: str,
    *,
    path: str,
    url: str,
    gaps: GapPlace,
    problems: list[str],
    whole: bool,
    changes_url: str = "",
) -> DiffBody | None:
    """Returns: None when there is no patch to show."""
    if not patch:
        return None
    view = render_diff(patch, path=path, show_large=whole)
    limit = ALL_LINES if whole else DIFF_ROWS
    rest = len(view.lines) - limit if view.lines else view.size
    parts = parts_of_call(view.lines[:limit], gaps, is_cut=rest > 0)
    return DiffBody(path, parts, max(rest, 0), url, problems, changes_url)


def file_body(
    state: StoredState, *, path: str, url: str, whole: bool, file_url: str = ""
) -> FileBody | None:
    """Returns: None when the call has not read text. Lines come only when asked for."""
    display = object_of(state.get("metadata", {}), "display")
    if display.get("type") != "file":
        return None
    lines = text_of(display, "text").split("\n")
    if not whole:
        return FileBody(path, 1, [], len(lines), url, file_url=file_url)
    first = number_of(display, "lineStart") or 1
    coloured = split_runs("\n".join(line[:2000] for line in lines), lexer_for_path(path))
    numbered = [
        NumberedLine(first + offset, runs_to_html(runs)) for offset, runs in enumerate(coloured)
    ]
    return FileBody(path, first, numbered[:ALL_LINES], 0, url, file_url=file_url)


def written_body(
    content: str,
    *,
    path: str,
    url: str,
    problems: list[str],
    whole: bool,
    changes_url: str = "",
) -> FileBody:
    """A new file, numbered."""
    lines = content.removesuffix("\n").split("\n")
    shown = lines[: ALL_LINES if whole else DIFF_ROWS]
    coloured = split_runs("\n".join(line[:2000] for line in shown), lexer_for_path(path))
    numbered = [
        NumberedLine(1 + offset, runs_to_html(runs)) for offset, runs in enumerate(coloured)
    ]
    more = len(lines) - len(shown)
    return FileBody(path, 1, numbered, more, url, problems, changes_url=changes_url)


def output_body(
    state: StoredState, *, place: Place, url: str, whole: bool, part_id: str
) -> OutputBody | None:
    """Input as pairs and output as text: what fits every tool. None while there is nothing."""
    pairs = [Pair(key, place.short(_value(value))) for key, value in state.get("input", {}).items()]
    lines, hidden = said_lines(state, place, most=ALL_LINES if whole else OUTPUT_LINES)
    error = place.shorten_all(state.get("error", ""))
    pictures = pictures_of(state, place, part_id)
    if not pairs and not lines and not error and not pictures:
        return None
    return OutputBody(pairs, "\n".join(lines), error, hidden, url, pictures)


def said_lines(state: StoredState, place: Place, *, most: int) -> tuple[list[str], int]:
    """Returns: the first lines of the output, and how many follow."""
    # Colours are left to the shell: here a terminal's escapes say nothing.
    said = _SGR.sub("", place.shorten_all(state.get("output", ""))).rstrip("\n")
    lines = to_plain_lines(said) if said else []
    return lines[:most], max(0, len(lines) - most)


def pictures_of(state: StoredState, place: Place, part_id: str) -> list[Picture]:
    """The pictures among the files that the model saw beside the text."""
    found = []
    for number, file in enumerate(state.get("attachments", [])):
        # A shared link has empty ones in their place.
        if file.get("mime") in PICTURES:
            url = place.url("call_picture", part=part_id, number=str(number))
            found += [Picture(url, file.get("filename", ""))] if url else []
    return found


def report_body(state: StoredState, *, latest: str = "", stop_url: str = "") -> ReportBody:
    """What a sub-agent was asked for, and what it reported."""
    found = _REPORT.search(state.get("output", ""))
    return ReportBody(
        task=text_of(state.get("input", {}), "prompt")[:_TASK_CHARS],
        report=render_markdown(found[1]) if found else SafeString(""),
        error=state.get("error", ""),
        live=state["status"] in ("pending", "running"),
        latest=latest,
        stop_url=stop_url,
    )


def problems_of(metadata: JsonObject, place: Place) -> list[str]:
    """Errors that a language server found after an edit, one line each."""
    return [
        f"{place.short(path)}{_line_of(item)}: {text_of(item, 'message')}"
        for path, diagnostics in object_of(metadata, "diagnostics").items()
        if isinstance(diagnostics, list)
        for item in diagnostics
        if isinstance(item, dict) and item.get("severity", 1) == 1
    ][:20]


def _line_of(diagnostic: JsonObject) -> str:
    line = number_of(object_of(object_of(diagnostic, "range"), "start"), "line")
    return "" if line is None else f":{line + 1}"


def _value(value: JsonValue) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _VALUE_CHARS else f"{text[:_VALUE_CHARS]}…"
