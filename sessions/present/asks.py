"""Permission cards: what a call wants to do, in words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from opencode_web.lib.diff_html import DiffLine, render_diff
from opencode_web.lib.json import JsonObject
from opencode_web.lib.templatetags.ui import money
from sessions.cost_limit import PERMISSION
from sessions.models import PermissionRequest
from sessions.present.data import first_line, object_of, text_of
from sessions.present.patches import patch_lines, patched_files
from sessions.present.place import Place

_DIFF_ROWS = 200
_ACTS = {
    "edit": "Allow editing",
    "read": "Allow reading",
    "glob": "Allow looking for files",
    "grep": "Allow searching",
    "list": "Allow listing",
    "webfetch": "Allow fetching",
    "external_directory": "Allow access outside the project to",
    "doom_loop": "The agent repeats itself. Go on with",
}


@dataclass(frozen=True)
class AlwaysChoice:
    pattern: str
    checked: bool


@dataclass(frozen=True)
class PermissionCard:
    id: str
    title: str
    agent: str
    # The sub-agent that asks, and its page; empty for the session's own agent.
    below: str
    below_url: str
    asked: datetime
    command: str
    # Relative to the worktree; empty when it is the worktree.
    workdir: str
    lines: list[DiffLine]
    path: str
    why: str
    # Whose rule asks, in words.
    source: str
    always: list[AlwaysChoice]
    position: int
    total: int
    reply_url: str
    # When it counts as rejected, None when it waits for ever.
    until: datetime | None
    # Asks for more cost: who may allow it differs, and there is nobody to tell something.
    is_budget: bool
    # Cards are rendered once for everybody; the browser fills this in.
    idempotency: str = ""
    scope: str = "this project"
    template: str = "sessions/_permission.html"


def permission_title(request: PermissionRequest, place: Place) -> str:
    """The question in words, such as `Allow 2 shell commands?`."""
    count = len(request.patterns)
    if request.permission == PERMISSION:
        spent, limit, amount = _amounts(request)
        return f"This session has used {spent} of its {limit}. Continue with another {amount}?"
    if request.permission == "bash":
        return "Allow a shell command?" if count < 2 else f"Allow {count} shell commands?"
    act = _ACTS.get(request.permission, f"Allow {request.permission} for")
    what = ", ".join(place.short(str(pattern)) for pattern in request.patterns[:3])
    rest = f" and {count - 3} more" if count > 3 else ""
    return f"{act} {first_line(what, 160)}{rest}?"


def permission_summary(request: PermissionRequest) -> str:
    """What the list of sessions says under one that waits."""
    if request.permission == "bash":
        return f"Permission: {first_line(_command(request.metadata) or 'shell', 80)}"
    if request.permission == PERMISSION:
        return "Cost limit: {} of {}".format(*_amounts(request))
    what = first_line(", ".join(str(pattern) for pattern in request.patterns), 60)
    if request.permission == "doom_loop":
        return f"Repeats itself: {what}"
    return f"Permission: {request.permission} {what}"


def _amounts(request: PermissionRequest) -> tuple[str, str, str]:
    """Returns: what was spent, the limit, and what an answer adds."""
    spent, limit, amount = (
        money(Decimal(text_of(request.metadata, key) or 0)) for key in ("spent", "limit", "amount")
    )
    return spent, limit, amount


def build_card(
    request: PermissionRequest, place: Place, *, position: int, total: int, why: str
) -> PermissionCard:
    """`why`: what the agent said the call is for."""
    metadata: JsonObject = request.metadata
    path = place.short(text_of(metadata, "filepath"))
    patch = text_of(metadata, "diff")
    lines = patch_lines(patched_files(metadata, place, show_large=True))
    if patch and not lines:
        lines = render_diff(patch, path=path, show_large=True).lines
    if len(lines) > _DIFF_ROWS:
        rest = DiffLine("skip", None, None, f"{len(lines) - _DIFF_ROWS} more lines")
        lines = [*lines[:_DIFF_ROWS], rest]
    return PermissionCard(
        id=request.pk,
        title=permission_title(request, place),
        agent=request.agent,
        below=request.session.title if request.session_id != place.session else "",
        below_url=place.url_of(request.session_id),
        asked=request.created_at,
        # Whole: nobody can approve what is not shown. The tool takes 64 KiB at most.
        command=_command(metadata),
        workdir=text_of(metadata, "workdir"),
        lines=lines,
        path=path,
        why=text_of(metadata, "reason") or why,
        source=request.source,
        always=_choices(request),
        position=position,
        total=total,
        reply_url=place.url("reply", permission=request.pk),
        until=request.expires_at,
        is_budget=request.permission == PERMISSION,
    )


def _choices(request: PermissionRequest) -> list[AlwaysChoice]:
    """What is asked for itself is proposed only where nothing wider is offered."""
    offered = [str(pattern) for pattern in request.always]
    wider = [pattern for pattern in offered if pattern not in request.patterns]
    return [AlwaysChoice(pattern, not wider or pattern in wider) for pattern in offered]


def _command(metadata: JsonObject) -> str:
    """What would be run: a shell command, or the arguments of a call that repeats itself."""
    given = object_of(metadata, "input")
    if given:
        return text_of(given, "command") or json.dumps(given, indent=2, ensure_ascii=False)
    return text_of(metadata, "command")


def reasons_of(parts: list[JsonObject]) -> dict[str, str]:
    """What the model says each of these calls is for, by call id."""
    return {
        text_of(part, "callID"): text_of(
            object_of(object_of(part, "state"), "input"), "description"
        )
        for part in parts
    }
