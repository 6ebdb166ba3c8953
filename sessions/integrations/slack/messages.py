"""What is to be said: to one person at once, or in a channel by and by."""

from __future__ import annotations

from dataclasses import dataclass

from opencode_web.lib.json import JsonObject
from opencode_web.lib.reasons import Told
from sessions.access import SessionAccess
from sessions.integrations.slack.blocks import Block
from sessions.integrations.slack.heard import SlackHeard
from sessions.integrations.steps import begin_reply
from sessions.models import SlackWorkspace


@dataclass(frozen=True)
class Answer:
    """What the person is told, in Slack's own markup: a text or blocks, a form, the home tab, or
    what links stand for. `told` is what admins read of a delivery that did nothing."""

    text: str = ""
    blocks: list[Block] | None = None
    form: JsonObject | None = None
    home: list[Block] | None = None
    unfurls: JsonObject | None = None
    told: Told = ""


def say(
    workspace: SlackWorkspace,
    heard: SlackHeard,
    *,
    text: str = "",
    access: SessionAccess | None = None,
    prompt_id: str = "",
    to: str = "",
    data: JsonObject | None = None,
) -> None:
    """Have something said where somebody was heard: a text, or what becomes of a prompt.

    Without a thread it begins one. `to` is who alone sees it. With `data` it is files.
    """
    begin_reply(
        integration=workspace.integration,
        place=heard.channel,
        thread=heard.thread,
        session=access.session if access else None,
        prompt_id=prompt_id,
        text=text,
        data=data or {},
        to=to,
    )
