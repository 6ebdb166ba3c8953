from __future__ import annotations

import base64
import hashlib
import hmac
import json

import pytest

from tests.e2e.installation import Installation
from tests.e2e.rest import wait_for
from tests.sessions.webhook_receiver import Receiver, receive

pytestmark = pytest.mark.e2e

# What the beat finds due at its next look.
_MAKE_DUE = """
from django.utils import timezone
from sessions.models import Schedule
assert Schedule.objects.filter(pk={id!r}).update(next_at=timezone.now()) == 1
"""


def checked(receiver: Receiver, secret: str) -> list[dict[str, object]]:
    """Returns: what has come so far, each with a signature that only the sender can have made."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    events = []
    for headers, body in list(receiver.got):
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        assert headers["webhook-signature"] == f"v1,{digest}"
        events.append(json.loads(body))
    return events


@pytest.mark.deep
def test_a_due_prompt_runs_by_itself_and_a_webhook_tells_of_its_end(server: Installation) -> None:
    with receive() as receiver, server.client() as client:
        wanted = {"url": f"{receiver.address}/in", "events": ["session.idle"]}
        hook = client.post("/webhook", json=wanted)
        assert hook.status_code == 200, hook.text
        given = {"name": "Nightly", "prompt": "Say hello.", "cron": "0 3 1 1 *"}
        schedule = client.post("/schedule", json={**given, "model": "demo/inline"}).json()

        server.run(_MAKE_DUE.format(id=schedule["id"]))
        runs = f"/schedule/{schedule['id']}/run"
        run = wait_for(
            lambda: [one for one in client.get(runs).json() if one["state"] == "done"], seconds=60
        )[0]
        messages = client.get(f"/session/{run['sessionID']}/message").json()
        assert messages[0]["parts"][0]["text"] == "Say hello."
        assert len(messages) == 2

        (event,) = wait_for(lambda: checked(receiver, hook.json()["secret"]), seconds=60)
        assert event["type"] == "session.idle"
        assert run["sessionID"] in json.dumps(event)
        # It is not due again before its next time.
        assert client.get(f"/schedule/{schedule['id']}").json()["time"]["next"] > run["time"]["due"]
        assert len(client.get(runs).json()) == 1
