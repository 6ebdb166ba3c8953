from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import cast
from urllib.parse import parse_qs

from django.utils import timezone

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject, JsonValue, object_of, read_json, text_of
from sessions.integrations.receive import require_signed
from sessions.integrations.slack.heard import (
    Kind,
    SlackFile,
    SlackHeard,
    read_command,
    read_event,
    read_interaction,
)
from sessions.models import SLACK, InboundDelivery, SlackWorkspace
from sessions.wake import wake_inbound

_State = InboundDelivery.State
_MAX_CHALLENGE_CHARS = 200


def receive_slack(integration_id: str, headers: Mapping[str, str], body: bytes) -> JsonObject:
    """Keep what Slack sends to our address. The same once more changes nothing.

    `headers` have names in lower case. Returns: what Slack wants to read, empty but for its test of
    the address. Raises: NotFound; Unauthorized for a wrong or old signature; Invalid for what is
    not of Slack's form; Unavailable where the secret cannot be read.
    """
    rows = SlackWorkspace.objects.select_related("integration")
    row = rows.filter(pk=integration_id, integration__kind=SLACK).first()
    if row is None or not row.integration.secret:
        raise NotFound("Integration", integration_id)
    require_signed(row.integration, row.integration.secret, is_signed, headers, body)
    sent = _read_body(headers.get("content-type", ""), body)
    if sent.get("type") == "url_verification":
        return {"challenge": text_of(sent, "challenge")[:_MAX_CHALLENGE_CHARS]}
    keep(row, sent)
    return {}


def is_signed(headers: Mapping[str, str], body: bytes, *, secret: str) -> bool:
    """Whether Slack has signed it, within five minutes."""
    from slack_sdk.signature import SignatureVerifier

    try:
        return SignatureVerifier(secret).is_valid_request(body, headers)
    except (TypeError, ValueError):
        # It takes the time for a number, the body for text and the signature for ASCII.
        return False


def keep(row: SlackWorkspace, sent: JsonObject) -> InboundDelivery | None:
    """Keep an event, a command or an interaction, however it has come, and have it handled.

    Returns: its row; None for what is nothing to us.
    """
    heard = _read(row, sent)
    if heard is None:
        return None
    now, thread, same = timezone.now(), heard.user, heard.key
    if heard.kind is Kind.MESSAGE:
        # In order within its thread, and once, though it can come as several events. A button waits
        # for no message.
        thread, same = f"{heard.channel}/{heard.thread}", f"{heard.channel}/{heard.ts}"
    kept, is_new = row.integration.deliveries.get_or_create(
        digest=hashlib.sha256(f"{heard.kind}:{same}".encode()).hexdigest(),
        defaults={
            "id": new_id("ind"),
            "event": heard.kind.value,
            "thread": thread[:40],
            "comment": heard.ts,
            "author": heard.name or heard.user,
            "heard": cast(JsonObject, asdict(heard)),
            "next_at": now,
            "received_at": now,
        },
    )
    if is_new:
        wake_inbound()
    return kept


def heard_in(row: InboundDelivery) -> SlackHeard:
    """Returns: what `keep` has kept."""
    data = dict(row.heard)
    files = tuple(SlackFile(**one) for one in data.pop("files", ()))
    answers = tuple(tuple(one) for one in data.pop("answers", ()))
    kind, links = Kind(data.pop("kind")), tuple(data.pop("links", ()))
    return SlackHeard(kind=kind, files=files, answers=answers, links=links, **data)


def _read(row: SlackWorkspace, sent: JsonObject) -> SlackHeard | None:
    if sent.get("type") == "event_callback":
        return read_event(sent, bot_user=row.bot_user)
    return read_command(sent) if "command" in sent else read_interaction(sent)


def _read_body(kind: str, body: bytes) -> JsonObject:
    """Raises: Invalid."""
    try:
        text = body.decode()
        if kind.partition(";")[0].strip() != "application/x-www-form-urlencoded":
            return _object(read_json(text))
        form = parse_qs(text, max_num_fields=100)
        if "payload" in form:
            return _object(read_json(form["payload"][0]))
    except ValueError as exc:
        raise Invalid("The delivery is neither JSON nor a form.") from exc
    return {name: values[0] for name, values in form.items()}


def _object(value: JsonValue) -> JsonObject:
    return object_of({"sent": value}, "sent")
