"""Do what somebody asks for in Slack, in the name of the person whose account it is.

What is said back to one person alone goes where Slack wants it within its time, and is lost with
it; what everybody reads goes through `OutsideReply`.
"""

from __future__ import annotations

import base64
import logging
import re
from dataclasses import dataclass, field

from django.conf import settings
from django.db import transaction

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError, NotFound, TooManyRequests, Unavailable
from opencode_web.lib.json import JsonObject, JsonValue, object_of, text_of
from opencode_web.lib.reasons import Told
from opencode_web.lib.text import clean_text
from sessions.access import SessionAccess, access_project, access_session
from sessions.actions.checkouts import choose_plan
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.sessions import create_session
from sessions.events.outbox import INTEGRATION
from sessions.integrations.accounts import CODE, linked_person, propose_link
from sessions.integrations.slack import commands
from sessions.integrations.slack.answers import project_of_channel
from sessions.integrations.slack.api import MAX_FILE_BYTES, Slack, SlackError, respond, slack_of
from sessions.integrations.slack.blocks import escape, fallback, link, section
from sessions.integrations.slack.heard import Kind, SlackHeard
from sessions.integrations.slack.messages import Answer, say
from sessions.integrations.slack.receive import heard_in
from sessions.integrations.slack.setup import slack_host
from sessions.models import Conversation, InboundDelivery, SlackWorkspace
from teams.auth import Principal, authenticate_for
from teams.budgets import BudgetReached
from teams.models import Role, User

logger = logging.getLogger(__name__)

_LINK, _ONLY_ME = "link", "only-me"
_NOT_ALLOWED = (
    "Agents cannot be talked to here. An admin of the team allows channels on its Slack page."
)
_STRANGER = (
    "Your account of another Slack workspace is not linked to one on this server, so nothing was "
    "done."
)
_HELP = (
    "Mention me or write to me directly to start a session, and again in its thread to go on. "
    "`/opencode &lt;prompt&gt;` starts one in this channel, `/opencode only-me &lt;prompt&gt;` "
    "shows the answer to you alone, and `/opencode-sessions` lists the sessions here."
)
_WORD = re.compile(r"\s+")


@dataclass(frozen=True)
class SlackWork:
    """A delivery, with what had to be fetched for it."""

    workspace: SlackWorkspace
    heard: SlackHeard
    slack: Slack
    # The code of a message that links an account, or empty; and who Slack says has written it.
    code: str = ""
    name: str = ""
    files: list[JsonObject] = field(default_factory=list)
    # What is wrong with files that were left out.
    left_out: list[str] = field(default_factory=list)


async def prepare(row: InboundDelivery) -> SlackWork:
    """Fetch what a delivery needs. Raises: SlackError."""
    workspace = await in_db(
        SlackWorkspace.objects.select_related("integration__team").get, pk=row.integration_id
    )
    heard, slack = heard_in(row), slack_of(workspace)
    words = _WORD.split(heard.text)
    if len(words) == 2 and words[0].lower() == _LINK and CODE.fullmatch(words[1]):
        said = await slack.ask("users.info", user=heard.user)
        person = object_of(said, "user")
        name = clean_text(text_of(person, "real_name") or text_of(person, "name"))
        return SlackWork(workspace, heard, slack, words[1], f"{name[:60]} ({heard.user})")
    work = SlackWork(workspace, heard, slack)
    # Nothing is fetched for who may not ask.
    if heard.files and await in_db(_person_of, work) is not None:
        await _fetch_files(work)
    return work


async def _fetch_files(work: SlackWork) -> None:
    room = MAX_FILE_BYTES
    for one in work.heard.files:
        if one.size > room:
            work.left_out.append(f"{one.name} is too large.")
            continue
        try:
            content = await work.slack.fetch_file(one.url)
        except SlackError as exc:
            if exc.code in ("unreachable", "ratelimited"):
                raise
            work.left_out.append(f"{one.name} could not be read.")
            continue
        room -= len(content)
        kind = one.type or "application/octet-stream"
        url = f"data:{kind};base64,{base64.b64encode(content).decode()}"
        work.files.append({"type": "file", "mime": kind, "filename": one.name, "url": url})


def act(work: SlackWork) -> Answer:
    """Do it. Needs a transaction.

    Returns: what the person alone is told. Raises: AppError for what may pass.
    """
    if work.code:
        return _link(work)
    user = _person_of(work)
    heard = work.heard
    if heard.kind is Kind.LINK:
        return commands.unfurl(work.workspace, heard)
    if user is None:
        return _unlinked(work)
    principal = authenticate_for(user, work.workspace.integration.team)
    try:
        with transaction.atomic():
            return _act_for(work, principal)
    except (Unavailable, TooManyRequests, BudgetReached):
        raise  # it passes
    except AppError as exc:
        return _answer(work, escape(str(exc)), told=exc.told)


def _act_for(work: SlackWork, principal: Principal) -> Answer:
    heard, workspace = work.heard, work.workspace
    # What is pressed on the home tab, or sent from a form, is in no channel.
    if heard.channel and not project_of_channel(workspace, heard.channel):
        return _answer(work, _NOT_ALLOWED)
    match heard.kind:
        case Kind.HOME:
            return commands.home(workspace, principal)
        case Kind.FORM:
            return commands.submit(principal, heard)
        case Kind.ACTION:
            return commands.press(workspace, principal, heard)
        case Kind.COMMAND if heard.action == "/opencode-sessions":
            return commands.list_sessions(workspace, principal, heard)
        case _:
            return _prompt(work, principal)


