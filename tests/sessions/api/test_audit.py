from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import AsyncClient

from opencode_web.lib.db import in_db
from teams.audit import AuditAction, record
from teams.models import AuditEntry, Scope, Team, User
from tests.factories import make_team, make_token

pytestmark = pytest.mark.django_db(transaction=True)


async def read(
    client: AsyncClient, headers: dict[str, str] | None = None, **query: Any
) -> tuple[list[dict[str, Any]], str]:
    response = await client.get("/audit", query, headers=headers)
    assert response.status_code == 200
    assert response["Content-Type"] == "application/x-ndjson"
    body = b"".join([piece async for piece in response.streaming_content]).decode()
    return [json.loads(line) for line in body.splitlines()], response["X-Next-Cursor"]


async def test_the_cursor_finds_each_entry_once(alice: User, team: Team, charlie: User) -> None:
    other = await in_db(make_team, charlie, name="Other")
    for name in ("a", "b", "c"):
        await in_db(record, AuditAction.SKILL_SAVED, actor=alice, team=team, data={"name": name})
    await in_db(record, AuditAction.SKILL_SAVED, actor=charlie, team=other)
    client = AsyncClient()
    await client.aforce_login(alice)
    found: list[dict[str, Any]] = []
    cursor = "0"
    # Each request is an entry, too: it never ends by itself.
    for _ in range(3):
        lines, cursor = await read(client, team="acme", after=cursor, limit=2)
        found += lines
    assert [line["seq"] for line in found] == [*range(1, len(found) + 1)]
    saved = [line["data"]["name"] for line in found if line["action"] == "skill.saved"]
    assert saved == ["a", "b", "c"]
    assert {line["chain"] for line in found} == {team.pk}
    exported = await in_db(AuditEntry.objects.filter(action="audit.exported").first)
    assert (exported.actor_id, exported.client) == (alice.pk, "")


async def test_an_entry_has_the_token_and_the_program(alice: User, team: Team) -> None:
    token, secret = await in_db(make_token, alice, team)
    headers = {"Authorization": f"Bearer {secret}", "User-Agent": "siem/1.0"}
    await read(AsyncClient(), headers)
    lines, _ = await read(AsyncClient(), headers)
    last = lines[-1]
    assert (last["action"], last["token"], last["client"]) == (
        "audit.exported",
        token.pk,
        "siem/1.0",
    )
    assert (last["actor_kind"], last["ip"]) == ("person", "127.0.0.1")
    assert secret not in json.dumps(lines)


async def test_the_servers_own_entries_are_for_operators(alice: User, team: Team) -> None:
    client = AsyncClient()
    await client.aforce_login(alice)
    assert (await client.get("/audit", {"server": "true"})).status_code == 403
    alice.is_superuser = True
    await in_db(alice.save)
    await in_db(record, AuditAction.USER_RENAMED, actor=alice, team=None, data={"name": "A"})
    lines, _ = await read(client, server="true")
    assert {line["chain"] for line in lines} == {"-"}
    denied = await in_db(AuditEntry.objects.filter(action="access.denied").get)
    assert denied.data["route"] == "/audit"
    _, secret = await in_db(make_token, alice, team, Scope.ADMIN)
    headers = {"Authorization": f"Bearer {secret}"}
    response = await AsyncClient().get("/audit", {"server": "true"}, headers=headers)
    assert response.status_code == 403
