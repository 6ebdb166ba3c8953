"""One row for each tool call: verb, object, numbers, state; and which body it opens to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.template.defaultfilters import filesizeformat
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from opencode_web.lib.json import JsonObject, list_of, number_of, object_of, text_of
from sessions.events.stored import StoredTool
from sessions.mcp.servers import LIST_RESOURCES, LIST_TEMPLATES, READ_RESOURCE, SAMPLING
from sessions.present.conversation.bodies import Body, OutputBody, Pair, report_body
from sessions.present.conversation.counts import calls_of, questions_of
from sessions.present.conversation.decisions import (
    Decision,
    cut_off,
    is_stopped_with_turn,
    stopped_by,
)
from sessions.present.conversation.page_body import host_of, page_body
from sessions.present.conversation.plugin_notes import plugin_sentence
from sessions.present.conversation.shell_body import last_line, shell_body
from sessions.present.conversation.subagent_work import FindBelow, nothing_below, work_of
from sessions.present.conversation.todos import build_todos
from sessions.present.conversation.tool_files import FILE_TOOLS
from sessions.present.conversation.tool_looks import DEFAULT, Call, Draw, Looks, plain
from sessions.present.data import duration_of, first_line, moment_of, server_tool
from sessions.present.place import Place
from tools.todo import MAX_ITEMS

EXPLORING = frozenset({"read", "glob", "grep", "list", "lsp"})
_STATES = {"completed": "done"}
_BASH, _WEB = "sessions/tools/_bash.html", "sessions/tools/_web.html"
_TASK, _TODOS = "sessions/tools/_task.html", "sessions/tools/_todo_items.html"


@dataclass(frozen=True)
class ToolRow:
    """What `parts/_tool.html` shows."""

    id: str
    tool: str
    verb: str
    object: str
    # pending, running, waiting (for a person), done, error, or stopped: a person cut it off.
    state: str
    words: bool = False
    numbers: str = ""
    added: int | None = None
    removed: int | None = None
    note: str = ""
    since: datetime | None = None
    duration_s: float | None = None
    error: str = ""
    # The last line of what runs, or of a command that failed.
    tail: str = ""
    body_template: str = ""
    body: Body | None = None
    open: bool = False
    # The page of the sub-agent that the call has started.
    open_url: str = ""
    decisions: Sequence[Decision] = field(default_factory=list)
    # What plugins did to it, in a sentence.
    plugins: str = ""
    # It never ran: a person did not allow it.
    rejected: bool = False

    @property
    def inner(self) -> ToolRow:
        """The row inside of what has the link to its page."""
        return replace(self, id=f"{self.id}-row", open_url="")


def build_tool_row(
    part: StoredTool,
    place: Place,
    *,
    waiting: str = "",
    whole: bool = False,
    decisions: Sequence[Decision] = (),
    below: FindBelow = nothing_below,
    author: str = "",
) -> ToolRow:
    """`waiting`: for whom, where a person has to answer first. `whole`: nothing of the
    body is cut. `author` is whose prompt it belongs to."""
    part_id, tool, state = part["id"], part["tool"], part["state"]
    error = first_line(place.shorten_all(state.get("error", "")))
    ended = cut_off(state, decisions) or stopped_by(state)
    if ended:
        # What it says of itself is for the model.
        error = "" if is_stopped_with_turn(state) else ended
        state = {**state, "error": ""}
    metadata = part.get("metadata", {})
    rejected = state["status"] == "error" and any(one.rejected for one in decisions)
    named = server_tool(object_of(metadata, "mcp"))
    typed = object_of(metadata, "command").get("typed") is True
    call = Call(
        part_id,
        tool,
        state,
        place,
        whole,
        waits=bool(waiting),
        below=below,
        server_tool=named,
        typed=typed,
        author=author,
        stopped=bool(ended),
    )
    looks = _TOOLS.get(tool, _other)(call)
    if waiting:
        # What it wants to do stands in its card, and nothing runs.
        looks = replace(looks, object="", numbers="", added=None, removed=None)
    time = state.get("time")
    return ToolRow(
        id=part_id,
        tool=tool,
        verb=looks.verb,
        object=looks.object,
        words=looks.words,
        state=_state_of(call, looks),
        numbers=looks.numbers or _sampled(object_of(metadata, SAMPLING)),
        added=looks.added,
        removed=looks.removed,
        note=waiting,
        since=moment_of(time["start"]) if time and not waiting else None,
        duration_s=None if rejected else duration_of(time),
        error=error or looks.refused,
        body_template=looks.template if looks.body else "",
        body=looks.body,
        open=looks.open,
        open_url=looks.open_url,
        tail=looks.tail,
        decisions=[decision for decision in decisions if decision.said],
        rejected=rejected,
        plugins=plugin_sentence(metadata.get("plugins")),
    )


def _sampled(asked: JsonObject) -> str:
    if not asked:
        return ""
    tokens = number_format(number_of(asked, "tokens") or 0, force_grouping=True)
    return _("asked the model: %(tokens)s tokens") % {"tokens": tokens}


def _state_of(call: Call, looks: Looks) -> str:
    if call.waits:
        return "waiting"
    return "error" if looks.refused or looks.failed else _STATES.get(call.status, call.status)


def _shell(call: Call) -> Looks:
    command = text_of(call.input, "command")
    code = number_of(call.metadata, "exit")
    numbers = " · ".join(filter(None, (_typed_by(call), _exit(code))))
    # Only what has begun can be ended.
    runs = call.status == "running" and not call.waits
    stop_url = call.place.url("stop_command", part=call.id) if runs else ""
    body = None
    if command:
        body = shell_body(
            call.state, place=call.place, url=call.url, whole=call.whole, stop_url=stop_url
        )
    described = "" if call.typed else text_of(call.input, "description")
    title = first_line(described or command)
    if call.status == "error" and body is not None and not body.output:
        body_of_call = plain(call)
        return Looks(
            _("Shell"),
            title,
            numbers,
            template=DEFAULT,
            body=body_of_call,
            open=call.typed,
            words=bool(described),
        )
    failed = bool(code) and call.status == "completed"
    tail = last_line(call.state) if runs or failed else ""
    return Looks(
        _("Shell"),
        title,
        numbers,
        template=_BASH,
        body=body,
        open=call.typed,
        tail=tail,
        failed=failed,
        words=bool(described),
    )


def _typed_by(call: Call) -> str:
    if not call.typed:
        return ""
    return _("typed by {name}").format(name=call.author) if call.author else _("typed by a person")


def _exit(code: int | None) -> str:
    return _("exit %(code)s") % {"code": code} if code else ""


def _question(call: Call) -> Looks:
    asked = [item for item in list_of(call.input, "questions") if isinstance(item, dict)]
    count = len(asked)
    what = text_of(asked[0], "question") if count == 1 else questions_of(count)
    answers = list_of(call.metadata, "answers")
    given = [answer if isinstance(answer, list) else [] for answer in answers]
    given += [[]] * (count - len(given))
    pairs = [
        Pair(text_of(item, "question"), ", ".join(str(text) for text in answer) or _("Left open"))
        for item, answer in zip(asked, given, strict=False)
    ]
    body = OutputBody(pairs, "", "", 0, call.url) if pairs and answers else None
    return Looks(_("Asked"), first_line(what), template=DEFAULT, body=body, words=True)


def _task(call: Call) -> Looks:
    child = text_of(call.metadata, "sessionId")
    described, agent = (text_of(call.input, key) for key in ("description", "subagent_type"))
    title, live = first_line(described), call.status in ("pending", "running")
    if not child:
        body_of_call = plain(call)
        return Looks(
            _("Task"), title, agent, template=DEFAULT, body=body_of_call, open=live, words=True
        )
    done = call.below(child)
    body = report_body(
        call.state,
        latest=done.latest if done else "",
        stop_url=done.stop_url if done else "",
    )
    numbers, url = work_of(agent, done), call.place.sub_url(child)
    return Looks(
        _("Task"),
        title,
        numbers,
        template=_TASK,
        body=body,
        open=live,
        open_url=url,
        words=True,
    )


def _fetch(call: Call) -> Looks:
    asked = first_line(text_of(call.input, "url"))
    verb = _("Fetched") if call.status != "running" else _("Fetching")
    if call.status != "completed":
        return Looks(verb, host_of(asked), template=DEFAULT, body=plain(call))
    body = page_body(call.state, place=call.place, url=call.url, whole=call.whole, part_id=call.id)
    numbers = filesizeformat(body.size_bytes) if body.size_bytes else ""
    return Looks(verb, host_of(asked), numbers, template=_WEB, body=body)


def _web_search(call: Call) -> Looks:
    asked = first_line(text_of(call.input, "query"))
    said = _("“%(query)s”") % {"query": asked} if asked else ""
    return Looks(_("Searched the web"), said, template=DEFAULT, body=plain(call), words=True)


def _skill(call: Call) -> Looks:
    name = text_of(call.input, "name")
    return Looks(_("Loaded skill"), first_line(name), template=DEFAULT, body=plain(call))


def _todos(call: Call) -> Looks:
    if "todos" not in call.metadata:
        return Looks(_("Plan"), "", template=DEFAULT, body=plain(call))
    given = list_of(call.metadata, "todos")[:MAX_ITEMS]
    view = build_todos([item for item in given if isinstance(item, dict)])
    verb = _("Plan read") if call.tool == "todoread" else _("Plan updated")
    return Looks(
        verb,
        _("%(done)s of %(total)s") % {"done": view.done, "total": view.total},
        template=_TODOS,
        body=view,
        words=True,
    )


def _plan(call: Call) -> Looks:
    entering = call.tool == "plan_enter"
    agreed = bool(text_of(call.metadata, "agent"))
    if entering:
        verb = _("Plan mode on") if agreed else _("Plan mode proposed")
        return Looks(verb, first_line(text_of(call.input, "reason")), template=DEFAULT, body=None)
    verb = _("Plan approved") if agreed else _("Plan proposed")
    return Looks(verb, text_of(call.metadata, "plan"), template=DEFAULT, body=plain(call))


def _invalid(call: Call) -> Looks:
    why = first_line(text_of(call.input, "error"))
    name = text_of(call.input, "tool")
    return Looks(_("Could not call"), name, template=DEFAULT, body=plain(call), refused=why)


def _batch(call: Call) -> Looks:
    count, left_out = (number_of(call.metadata, key) or 0 for key in ("totalCalls", "leftOut"))
    numbers = _("%(count)s not run") % {"count": left_out} if left_out else ""
    body = plain(call) if call.failed else None
    return Looks(
        _("Batch"),
        calls_of(count) if count else "",
        numbers,
        template=DEFAULT,
        body=body,
    )


def _resources(call: Call) -> Looks:
    server = first_line(text_of(call.input, "server"))
    return Looks(_("Listed resources"), server, template=DEFAULT, body=plain(call))


def _resource(call: Call) -> Looks:
    server, uri = (first_line(text_of(call.input, key)) for key in ("server", "uri"))
    return Looks(_("Read resource"), uri, server, template=DEFAULT, body=plain(call))


def _other(call: Call) -> Looks:
    title = call.state.get("title") or first_line(
        ", ".join(str(value) for value in call.input.values() if isinstance(value, str | int))
    )
    return Looks(
        call.server_tool or call.tool.capitalize(),
        first_line(title),
        template=DEFAULT,
        body=plain(call),
        tail=last_line(call.state) if call.status == "running" and not call.waits else "",
    )


_TOOLS: dict[str, Draw] = {
    **FILE_TOOLS,
    "bash": _shell,
    "batch": _batch,
    "invalid": _invalid,
    "task": _task,
    "plan_enter": _plan,
    "plan_exit": _plan,
    "question": _question,
    "webfetch": _fetch,
    "websearch": _web_search,
    "codesearch": _web_search,
    "skill": _skill,
    LIST_RESOURCES: _resources,
    LIST_TEMPLATES: _resources,
    READ_RESOURCE: _resource,
    "todoread": _todos,
    "todowrite": _todos,
}
