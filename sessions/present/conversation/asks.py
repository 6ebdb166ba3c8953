"""Permission cards: what a call wants to do, in words."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from django.utils.formats import number_format
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from opencode_web.lib.diff_html import DiffLine, render_diff, unmodified_text
from opencode_web.lib.json import JsonObject, object_of, text_of
from opencode_web.lib.templatetags.ui import money
from sessions.config.cost_limit import PERMISSION, role_to_answer
from sessions.events.stored import StoredTool
from sessions.mcp.servers import SAMPLING
from sessions.models import AdminsAsked, PermissionRequest
from sessions.present.changes.patches import patch_lines, patched_files
from sessions.present.data import first_line, server_tool
from sessions.present.place import Place
from sessions.rules.second_person import SecondPerson
from teams.access import roles_with
from teams.models import Membership, Role
from tools.permissions.rules import MAX_PATTERN_CHARS, say_source

_DIFF_ROWS = 200
# Lines that stay as they are, before the first that changes: on a phone it must be in sight.
_LEAD_ROWS = 1
# No more than this is in sight at once on a phone, and on wider screens; of more the card says how
# much it is.
_PHONE_ROWS, _PHONE_CHARS = 6, 300
_WIDE_ROWS, _WIDE_CHARS = 12, 900
_MAX_ROW_CHARS = 160
_MOST_NAMES = 3
# What stands between two commands of a line, where a new line means the same.
_BETWEEN = re.compile(r"\s*(?:&&|\|\|?|[;&])\s+")
_ACTS = {
    "create": gettext_noop("Allow creating"),
    "edit": gettext_noop("Allow editing"),
    "read": gettext_noop("Allow reading"),
    "glob": gettext_noop("Allow looking for files"),
    "grep": gettext_noop("Allow searching"),
    "list": gettext_noop("Allow listing"),
    "webfetch": gettext_noop("Allow fetching"),
    "external_directory": gettext_noop("Allow access outside the project to"),
    "doom_loop": gettext_noop("The agent is repeating itself. Continue with"),
    SAMPLING: gettext_noop("Let the model answer the MCP server"),
}


# The same where a line has to be short.
_NEEDS = {
    "create": gettext_noop("Permission to create %(what)s"),
    "edit": gettext_noop("Permission to edit %(what)s"),
    "read": gettext_noop("Permission to read %(what)s"),
    "glob": gettext_noop("Permission to look for %(what)s"),
    "grep": gettext_noop("Permission to search for %(what)s"),
    "list": gettext_noop("Permission to list %(what)s"),
    "webfetch": gettext_noop("Permission to fetch %(what)s"),
    "external_directory": gettext_noop("Permission for a folder outside the project: %(what)s"),
    SAMPLING: gettext_noop("Permission to ask the model for %(what)s"),
}


@dataclass(frozen=True)
class AlwaysChoice:
    """`meaning`: what the pattern lets through, in words, where it is wide."""

    pattern: str
    checked: bool
    meaning: str


@dataclass(frozen=True)
class Together:
    """One of several requests that are allowed at once, in words: nobody allows what is hidden."""

    id: str
    text: str


@dataclass(frozen=True)
class Admins:
    """Who can answer what members cannot: their names in one text. `asked_by` has asked them."""

    names: str
    asked_by: str
    ask_url: str


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
    # The same with each of its commands on a line of its own, as far as it is nothing but them.
    command_lines: str
    # Relative to the worktree; empty when it is the worktree.
    workdir: str
    lines: list[DiffLine]
    # How many lines there are, and the page that has all of them where these are not all.
    count: int
    whole_url: str
    path: str
    why: str
    # Whose rule asks, in words.
    source: str
    always: list[AlwaysChoice]
    # Nobody saves an answer in this team.
    only_once: bool
    position: int
    total: int
    reply_url: str
    # When it counts as rejected, None when it waits for ever.
    until: datetime | None
    # The least role that may allow it.
    needs: Role
    # Asks for more cost: there is nobody to tell something.
    is_budget: bool
    admins: Admins | None
    # Who may allow it; None where one person is enough.
    second: SecondPerson | None
    # All that can be allowed at once, with this one first; empty on the other cards.
    together: list[Together]
    together_url: str
    # Cards are rendered once for everybody; the browser fills this in.
    idempotency: str = ""
    template: str = "sessions/_permission.html"

    @property
    def fits(self) -> bool:
        """Whether a row of a list shows all of it, so that it can be allowed there."""
        is_short = len(self.command) <= _MAX_ROW_CHARS and "\n" not in self.command
        return is_short and not (self.lines or self.workdir)

    @property
    def is_long(self) -> bool:
        return self.count > _PHONE_ROWS

    @property
    def fits_wide(self) -> bool:
        rows = max(self.count, len(self.command_lines.splitlines()))
        return rows <= _WIDE_ROWS and len(self.command) <= _WIDE_CHARS

    @property
    def command_size(self) -> str:
        """How long the command is, in words; nothing where all of it is in sight."""
        count, chars = len(self.command_lines.splitlines()), len(self.command)
        if count <= _PHONE_ROWS and chars <= _PHONE_CHARS:
            return ""
        lines = ngettext("%(count)s line", "%(count)s lines", count) % {"count": count}
        size = {"lines": lines, "chars": number_format(chars, force_grouping=True)}
        return _("%(lines)s, %(chars)s characters") % size


def permission_title(request: PermissionRequest, place: Place) -> str:
    """The question in words, such as `Allow 2 shell commands?`."""
    count = len(request.patterns)
    if request.permission == PERMISSION:
        spent, limit, amount = _amounts(request)
        return _(
            "This session has used %(spent)s of its %(limit)s. Continue with another %(amount)s?"
        ) % {"spent": spent, "limit": limit, "amount": amount}
    if request.permission == "bash":
        return ngettext(
            "Allow a shell command?", "Allow %(count)s shell commands?", max(count, 1)
        ) % {"count": count}
    if named := server_tool(request.metadata):
        return _("Allow %(tool)s?") % {"tool": named}
    asked = _act_of(request)
    act = (
        _(_ACTS[asked])
        if asked in _ACTS
        else _("Allow %(permission)s for") % {"permission": request.permission}
    )
    what = ", ".join(place.short(str(pattern)) for pattern in request.patterns[:3])
    rest = _(" and %(count)s more") % {"count": count - 3} if count > 3 else ""
    return f"{act} {first_line(what, 160)}{rest}?"


def permission_summary(request: PermissionRequest) -> str:
    """What the list of sessions says under one that waits."""
    if request.permission == "bash":
        return _("Permission: %(what)s") % {
            "what": first_line(_command(request.metadata) or "shell", 80)
        }
    if request.permission == PERMISSION:
        said = _("Cost limit: {spent} of {limit}").format(
            spent=_amounts(request)[0], limit=_amounts(request)[1]
        )
        name = asked_by(request)
        return _("{name} asks the admins · {what}").format(name=name, what=said) if name else said
    if named := server_tool(request.metadata):
        return _("Permission: %(what)s") % {"what": named}
    what = first_line(", ".join(str(pattern) for pattern in request.patterns), 60)
    if request.permission == "doom_loop":
        return _("Repeated call: %(what)s") % {"what": what}
    if (asked := _act_of(request)) in _NEEDS:
        return _(_NEEDS[asked]) % {"what": what}
    return _("Permission: %(what)s") % {"what": f"{request.permission} {what}"}


def _act_of(request: PermissionRequest) -> str:
    is_new = request.permission == "edit" and request.metadata.get("exists") is False
    return "create" if is_new else request.permission


def _amounts(request: PermissionRequest) -> tuple[str, str, str]:
    """Returns: what was spent, the limit, and what an answer adds."""
    spent, limit, amount = (
        money(Decimal(text_of(request.metadata, key) or 0)) for key in ("spent", "limit", "amount")
    )
    return spent, limit, amount


def can_go_together(request: PermissionRequest) -> bool:
    """Whether it may be answered without a look at it alone: not more cost, nor what needs a second
    person."""
    return request.permission != PERMISSION and not request.second_person


def said_together(request: PermissionRequest, place: Place) -> Together:
    return Together(request.pk, _command(request.metadata) or permission_title(request, place))


def build_card(
    request: PermissionRequest,
    place: Place,
    *,
    position: int,
    total: int,
    call: StoredTool | None = None,
    together: Sequence[Together] = (),
    second: SecondPerson | None = None,
) -> PermissionCard:
    """`call`: what waits for the answer. `together`: the requests to allow with it. `second`: who
    may allow what needs a second person, of all requests of its tree."""
    metadata: JsonObject = request.metadata
    path = place.short(text_of(metadata, "filepath"))
    lines = _from_first_change(asked_lines(request, place))
    count, whole_url = len(lines), ""
    if count > _DIFF_ROWS or any(line.is_cut for line in lines):
        of_call = replace(place, session=request.session_id)
        whole_url = f"{of_call.body_url(call['id'])}?permission={request.pk}" if call else ""
    if count > _DIFF_ROWS:
        rest = _("%(count)s more lines") % {"count": count - _DIFF_ROWS}
        lines = [*lines[:_DIFF_ROWS], DiffLine("skip", None, None, rest)]
    always = _choices(request)
    return PermissionCard(
        id=request.pk,
        title=permission_title(request, place),
        agent=request.agent,
        below=request.session.title if request.session_id != place.session else "",
        below_url=place.sub_url(request.session_id),
        asked=request.created_at,
        # Whole: nobody can approve what is not shown. It has 64 KiB at most.
        command=_command(metadata),
        command_lines=one_a_line(_command(metadata), request.patterns),
        workdir=text_of(metadata, "workdir"),
        lines=lines,
        count=count,
        whole_url=whole_url,
        path=path,
        why=text_of(metadata, "reason") or _reason_of(call),
        source=say_source(request.source),
        always=[] if place.holds_rules else always,
        only_once=place.holds_rules and bool(always),
        position=position,
        total=total,
        reply_url=place.url("reply", permission=request.pk),
        until=request.expires_at,
        needs=role_to_answer(request.permission),
        is_budget=request.permission == PERMISSION,
        admins=_admins(request, place) if request.permission == PERMISSION else None,
        second=second if request.second_person else None,
        together=list(together),
        together_url=place.url("reply_all"),
    )


def asked_lines(
    request: PermissionRequest, place: Place, *, show_long: bool = False
) -> list[DiffLine]:
    """The diff that it asks for. Lines of more than 2,000 characters are cut unless `show_long`."""
    lines = patch_lines(patched_files(request.metadata, place, show_large=True))
    patch, path = (text_of(request.metadata, key) for key in ("diff", "filepath"))
    if patch and not lines:
        named = place.short(path)
        lines = render_diff(patch, path=named, show_large=True, show_long=show_long).lines
    return lines


def _from_first_change(lines: list[DiffLine]) -> list[DiffLine]:
    first = next((at for at, line in enumerate(lines) if line.kind in ("add", "del")), 0)
    lead = lines[:first]
    same = [line for line in lead if line.kind == "same"]
    left_out = len(same) - _LEAD_ROWS
    if left_out <= 0:
        return lines
    cut = [line for line in lead if line.kind != "same" and not line.gap]
    gap = next((line.gap.count for line in lead if line.gap), 0)
    skip = DiffLine("skip", None, None, unmodified_text(gap + left_out))
    return [*cut, skip, *same[-_LEAD_ROWS:], *lines[first:]]


def asked_by(request: PermissionRequest) -> str:
    """Returns: who has asked the admins to answer, or nothing."""
    try:
        person = request.admins_asked.asked_by
    except AdminsAsked.DoesNotExist:
        return ""
    return person.display_name if person else _("Someone")


def _admins(request: PermissionRequest, place: Place) -> Admins:
    rows = Membership.objects.filter(team__slug=place.team, role__in=roles_with(Role.ADMIN))
    people = rows.filter(user__is_active=True).select_related("user").order_by("created_at", "pk")
    names = [row.user.display_name for row in people[: _MOST_NAMES + 1]]
    if len(names) > _MOST_NAMES:
        names[_MOST_NAMES:] = [_("another admin")]
    url = place.url("ask_admins", permission=request.pk)
    return Admins(get_text_list(names), asked_by(request), url)


def _choices(request: PermissionRequest) -> list[AlwaysChoice]:
    """What is asked for itself comes first and is proposed, then what is wider."""
    exact = [one for one in request.exact if len(one) <= MAX_PATTERN_CHARS]
    offered = dict.fromkeys([*exact, *(str(pattern) for pattern in request.always)])
    return [
        AlwaysChoice(one, not exact or one in exact, _meaning(request.permission, one))
        for one in offered
    ]


def _meaning(permission: str, pattern: str) -> str:
    if pattern == "*":
        wide = {"edit": _("all file changes"), "bash": _("all commands")}
        return wide.get(permission, _("everything of this kind"))
    words = pattern.removesuffix(" *")
    if permission == "bash" and words != pattern:
        return _("all commands that start with “{words}”").format(words=words)
    return ""


def _command(metadata: JsonObject) -> str:
    """What would be run: a shell command, or the arguments of a call that repeats itself; or what a
    model would be asked."""
    given = object_of(metadata, "input")
    if given:
        # Whole: of any other tool, what is named so is one of its arguments.
        line = text_of(given, "command") if metadata.get("tool") == "bash" else ""
        return line or json.dumps(given, indent=2, ensure_ascii=False)
    return text_of(metadata, "command") or text_of(metadata, "prompt")


def one_a_line(line: str, commands: Sequence[str]) -> str:
    """Returns: the line with each of the `commands` that it consists of on a line of its own; as it
    is where there is anything else in it.
    """
    at, lines = 0, []
    for command in commands:
        if not line.startswith(command, at):
            return line
        end = at + len(command)
        between = _BETWEEN.match(line, end)
        lines.append(line[at : between.end() if between else end].rstrip())
        at = between.end() if between else end
    return "\n".join(lines) if at == len(line) else line


def _reason_of(call: StoredTool | None) -> str:
    """What the model says the call is for."""
    return text_of(call["state"].get("input", {}), "description") if call else ""
