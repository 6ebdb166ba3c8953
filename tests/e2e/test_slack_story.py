"""Somebody asks in Slack, another one allows it there, and the server is killed in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.installation import Installation, installation
from tests.e2e.rest import script, wait_for
from tests.sessions.integrations.slack_server import (
    APP,
    BOT,
    BOT_USER,
    WORKSPACE,
    FakeSlack,
    Json,
    slack,
)
from tests.sessions.integrations.slack_workspace import buttons, shown

pytestmark = [pytest.mark.e2e, pytest.mark.deep]

_CONNECT = """
from django.utils import timezone
from opencode_web.lib.loop import submit
from sessions.integrations.slack.setup import Tokens, allow_channel, connect_slack, probe
from sessions.models import LinkedAccount, Project
from teams.access import access_team
from teams.models import Membership, User

ada = User.objects.get(email={email!r})
eve = User.objects.create(email="eve@till.example.com", name="Eve")
project = Project.objects.get(pk={project!r})
team = project.team
Membership.objects.create(team=team, user=eve, role="member")
team.config = {{"permission": {{"bash": {{"echo *": "ask-other"}}}}}}
team.save()
project.config = {{"model": "demo/inline", "worktree": "project"}}
project.save()
tokens, access = Tokens({bot!r}, {app!r}), access_team(ada, team.slug)
connect_slack(access, tokens, submit(probe(tokens)).result(30))
allow_channel(access, "C0TILL", name="till", project_id=project.pk)
for user, outside in ((ada, "U0BOB"), (eve, "U0EVE")):
    LinkedAccount.objects.create(
        team=team, user=user, host="{workspace}.slack.com", outside_id=outside, name=outside,
        linked_at=timezone.now(),
    )
result = project.directory
"""
# As it is two minutes after the process has died that had claimed what it worked on.
_CLAIMS_OVER = """
from django.utils import timezone
from sessions.models import InboundDelivery, OutsideReply, SlackWorkspace
now = timezone.now()
SlackWorkspace.objects.update(served_until=now)
InboundDelivery.objects.filter(state="waiting").update(next_at=now)
OutsideReply.objects.filter(state="pending").update(next_at=now)
"""


@pytest.fixture
def played() -> Iterator[FakeSlack]:
    with slack() as server:
        yield server


@pytest.fixture
def connected(played: FakeSlack, tmp_path: Path) -> Iterator[Installation]:
    with installation(tmp_path) as made:
        made.env |= {"DJANGO_SETTINGS_MODULE": "tests.e2e.slack_settings"}
        made.env |= {"PLAYED_SLACK": played.base}
        made.start()
        made.bootstrap()
        yield made


def test_nothing_is_lost_and_nothing_said_twice(connected: Installation, played: FakeSlack) -> None:
    made = Path(connect(connected)) / "made"
    call = {"tool": "bash", "input": {"command": "echo one >> made", "description": "Make it"}}
    send(played, "events_api", asks(played, script([call], [{"text": "It is made."}])))
    # Kept, and not yet handled.
    die(connected)
    [answer, card] = wait_in(played, lambda: len(answers(played)) == 2 and answers(played))
    once = buttons(card)["Allow once"]
    send(played, "interactive", presses(once, card, by="U0BOB", played=played))
    wait_in(played, lambda: [one for one in played.responses if "prompted" in shown(one)])
    die(connected)
    send(played, "interactive", presses(once, card, by="U0EVE", played=played))
    die(connected)
    wait_in(played, lambda: shown(answers(played)[0]).startswith("It is made."))
    wait_in(played, lambda: "Allowed once by Eve" in shown(answers(played)[1]))
    assert made.read_text() == "one\n"
    assert [one["ts"] for one in answers(played)] == [answer["ts"], card["ts"]]
    assert len(played.responses) == 1


def connect(server: Installation) -> str:
    who = {"email": server.email, "project": server.project}
    return str(server.run(_CONNECT.format(**who, bot=BOT, app=APP, workspace=WORKSPACE)))


def die(server: Installation) -> None:
    server.kill_worker()
    server.run(_CLAIMS_OVER)
    if server.is_embedded:
        server.start()


def send(played: FakeSlack, kind: str, payload: Json) -> None:
    """Send it by Socket Mode, until it is acknowledged."""
    name = f"e{len(played.acknowledged)}"
    played.envelopes.append({"type": kind, "envelope_id": name, "payload": payload})
    wait_for(lambda: name in played.acknowledged, seconds=60)


def asks(played: FakeSlack, text: str) -> Json:
    written = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    ts = played.person_says(written, channel="C0TILL")
    event = {"type": "app_mention", "channel": "C0TILL", "ts": ts, "user": "U0BOB"}
    said = {**event, "team": WORKSPACE, "text": f"<@{BOT_USER}> {written}"}
    return {"type": "event_callback", "team_id": WORKSPACE, "event_id": "Ev1", "event": said}


def presses(button: Json, card: Json, *, by: str, played: FakeSlack) -> Json:
    return {
        "type": "block_actions",
        "user": {"id": by, "username": by.lower(), "team_id": WORKSPACE},
        "trigger_id": f"{by}.1",
        "response_url": f"{played.base}/respond/{by}",
        "actions": [{"action_id": button["action_id"], "value": button["value"]}],
        "channel": {"id": card["channel"]},
        "message": card,
    }


def answers(played: FakeSlack) -> list[Json]:
    return [one for one in played.messages if one["user"] == BOT_USER]


def wait_in(played: FakeSlack, check: Callable[[], Any]) -> Any:
    """Wait while time passes in Slack, too: it takes an edit of a message each second."""

    def look() -> Any:
        played.now_s += 1
        return check()

    return wait_for(look, seconds=90)
