"""Sessions listed, taken up and stopped, and what agents ask answered, by buttons and forms.

Whatever Slack shows, what somebody may do is decided by the actions that pages and the API call.
"""

from __future__ import annotations

import re

from django.conf import settings

from opencode_web.lib.errors import Conflict, NotFound
from opencode_web.lib.json import JsonObject, JsonValue
from sessions.access import (
    SessionAccess,
    access_permission,
    access_project,
    access_question,
    access_session,
    visible_sessions,
)
from sessions.actions.control import request_stop
from sessions.actions.permissions import Reply, reply_permission
from sessions.actions.questions import reject_question, reply_question
from sessions.integrations.slack.answers import project_of_channel, session_link
from sessions.integrations.slack.blocks import (
    Block,
    actions,
    button,
    escape,
    header,
    section,
    shorten,
)
from sessions.integrations.slack.cards import (
    ALWAYS,
    ANSWER,
    CHOOSE,
    DISMISS,
    ONCE,
    REJECT,
    answer_form,
    answers_in,
    card,
    pending_asks,
)
from sessions.integrations.slack.files import DIFF, FILES, short_diff
from sessions.integrations.slack.heard import SlackHeard
from sessions.integrations.slack.messages import Answer, say
from sessions.models import RuleScope, Session, SlackWorkspace, State
from sessions.visibility import open_sessions
from teams.auth import Principal
from teams.models import Role

STOP, ATTACH = "stop", "attach"
_LISTED, _WAITING_LISTED = 10, 20
_MAX_TITLE_CHARS = 200
_REPLIES: dict[str, Reply] = {ONCE: "once", ALWAYS: "always", REJECT: "reject"}
_STATES = {State.IDLE: "Idle", State.BUSY: "Working", State.WAITING: "Waiting for an answer"}
_LINKED = re.compile(r"/t/([a-z0-9-]{1,60})/s/(ses_[0-9A-Za-z]{10,40})/?(?:[?#].*)?")


def press(workspace: SlackWorkspace, principal: Principal, heard: SlackHeard) -> Answer:
    """Do what a button stands for. Raises: AppError as the actions of pages do."""
    name, value = heard.action, heard.value
    if name in _REPLIES:
        asked, access = access_permission(principal, value)
        reply_permission(access, asked, reply=_REPLIES[name], scope=RuleScope.SESSION)
    elif name == DISMISS:
        question, access = access_question(principal, value)
        reject_question(access, question)
    elif name == ANSWER:
        question, access = access_question(principal, value)
        if question.status != "pending":
            raise Conflict("This was answered before.")
        return Answer(form=answer_form(question, access.session))
    elif name.startswith(f"{CHOOSE}_"):
        request_id, _, number = value.partition(":")
        question, access = access_question(principal, request_id)
        reply_question(access, question, answers=answers_in(question, ((f"#{number}",),)))
    elif name == STOP:
        found = access_session(principal, value, need=Role.MEMBER)
        return Answer("Stopping it." if request_stop(found) else "It was not working.")
    elif name == ATTACH:
        return _attach(workspace, principal, heard)
    elif name in (FILES, DIFF):
        return _send_changes(workspace, principal, heard)
    return Answer()


def submit(principal: Principal, heard: SlackHeard) -> Answer:
    """Answer questions as the form has it. Raises: AppError."""
    if heard.action == ANSWER:
        question, access = access_question(principal, heard.value)
        reply_question(access, question, answers=answers_in(question, heard.answers))
    return Answer()


def list_sessions(workspace: SlackWorkspace, principal: Principal, heard: SlackHeard) -> Answer:
    """The newest sessions of the channel's project that the person sees."""
    project_id = project_of_channel(workspace, heard.channel)
    access = access_project(principal, project_id)
    rows = visible_sessions(principal).filter(project=project_id, parent=None, archived_at=None)
    found = list(rows.order_by("-updated_at")[:_LISTED])
    if not found:
        return Answer(
            f"{escape(access.project.name)} has no sessions yet. Start one by `/opencode`."
        )
    blocks = [header(f"Sessions of {access.project.name}")]
    for one in found:
        blocks.append(section(_line(one)))
        buttons = []
        if not one.is_private:
            buttons.append(button("Continue here", ATTACH, one.pk))
        if one.state != State.IDLE:
            buttons.append(button("Stop", STOP, one.pk, style="danger"))
        blocks += [actions(buttons)] if buttons else []
    return Answer(blocks=blocks)


