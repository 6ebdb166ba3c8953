from __future__ import annotations

import asyncio
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from opencode_web.lib.db import in_db
from sessions.actions.settings import update_team_settings
from teams.access import access_team
from teams.models import Team, User
from tests.oracle.facts import differences
from tests.oracle.player import AGENTS, Play, make_play, write_files
from tests.oracle.reduce import PROVIDERS, RECORDED
from tests.oracle.score import LEAST, declared, undeclared
from tests.oracle.vendors import VENDORS
from tests.providers.servers import Request
from tests.sessions.factories import make_project

pytestmark = [pytest.mark.any_database, pytest.mark.deep]

_AT_ONCE = 4


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_vendor_is_sent_what_the_genuine_program_sends(
    provider: str, alice: User, team: Team, tmp_path: Path, settings: Settings
) -> None:
    settings.TITLES = True
    recorded = json.loads(gzip.decompress(RECORDED.read_bytes()))
    cases = [case for case in recorded["cases"] if case["provider"] == provider]
    plays: dict[str, Play] = {}
    vendor = VENDORS[provider]
    server = vendor.start(lambda request: plays[_session(request)].reply_to(request))
    with server:
        origin = server.base_url.removesuffix(server.suffix)
        project = await in_db(make_project, team, tmp_path / "shop")
        write_files(tmp_path / "shop")
        connected = vendor.settings(provider, origin, recorded["models"][provider])
        config = {"permission": "allow", "agent": AGENTS, "provider": {provider: connected}}
        await in_db(lambda: update_team_settings(access_team(alice, team.pk), config))
        project = await in_db(type(project).objects.select_related("team").get, pk=project.pk)
        gate = asyncio.Semaphore(_AT_ONCE)

        async def score(case: Any) -> tuple[int, list[Any]]:
            async with gate:
                play = await in_db(make_play, case, alice, project)
                plays[play.session.pk] = play
                equal, different = differences(case, await play.play(alice))
            left = undeclared(case["id"], different, declared())
            return equal, [(case["id"], *one) for one in left]

        scores = await asyncio.gather(*(score(case) for case in cases))
    equal = sum(same for same, _ in scores)
    left = [one for _, different in scores for one in different]
    share = 100 * equal / (equal + len(left))
    assert share >= LEAST, "\n".join(map(str, left))


def _session(request: Request) -> str:
    return request.headers["x-session-id"]
