"""The audit log as JSON lines, for a team's admins and, of the server itself, for operators."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Annotated, Literal

from django.http import StreamingHttpResponse
from ninja import Query, Router
from typing_extensions import TypedDict

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Forbidden
from opencode_web.lib.json import JsonObject
from opencode_web.lib.shapes import Unchecked
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie, asks_as_operator
from sessions.api.config import team_of
from teams.audit import AuditAction, record
from teams.audit_chain.export import entry_to_line, head_to_line
from teams.audit_chain.heads import known_public_keys
from teams.audit_chain.verify import entries_of
from teams.models import SERVER_CHAIN, AuditHead, Role, Scope, SignedHead

router = Router(tags=["audit"])

MAX_LISTED = 10_000
_CHUNK = 500


class SignedHeadWire(TypedDict):
    """A chain up to one entry, signed with Ed25519. Hashes, keys and signatures are hexadecimal."""

    type: Literal["head"]
    chain: str
    seq: int
    hash: str
    time: str
    checkpoint: bool
    public_key: str
    signature: str


class AuditHeadWire(TypedDict):
    """The end of a chain. `problem` is what the last check found wrong."""

    chain: str
    seq: int
    hash: str
    problem: str
    signed: list[Annotated[JsonObject, Unchecked(SignedHeadWire)]]
    public_keys: list[str]


@router.get("/audit", auth=AsyncTokenOrCookie(), summary="Entries of the audit log, as JSON lines")
async def list_entries(
    request: ApiRequest,
    team: str = "",
    server: Annotated[bool, Query(description="The server's own entries, for operators")] = False,
    after: Annotated[int, Query(ge=0, le=2**62, description="Entries after this `seq`")] = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = MAX_LISTED,
) -> StreamingHttpResponse:
    """In order and without gaps: ask again with the last `seq`, and nothing is missed."""
    chain = await in_db(_chain_of, request, team, server)
    # What this request itself is recorded as is not in its own answer.
    end = await in_db(_end_of, chain)
    await in_db(_note, request, chain)
    lines = _lines(chain, after, min(end, after + limit))
    response = StreamingHttpResponse(lines, content_type="application/x-ndjson")
    response["Cache-Control"] = "no-store"
    response["X-Next-Cursor"] = str(max(after, min(end, after + limit)))
    return response


@router.get("/audit/head", summary="The end of a chain, its signed heads and the keys")
def get_head(request: ApiRequest, team: str = "", server: bool = False) -> AuditHeadWire:
    chain = _chain_of(request, team, server)
    head = AuditHead.objects.filter(pk=chain).first()
    signed = SignedHead.objects.filter(chain=chain).order_by("-pk")[:100]
    return {
        "chain": chain,
        "seq": head.seq if head else 0,
        "hash": head.hash if head else "",
        "problem": head.problem if head else "",
        "signed": [head_to_line(one) for one in signed],
        "public_keys": [*known_public_keys()],
    }


def _chain_of(request: ApiRequest, team: str, server: bool) -> str:
    """Raises: Forbidden for who is no admin of the team, or no operator."""
    if not server:
        return team_of(request, team, need=Role.ADMIN).team.pk
    if not asks_as_operator(request):
        raise Forbidden("Only operators can read the server's own entries, with their sign-in.")
    request.auth.require(Scope.ADMIN)
    return SERVER_CHAIN


def _note(request: ApiRequest, chain: str) -> None:
    team = None if chain == SERVER_CHAIN else team_of(request, chain, need=Role.ADMIN).team
    data: JsonObject = {"format": "json"}
    record(AuditAction.AUDIT_EXPORTED, actor=request.auth.user, team=team, data=data)


def _end_of(chain: str) -> int:
    return AuditHead.objects.filter(pk=chain).values_list("seq", flat=True).first() or 0


async def _lines(chain: str, after: int, until: int) -> AsyncIterator[str]:
    while after < until:
        chunk = await in_db(_read, chain, after, min(until, after + _CHUNK))
        after = min(until, after + _CHUNK)
        yield "".join(chunk)


def _read(chain: str, after: int, until: int) -> list[str]:
    rows = entries_of(chain).filter(seq__gt=after, seq__lte=until).order_by("seq")
    return [json.dumps(entry_to_line(row), separators=(",", ":")) + "\n" for row in rows]
