"""Keys under which a write of the API may be sent again. Nothing here is audited: the write is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from opencode_web.lib.crypto import DecryptionError, decrypt, encrypt
from opencode_web.lib.errors import Conflict, Mismatch
from opencode_web.lib.ids import new_id
from teams.models import IdempotencyKey

KEPT_FOR = timedelta(hours=24)
# An attempt without a sign of life for this long is taken to be dead.
HELD_FOR = timedelta(seconds=30)
# Held by nobody since an attempt has ended; a later time that is past is that of a crash.
GIVEN_UP = datetime(1970, 1, 1, tzinfo=UTC)
MAX_ANSWER_BYTES = 256 * 1024

_TOO_LARGE = f"it is larger than {MAX_ANSWER_BYTES // 1024} KiB"
_UNREADABLE = "the server's SECRET_KEY has changed since"


@dataclass(frozen=True)
class Attempt:
    """The right to carry a write out under its key."""

    row_id: int
    # The same at every attempt under this key.
    message_id: str


@dataclass(frozen=True)
class KeptAnswer:
    """What the write answered. `withheld` says why the body is not there, when it is not."""

    status: int
    content_type: str
    body: bytes
    withheld: str = ""


@transaction.atomic
def claim_key(caller: str, *, key: str, digest: str, resumes: bool = True) -> Attempt | KeptAnswer:
    """Take the key for this request, or get what the same request was answered before.

    `resumes`: an attempt can carry on where one was cut short, and do nothing twice.

    Raises: Mismatch when the key was used for another request; Conflict while that one runs, and
    when it was cut short by a crash and this one could do it again.
    """
    now = timezone.now()
    IdempotencyKey.objects.filter(caller=caller, key=key, created_at__lte=now - KEPT_FOR).delete()
    fresh = IdempotencyKey(
        caller=caller,
        key=key,
        digest=digest,
        held_until=now + HELD_FOR,
        message_id=new_id("msg"),
        created_at=now,
    )
    # Waits for another transaction that has just inserted the same one.
    IdempotencyKey.objects.bulk_create([fresh], ignore_conflicts=True)
    row = IdempotencyKey.objects.select_for_update().get(caller=caller, key=key)
    if row.message_id == fresh.message_id:
        return Attempt(row.pk, row.message_id)
    if row.digest != digest:
        raise Mismatch(
            "This Idempotency-Key was used for another request in the last 24 hours: its method, "
            "address, directory or body was different. Take a new key for a new request."
        )
    if row.state == IdempotencyKey.State.DONE:
        return _kept(row)
    if row.held_until > now:
        raise Conflict(
            "The first request with this Idempotency-Key is still running. Try again in a moment."
        )
    if not resumes and row.held_until != GIVEN_UP:
        raise Conflict(
            "The server crashed during the first request with this Idempotency-Key, so the "
            "request may or may not have taken effect. Check, and send it with a new key if it "
            "did not."
        )
    row.held_until = now + HELD_FOR
    row.save(update_fields=["held_until"])
    return Attempt(row.pk, row.message_id)


def keep_claim(attempt: Attempt) -> None:
    """Show that the attempt is still under way."""
    held_until = timezone.now() + HELD_FOR
    _running(attempt).update(held_until=held_until)


def keep_answer(
    attempt: Attempt, *, status: int, content_type: str, body: bytes, secret: bool
) -> None:
    """Store what the write answered. An answer with a secret in it is never stored."""
    withheld = "it has a secret in it, which is shown once" if secret else ""
    if not withheld and len(body) > MAX_ANSWER_BYTES:
        withheld = _TOO_LARGE
    _running(attempt).update(
        state=IdempotencyKey.State.DONE,
        status=status,
        content_type=content_type[:100],
        answer="" if withheld else encrypt(body.decode(errors="replace")),
        withheld=withheld,
    )


def give_up_claim(attempt: Attempt, *, forget: bool) -> None:
    """Let the next attempt begin at once; with `forget` also with another request."""
    rows = _running(attempt)
    if forget:
        rows.delete()
    else:
        rows.update(held_until=GIVEN_UP)


def prune_keys() -> int:
    """Remove what is past its time. Returns: how many."""
    return IdempotencyKey.objects.filter(created_at__lte=timezone.now() - KEPT_FOR).delete()[0]


def _running(attempt: Attempt) -> QuerySet[IdempotencyKey]:
    return IdempotencyKey.objects.filter(pk=attempt.row_id, state=IdempotencyKey.State.RUNNING)


def _kept(row: IdempotencyKey) -> KeptAnswer:
    if row.withheld:
        return KeptAnswer(row.status, row.content_type, b"", row.withheld)
    try:
        body = decrypt(row.answer).encode()
    except DecryptionError:
        return KeptAnswer(row.status, row.content_type, b"", _UNREADABLE)
    return KeptAnswer(row.status, row.content_type, body)
