"""Send the audit log on: in order, without gaps, each entry at least once."""

from __future__ import annotations

import asyncio
import logging
from urllib.parse import urlsplit

from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject
from opencode_web.lib.signed_posts import SECRET_PREFIX, TIMEOUT_S, UNREADABLE, post
from sessions.actions.audit_streams import SERVER_STREAM, Claimed, claim_entries, settle_entries
from sessions.events.outbox import Happening
from sessions.jobs.syslog import SCHEMES, send_messages
from teams.audit_chain.export import entry_to_line
from teams.audit_chain.hashes import chain_of
from teams.models import AuditEntry

logger = logging.getLogger(__name__)

# A batch ends before another worker may take its chain over.
_BATCH_S = 60.0


async def send_audit() -> int:
    """Send what is due, several chains at once. Returns: how many entries have arrived."""
    claimed = await in_db(claim_entries)
    return sum(await asyncio.gather(*map(_send, claimed)))


async def _send(claimed: Claimed) -> int:
    is_syslog = urlsplit(claimed.url).scheme in SCHEMES
    sent, problem = await (_send_syslog(claimed) if is_syslog else _send_webhook(claimed))
    if problem:
        logger.warning("audit.not_sent stream=%s problem=%s", claimed.stream, problem)
    await in_db(settle_entries, claimed, sent=sent, problem=problem)
    return sent


async def _send_syslog(claimed: Claimed) -> tuple[int, str]:
    try:
        await send_messages(claimed.url, claimed.entries, timeout_s=TIMEOUT_S)
    except TimeoutError:
        return 0, f"The syslog server did not take the entries within {TIMEOUT_S:.0f} seconds."
    except OSError as exc:
        return 0, f"The syslog server could not be reached: {exc}"
    return len(claimed.entries), ""


async def _send_webhook(claimed: Claimed) -> tuple[int, str]:
    try:
        secret = _secret_of(claimed)
    except DecryptionError:
        return 0, UNREADABLE
    started, loop = asyncio.get_running_loop().time(), asyncio.get_running_loop()
    for number, entry in enumerate(claimed.entries):
        if loop.time() - started > _BATCH_S:
            return number, ""
        result = await post(claimed.url, secret, id=id_of(entry), payload=_payload(entry))
        if result.problem:
            return number, result.problem
    return len(claimed.entries), ""


def id_of(entry: AuditEntry) -> str:
    """Returns: what an entry is known by, however often it is sent."""
    return f"aud_{chain_of(entry)}_{entry.seq}"


def _payload(entry: AuditEntry) -> JsonObject:
    return {
        "id": id_of(entry),
        "type": Happening.AUDIT.value,
        "timestamp": entry.time.isoformat(),
        "data": entry_to_line(entry),
    }


def _secret_of(claimed: Claimed) -> str:
    if claimed.stream != SERVER_STREAM:
        return decrypt(claimed.secret)
    return SECRET_PREFIX + claimed.secret.removeprefix(SECRET_PREFIX)