def home(workspace: SlackWorkspace, principal: Principal) -> Answer:
    """The home tab: what waits for the person, in projects that the workspace is about."""
    projects = workspace.channels.values("project")
    rows = visible_sessions(principal).filter(project__in=projects, root=None)
    waiting = rows.exclude(state=State.IDLE).order_by("-updated_at")[:_WAITING_LISTED]
    blocks: list[Block] = [header("Waiting for an answer")]
    for session in waiting:
        for ask in pending_asks(session):
            asked, _ = card(ask, session)
            blocks += [section(_line(session)), *asked]
    if len(blocks) == 1:
        blocks.append(section("Nothing waits for you."))
    return Answer(home=blocks[:100])


def unfurl(workspace: SlackWorkspace, heard: SlackHeard) -> Answer:
    """Title and state for links to sessions: of the channel's project, or open to all the team."""
    project_id = project_of_channel(workspace, heard.channel)
    if not project_id or not settings.PUBLIC_URL:
        return Answer()
    team, unfurls = workspace.integration.team, dict[str, JsonValue]()
    for url in heard.links:
        found = _LINKED.fullmatch(url.removeprefix(settings.PUBLIC_URL))
        if not url.startswith(settings.PUBLIC_URL) or found is None or found[1] != team.slug:
            continue
        here = Session.objects.filter(project=project_id, root=None, is_private=False)
        for rows in (here, open_sessions(team.pk)):
            session = rows.filter(pk=found[2]).first()
            if session is not None:
                text = f"*{escape(shorten(session.title, _MAX_TITLE_CHARS))}*\n{_state(session)}"
                unfurls[url] = {"blocks": [section(text)]}
                break
    return Answer(unfurls=unfurls or None)


def _send_changes(workspace: SlackWorkspace, principal: Principal, heard: SlackHeard) -> Answer:
    session_id, _, prompt_id = heard.value.partition(":")
    access = _access_here(workspace, access_session(principal, session_id), heard)
    if heard.action == DIFF and (text := short_diff(access.session, prompt_id)):
        say(workspace, heard, text=text, access=access)
    else:
        data: JsonObject = {"what": heard.action, "by": str(principal.user.pk)}
        say(workspace, heard, access=access, prompt_id=prompt_id, data=data)
    return Answer()


def _access_here(
    workspace: SlackWorkspace, access: SessionAccess, heard: SlackHeard
) -> SessionAccess:
    """Raises: NotFound in a channel that is not about the session's project; Conflict for a session
    that no channel shows."""
    session = access.session
    if session.project_id != project_of_channel(workspace, heard.channel) or session.parent_id:
        raise NotFound("Session", session.pk)
    if session.is_private or session.archived_at:
        raise Conflict("A private or archived session cannot be continued in a channel.")
    return access


def _attach(workspace: SlackWorkspace, principal: Principal, heard: SlackHeard) -> Answer:
    """Go on with a session in a new thread of the channel."""
    access = access_session(principal, heard.value, need=Role.MEMBER)
    _access_here(workspace, access, heard)
    text = f"**{access.session.title}** continues here. Mention me in this thread."
    begins = SlackHeard(heard.kind, heard.key, heard.workspace, heard.user, channel=heard.channel)
    say(workspace, begins, text=text, access=access)
    return Answer()


def _line(session: Session) -> str:
    title = escape(shorten(session.title, _MAX_TITLE_CHARS))
    return f"*{title}*\n{_state(session)} · {session_link(session)}"


def _state(session: Session) -> str:
    return _STATES.get(State(session.state), "Idle")
