"""Tell MCP servers which sign-ins have ended, and forget these."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from opencode_web.lib.crypto import DecryptionError
from sessions.actions.mcp_sign_ins import claim_ended, end_grants, end_lost_grants
from sessions.mcp.grants import grant_of
from sessions.models import McpSignIn
from teams.models import User
from tools.errors import ToolError
from tools.mcp.remote import oauth
from tools.mcp.sign_in import Grant

logger = logging.getLogger(__name__)

# A server that cannot be reached is asked again as long.
_TRIED_FOR = timedelta(days=1)
# As long somebody may read that a server has refused to renew a sign-in.
_TOLD_FOR = timedelta(days=30)
# At a time, so that slow servers hold nobody else up; the next round takes the next ones.
_MOST = 20
_TIMEOUT_S = 25.0


def revoke_grants() -> None:
    """End what nobody may use any more, and give back what has ended."""
    end_lost_grants()
    told = McpSignIn.objects.filter(state=McpSignIn.State.REFUSED)
    told.filter(state_at__lt=timezone.now() - _TOLD_FOR).delete()
    _give_back(McpSignIn.objects.all())


def revoke_grants_of(user: User) -> None:
    """As `revoke_grants`, at once and for all of one person. What cannot be reached stays known to
    its server."""
    rows = McpSignIn.objects.filter(user=user)
    end_grants(rows)
    _give_back(rows)


def _give_back(rows: QuerySet[McpSignIn]) -> None:
    tried = rows.filter(state=McpSignIn.State.ENDED).exclude(renewing_until=None)
    tried.filter(state_at__lt=timezone.now() - _TRIED_FOR).delete()
    for row in claim_ended(rows, most=_MOST):
        if _is_given_back(row):
            # Whoever was just renewing it has left something else to give back.
            McpSignIn.objects.filter(pk=row.pk, sealed=row.sealed).delete()


def _is_given_back(row: McpSignIn) -> bool:
    try:
        done = asyncio.run(_revoke(grant_of(row)))
    except DecryptionError:
        return True
    except (ToolError, TimeoutError) as exc:
        logger.warning("mcp.not_revoked sign_in=%s error=%s", row.pk, type(exc).__name__)
        return False
    logger.info("mcp.revoked sign_in=%s done=%s", row.pk, done)
    return done


async def _revoke(grant: Grant) -> bool:
    async with asyncio.timeout(_TIMEOUT_S):
        done: bool = await (await oauth()).revoke(grant)
        return done
