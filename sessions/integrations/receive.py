from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.errors import NotFound, Unauthorized, Unavailable
from opencode_web.lib.ids import new_id
from opencode_web.lib.text import clean_text
from sessions.forges.adapter import ForgeKind
from sessions.forges.inbound import Heard, event_of, is_signed, read_comment
from sessions.models import InboundDelivery, Integration
from sessions.publish_settings import publishing_of

State = InboundDelivery.State
# In each comment of ours, whoever's token has written it.
REPLY_MARK = re.compile(r"<!-- rep_[0-9a-zA-Z]{26} -->")


def receive(integration_id: str, headers: Mapping[str, str], body: bytes) -> InboundDelivery:
    """Keep what a forge sends. The same once more changes nothing.

    `headers` have names in lower case. Returns: the row of it.
    Raises: NotFound; Unauthorized for a wrong signature; Invalid for what is no delivery;
    Unavailable where the secret cannot be read.
    """
    rows = Integration.objects.select_related("project__team")
    row = rows.filter(pk=integration_id, project__isnull=False).first()
    if row is None:
        raise NotFound("Integration", integration_id)
    try:
        secret = decrypt(row.secret)
    except DecryptionError as exc:
        raise Unavailable("The secret cannot be read with this server's SECRET_KEY.") from exc
    kind = ForgeKind(row.kind)
    if not is_signed(kind, headers, body, secret=secret):
        Integration.objects.filter(pk=row.pk).update(refused=F("refused") + 1)
        raise Unauthorized("The signature of the delivery is wrong.")
    if row.refused:
        Integration.objects.filter(pk=row.pk).update(refused=0)
    event = event_of(kind, headers)
    return _keep(row, event, read_comment(kind, event, body), hashlib.sha256(body).hexdigest())


@transaction.atomic
def _keep(row: Integration, event: str, heard: Heard | None, digest: str) -> InboundDelivery:
    now = timezone.now()
    why = _why_ignored(row, heard)
    fields = {
        "id": new_id("ind"),
        "event": clean_text(event),
        "state": State.IGNORED if why else State.WAITING,
        "problem": why,
        "next_at": now,
        "received_at": now,
    }
    if heard is not None:
        fields |= {"thread": str(heard.thread), "author": heard.author, "comment": heard.comment}
        fields["heard"] = {} if why else asdict(heard)
    known = row.deliveries.filter(digest=digest)
    if heard is not None:
        known |= row.deliveries.filter(thread=str(heard.thread), comment=heard.comment)
    kept = known.first()
    if kept is None:
        kept, _ = row.deliveries.get_or_create(digest=digest, defaults=fields)
    elif kept.state == State.IGNORED and not why and kept.digest == digest:
        # An admin has mended meanwhile what it was ignored for, and had it sent again.
        row.deliveries.filter(pk=kept.pk, state=State.IGNORED).update(
            state=State.WAITING, problem="", heard=fields["heard"], next_at=now
        )
        kept.refresh_from_db()
    return kept


def _why_ignored(row: Integration, heard: Heard | None) -> str:
    """Returns: a sentence, or nothing for what has to be handled."""
    if heard is None:
        return "It is not a new comment of a person on an issue or a pull request."
    if heard.repository.lower() != publishing_of(row.project).path.lower():
        return "It is about another repository than the project's."
    if REPLY_MARK.search(heard.text):
        return "It was written by this server."
    if command_in(heard.text, row.command) is None:
        return f"It does not begin with {row.command}."
    return ""


def command_in(text: str, command: str) -> str | None:
    """Returns: what follows the command at the beginning of a comment; None without it."""
    word, _, rest = text.strip().partition("\n")
    first, _, line = word.partition(" ")
    if first.strip().lower() != command.lower():
        return None
    return f"{line.strip()}\n{rest}".strip()