def _person_of(work: SlackWork) -> User | None:
    """Returns: whose account it is; None for nobody's."""
    team, host = work.workspace.integration.team, slack_host(work.heard.workspace)
    user = linked_person(team, host=host, outside_id=work.heard.user)
    return user if user and user.is_active else None


def _link(work: SlackWork) -> Answer:
    heard = work.heard
    who = {"host": slack_host(heard.workspace), "outside_id": heard.user, "name": work.name}
    if not propose_link(work.workspace.integration.team, work.code, **who):
        return _answer(work, "This code is unknown, was used before, or is too old.")
    text = "Go back to the page that shows the code, open it anew, and confirm that this is you."
    return _answer(work, text)


def _unlinked(work: SlackWork) -> Answer:
    heard = work.heard
    if heard.kind is Kind.HOME:
        return Answer(home=[section(_how_to_link(work))])
    is_ours = heard.workspace == work.workspace.workspace
    return _answer(work, _how_to_link(work) if is_ours else _STRANGER, told="Not linked.")


def _how_to_link(work: SlackWork) -> str:
    page = "the team's Slack page"
    if settings.PUBLIC_URL:
        slug = work.workspace.integration.team.slug
        page = link(f"{settings.PUBLIC_URL}/t/{slug}/settings/slack", "Link my account")
    return (
        "Your Slack account is not linked to one on this server, so nothing was done. Open "
        f"{page}, create a code, and send me `link CODE` or use `/opencode link CODE`."
    )


def _answer(work: SlackWork, text: str, *, told: Told = "") -> Answer:
    """Tell the person alone. A message has no address for that; it is answered in its thread."""
    heard = work.heard
    if heard.kind is not Kind.MESSAGE:
        return Answer(text, told=told)
    say(work.workspace, heard, text=text, to="" if heard.is_direct else heard.user)
    return Answer(told=told)


def _prompt(work: SlackWork, principal: Principal) -> Answer:
    """Raises: AppError for whatever stands against it, as it would for a person."""
    heard, workspace = work.heard, work.workspace
    text, is_private = heard.text, False
    first, _, rest = text.partition(" ")
    if heard.kind is Kind.COMMAND and first.lower() == _ONLY_ME:
        text, is_private = rest.strip(), True
    if text.lower() in ("", "help") and not work.files:
        return _answer(work, _HELP)
    access, is_first = _session_of(work, principal)
    parts: list[JsonObject] = [{"type": "text", "text": text or "Look at the files."}]
    if is_first:
        about = (
            "The request above comes from Slack. Your last answer is posted there, so keep it "
            "short and write it for the people who read that channel."
        )
        parts.append({"type": "text", "text": about, "synthetic": True})
    draft = PromptDraft(parts=[*parts, *work.files], delivery="queue")
    prompt = admit_prompt(access, draft)
    to = heard.user if is_private else ""
    say(workspace, heard, access=access, prompt_id=prompt.pk, to=to)
    if work.left_out:
        return _answer(work, escape(" ".join(work.left_out)))
    return Answer("Working on it. Only you will see the answer." if is_private else "")


def _session_of(work: SlackWork, principal: Principal) -> tuple[SessionAccess, bool]:
    """Returns: the session that answers in the thread, and whether it was begun now."""
    heard, workspace = work.heard, work.workspace
    project_id = project_of_channel(workspace, heard.channel)
    access = access_project(principal, project_id, need=Role.MEMBER)
    integration = workspace.integration
    rows = Conversation.objects.filter(integration=integration, place=heard.channel)
    known = rows.filter(thread=heard.thread).first() if heard.thread else None
    if known is not None and (found := _known_session(principal, known, project_id)) is not None:
        return found, False
    session = create_session(
        access,
        metadata={INTEGRATION: integration.pk},
        checkout=choose_plan(access.project, worktree=None),
    )
    if heard.thread:
        Conversation.objects.update_or_create(
            integration=integration,
            place=heard.channel,
            thread=heard.thread,
            defaults={"session": session},
        )
    return SessionAccess(session, access.team, principal), True


def _known_session(
    principal: Principal, known: Conversation, project_id: str
) -> SessionAccess | None:
    """Returns: None where it is over, private, of another project or not this person's to see."""
    try:
        found = access_session(principal, known.session_id, need=Role.MEMBER)
    except NotFound:
        return None
    session = found.session
    is_over = session.archived_at or session.is_private or session.project_id != project_id
    return None if is_over else found


async def tell(work: SlackWork, answer: Answer) -> None:
    """Say what the person alone is told. It is done: whatever Slack refuses is not tried again."""
    heard = work.heard
    try:
        if answer.form is not None and heard.trigger:
            await work.slack.call("views.open", trigger_id=heard.trigger, view=answer.form)
        if answer.home is not None:
            blocks: list[JsonValue] = [*answer.home[:100]]
            home: JsonObject = {"type": "home", "blocks": blocks}
            await work.slack.call("views.publish", user_id=heard.user, view=home)
        if answer.unfurls:
            where = {"channel": heard.channel, "ts": heard.ts}
            await work.slack.call("chat.unfurl", **where, unfurls=answer.unfurls)
        shown = answer.blocks or ([section(answer.text)] if answer.text else [])
        if shown and heard.answer_url:
            said: JsonObject = {"response_type": "ephemeral", "replace_original": False}
            said |= {"text": fallback(shown), "blocks": list[JsonValue](shown)}
            await respond(heard.answer_url, said)
    except SlackError as exc:
        logger.info("slack.not_told delivery=%s why=%s", heard.kind, exc.code)
