"""Secrets are planted, and looked for behind every exit of the URL map, in every table, and in what
is published, logged and sent to models. New routes, models and frames are looked at like these."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.apps import apps
from django.db import connection, connections
from django.test import AsyncClient

from opencode_web.lib import bus
from opencode_web.lib.db import in_db
from sessions.access import access_project
from sessions.actions.change_requests import request_change
from sessions.actions.compaction import request_compaction
from sessions.actions.drafts import save_draft
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.publish import request_commit_of
from sessions.actions.secrets import set_secret
from sessions.actions.shares import create_share
from sessions.actions.team_secrets import set_team_secret
from sessions.approvals.hold import NeedsApproval
from sessions.events import live
from sessions.models import Project, SavedRule, Session, Webhook
from sessions.runner.log import single_request
from sessions.runner.turn import provider_turn
from sessions.shares.links import share_token
from teams.access import access_team
from teams.auth import authenticate_user
from teams.models import Role, Team, User
from tests.architecture.test_access_matrix import ROWS, _address, _make_names
from tests.factories import add_member, make_user
from tests.filled import OURS
from tests.lib.known_key_samples import SAMPLES
from tests.providers.factories import make_openai
from tests.sessions.factories import INLINE, make_project, make_session, script, session_access
from tests.sessions.runner.drains import drain
from tests.teams.test_page_access import TABLE

_PLANTED = [SAMPLES[place] for place in (3, 7, 11, 15, 24)]
KEYS = ["".join(parts).strip() for _, *parts in _PLANTED]
CANARIES = {
    "team secret": "canary-of-the-team-4711",
    "project secret": "canary-of-the-project-0815",
    "held secret": "canary-that-is-held-9182",
    "provider key": "sk-canary-of-the-provider-2342",
    **{kind: value for kind, _, value, _ in _PLANTED},
}
# People see the files of a project as they are, and a tool has written this one.
OF_FILES = {"find", "vcs/diff", "vcs/diff/raw"}
OF_FILES_SEEN = {_PLANTED[2][0]}


def seen_in(text: str) -> list[str]:
    return [name for name, value in CANARIES.items() if value[3:] in text]


def _plant(alice: User, team: Team, project: Project) -> None:
    set_team_secret(access_team(alice, team.slug), name="OF_TEAM", value=CANARIES["team secret"])
    access = access_project(authenticate_user(alice), project.pk)
    set_secret(access, name="OF_PROJECT", value=CANARIES["project secret"])
    make_openai(team, key=CANARIES["provider key"])
    add_member(team, make_user("second@example.com"), Role.ADMIN)
    Team.objects.filter(pk=team.pk).update(needs_approval=["secrets"])
    later = access_project(authenticate_user(alice), project.pk)
    with pytest.raises(NeedsApproval) as held:
        set_secret(later, name="HELD", value=CANARIES["held secret"])
    request_change(held.value)
    Team.objects.filter(pk=team.pk).update(needs_approval=[])
    for permission in ("bash", "edit"):
        SavedRule.objects.create(
            project=project, permission=permission, pattern="*", created_at=project.created_at
        )
    Webhook.objects.create(
        id="whk_canary",
        team=team,
        url="https://hooks.example.com/",
        events=["session.idle", "session.error", "permission.asked", "audit.recorded"],
        created_by=alice,
    )


def _script() -> str:
    """Its keys are whole only when the model reads it out."""
    printing = f'echo "$OF_TEAM $OF_PROJECT"; printf "%s\\n" {" ".join(KEYS)}; sleep 0.3'
    events: list[list[dict[str, Any]]] = [
        [{"reasoning": f"of {KEYS[0]}"}, {"tool": "bash", "input": {"command": printing}}],
        [{"tool": "todowrite", "input": {"todos": [_todo(KEYS[1])]}}],
        [{"tool": "write", "input": {"filePath": "f", "content": KEYS[2]}}],
        [{"tool": "no_such_tool", "input": {"x": KEYS[3]}}],
        [{"text": f"They are {' '.join(KEYS)}"}],
    ]
    text = script(*events)
    for key in KEYS:
        text = text.replace(key, "".join(f"\\u{ord(one):04x}" for one in key))
    return text


def _todo(text: str) -> dict[str, str]:
    return {"content": text, "status": "pending", "priority": "high"}


def _say(alice: User, session: Session) -> None:
    access = session_access(alice, session)
    text = f"Use {' and '.join(KEYS)} please. {_script()}"
    admit_prompt(access, PromptDraft([{"type": "text", "text": text}], model=INLINE))


def _write_more(alice: User, session: Session) -> None:
    access = session_access(alice, session)
    save_draft(access, text=f"later {KEYS[0]}", typed_at=session.created_at)
    request_commit_of(access, message=f"Use {KEYS[1]} {CANARIES['team secret']}")


def _rows() -> dict[str, str]:
    """Every row of ours, and every table that no model stands for."""
    models = [one for label in OURS for one in apps.get_app_config(label).get_models()]
    found = {one.__name__: repr(list(one._default_manager.values_list())) for one in models}
    known = {one._meta.db_table for one in apps.get_models(include_auto_created=True)}
    with connection.cursor() as cursor:
        for table in set(connection.introspection.table_names(cursor)) - known:
            cursor.execute(f'SELECT * FROM "{table}"')
            found[table] = repr(cursor.fetchall())
    return found


async def _told(response: Any) -> str:
    """What a route answers; of a stream what comes at first."""
    if not response.streaming:
        return response.content.decode(errors="replace")
    told = b""
    async with aclosing(_pieces(response)) as coming:
        with suppress(TimeoutError):
            async with asyncio.timeout(0.3):
                async for piece in coming:
                    told += piece
    return told.decode(errors="replace")


async def _pieces(response: Any) -> AsyncIterator[bytes]:
    async for piece in response.streaming_content:
        yield piece if isinstance(piece, bytes) else str(piece).encode()


@pytest.mark.deep
@pytest.mark.django_db(transaction=True)
async def test_no_exit_shows_a_secret(
    alice: User,
    team: Team,
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    frames: list[str] = []
    asked: list[str] = []
    publish, stream = live.publish, provider_turn.stream

    def heard(group: str, body: Any) -> None:
        frames.append(json.dumps(body, default=str))
        publish(group, body)

    def spied(request: Any) -> Any:
        asked.append(repr((request.system, request.messages, request.tools)))
        return stream(request)

    for module in (live, bus):
        monkeypatch.setattr(module, "publish", heard)
    for module in (provider_turn, single_request):
        monkeypatch.setattr(module, "stream", spied)
    project = await in_db(make_project, team, tmp_path / "shop")
    await in_db(_plant, alice, team, project)
    session = await in_db(make_session, alice, project)
    await in_db(_say, alice, session)
    await drain(session)
    assert (tmp_path / "shop" / "f").read_text() == KEYS[2]
    await in_db(lambda: request_compaction(session_access(alice, session)))
    await drain(session)
    await in_db(_write_more, alice, session)
    assert any("[hidden GitHub token]" in one for one in asked)
    assert any("[secret OF_TEAM]" in one for one in frames)

    leaks = {name: seen for name, text in (await in_db(_rows)).items() if (seen := seen_in(text))}
    leaks |= {f"frame {one[:60]}": seen for one in frames if (seen := seen_in(one))}
    leaks |= {f"request {one[:60]}": seen for one in asked if (seen := seen_in(one))}
    if seen := seen_in(caplog.text):
        leaks["log"] = seen

    names = await in_db(_make_names, alice, project)
    session = await in_db(Session.objects.get, pk=session.pk)
    link = await in_db(
        lambda: create_share(session_access(alice, session), scope="public", days=1, details=True)
    )
    last = await in_db(lambda: session.parts.filter(type="tool").first())
    names |= {"session": session.pk, "session_id": session.pk, "token": share_token(link.pk)}
    names |= {"message_id": last.message_id, "part": last.pk, "part_id": last.pk}
    browser = AsyncClient(raise_request_exception=False)
    await browser.aforce_login(alice)
    looked = 0
    exits = {row.route: _address(row, names) for row in ROWS if row.method == "get"}
    exits |= {page.path: page.path for page in TABLE if page.method == "get"}
    for route, address in exits.items():
        response = await browser.get(address)
        looked += response.status_code == 200
        seen = seen_in(await _told(response))
        if seen and not (route in OF_FILES and set(seen) <= OF_FILES_SEEN):
            leaks[f"get {route}"] = seen
    # The client's own thread ends with the test, and would leave its connections open.
    await sync_to_async(connections.close_all)()
    assert looked > 150
    assert leaks == {}
