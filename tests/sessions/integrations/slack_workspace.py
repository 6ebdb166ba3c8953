"""A team's Slack workspace in tests: people write there, and the server does what is due."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import urlencode

from django.test import Client
from django.utils import timezone

from opencode_web.lib.loop import submit
from sessions.integrations.handle import handle_due
from sessions.integrations.slack.answers import Outbox
from sessions.integrations.slack.api import slack_of
from sessions.integrations.slack.setup import Tokens, allow_channel, connect_slack, probe
from sessions.models import (
    InboundDelivery,
    LinkedAccount,
    OutsideReply,
    Project,
    Session,
    SlackWorkspace,
)
from sessions.runner import run_session
from teams.access import access_team
from teams.models import Team, User
from tests.sessions.integrations.slack_server import (
    APP,
    BOT,
    BOT_USER,
    SECRET,
    WORKSPACE,
    FakeSlack,
    Json,
)

_numbers = count(1)


@dataclass
class Workspace:
    """What people do there, and what they see."""

    server: FakeSlack
    team: Team
    project: Project
    row: SlackWorkspace
    client: Client = field(default_factory=Client)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Another process speaks with Slack."""
        self.outbox = Outbox(self.row, slack_of(self.row))

    def link(self, user: User, slack_user: str, workspace: str = WORKSPACE) -> None:
        LinkedAccount.objects.create(
            team=self.team,
            user=user,
            host=f"{workspace}.slack.com",
            outside_id=slack_user,
            name=slack_user,
            linked_at=timezone.now(),
        )

    def post(self, body: bytes, kind: str, **changed: str) -> Any:
        sent_at = changed.pop("sent_at", str(int(time.time())))
        signed = b"v0:" + sent_at.encode() + b":" + body
        digest = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
        headers = {"X-Slack-Request-Timestamp": sent_at, "X-Slack-Signature": f"v0={digest}"}
        path = f"/integrations/slack/{self.row.pk}"
        return self.client.post(path, body, content_type=kind, headers={**headers, **changed})

    def event(self, event: Json, *, of: str = WORKSPACE, **more: Any) -> Json:
        return {
            "type": "event_callback",
            "team_id": of,
            "event_id": f"Ev{next(_numbers):08}",
            "event": {"team": of, **event},
            **more,
        }

    def message(
        self,
        text: str,
        *,
        by: str = "U0BOB",
        channel: str = "C0TILL",
        thread: str = "",
        of: str = WORKSPACE,
        **more: Any,
    ) -> Json:
        """A mention, or a direct message, as Slack sends it: with its marks escaped."""
        written = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        ts = self.server.person_says(written, channel=channel, thread=thread)
        where: Json = {"channel": channel, "ts": ts, "user": by}
        if thread:
            where["thread_ts"] = thread
        if channel.startswith("D"):
            said = {"type": "message", "channel_type": "im", "text": written}
        else:
            said = {"type": "app_mention", "text": f"<@{BOT_USER}> {written}"}
        return self.event({**where, **said, **more}, of=of)

    def send(self, payload: Json, **changed: str) -> Any:
        return self.post(json.dumps(payload).encode(), "application/json", **changed)

    def say(self, text: str, **more: Any) -> str:
        """Somebody writes, and all but the turn is done. Returns: the time of the message."""
        payload = self.message(text, **more)
        assert self.send(payload).status_code == 200
        self.work()
        return str(payload["event"]["ts"])

    def command(
        self, name: str, text: str = "", *, by: str = "U0BOB", channel: str = "C0TILL"
    ) -> None:
        trigger = self._trigger()
        form = {
            "command": name,
            "text": text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"),
            "user_id": by,
            "user_name": by.lower(),
            "channel_id": channel,
            "team_id": WORKSPACE,
            "trigger_id": trigger,
            "response_url": f"{self.server.base}/respond/{trigger}",
        }
        kind = "application/x-www-form-urlencoded"
        assert self.post(urlencode(form).encode(), kind).status_code == 200
        self.work()

    def press(self, button: Json, *, by: str = "U0BOB", message: Json | None = None) -> None:
        """Press a button of a message, or of the home tab or a list without one."""
        trigger = self._trigger()
        payload = {
            "type": "block_actions",
            "user": {"id": by, "username": by.lower(), "team_id": WORKSPACE},
            "trigger_id": trigger,
            "response_url": f"{self.server.base}/respond/{trigger}",
            "actions": [{"action_id": button["action_id"], "value": button["value"]}],
        }
        if message:
            payload |= {"channel": {"id": message["channel"]}, "message": message}
        self.interact(payload)

    def submit_form(self, view: Json, values: Json, *, by: str = "U0BOB") -> None:
        view = {**view, "state": {"values": values}}
        user = {"id": by, "username": by.lower(), "team_id": WORKSPACE}
        sent = {"type": "view_submission", "user": user, "view": view}
        self.interact({**sent, "trigger_id": self._trigger()})

    def interact(self, payload: Json) -> None:
        body = urlencode({"payload": json.dumps(payload)}).encode()
        assert self.post(body, "application/x-www-form-urlencoded").status_code == 200
        self.work()

    def _trigger(self) -> str:
        trigger = f"{next(_numbers)}.abc"
        self.server.triggers.add(trigger)
        return trigger

    def work(self) -> None:
        """Do what is due, whenever that was to be."""
        InboundDelivery.objects.filter(state="waiting").update(next_at=timezone.now())
        submit(handle_due()).result(30)
        self.write()

    def write(self) -> None:
        """Say what is to be said: twice, as what is asked is found only once something is shown."""
        OutsideReply.objects.filter(state="pending").update(next_at=timezone.now())
        for _ in range(2):
            self.server.now_s += 1
            submit(self.outbox.send()).result(30)

    def run(self) -> Session:
        """Let the newest session have its turn, and say what comes of it."""
        session = Session.objects.filter(parent=None).latest("created_at")
        submit(run_session(session.pk)).result(30)
        self.write()
        session.refresh_from_db()
        return session

    @property
    def answers(self) -> list[Json]:
        return [one for one in self.server.messages if one["user"] == BOT_USER]

    @property
    def told(self) -> str:
        """What somebody alone was told last."""
        return shown([*self.server.ephemeral, *self.server.responses][-1])


def shown(message: Json) -> str:
    """All text of a message or a view."""
    texts = []
    for one in message["blocks"]:
        if "text" in one:
            texts.append(one["text"]["text"])
        texts += [each["text"] for each in one.get("elements", []) if one["type"] == "context"]
    return "\n".join(texts)


def buttons(message: Json) -> dict[str, Json]:
    """The buttons of a message, by their labels."""
    rows = [one["elements"] for one in message["blocks"] if one["type"] == "actions"]
    return {each["text"]["text"]: each for row in rows for each in row}


def connect(server: FakeSlack, owner: User, team: Team, project: Project) -> Workspace:
    access, tokens = access_team(owner, team.slug), Tokens(BOT, APP, SECRET)
    row = connect_slack(access, tokens, submit(probe(tokens)).result(30))
    allow_channel(access, "C0TILL", name="till", project_id=project.pk)
    allow_channel(access, "", name="", project_id=project.pk)
    return Workspace(server, team, project, row)
