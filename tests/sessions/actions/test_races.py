from __future__ import annotations

import pytest

from opencode_web.lib.errors import NotFound
from sessions.actions.search import set_up_search
from sessions.actions.skills import delete_team_skill, save_team_skill
from sessions.models import TeamSearch, TeamSkill
from teams.access import TeamAccess, access_team
from teams.models import Team, User
from tests.races import race
from tools.search.engine import EngineKind

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def access(alice: User, team: Team) -> TeamAccess:
    return access_team(alice, team.pk)


def test_a_deleted_skill_is_not_written_back(access: TeamAccess) -> None:
    given = {"name": "release", "description": "How to release.", "text": "Tag it."}
    skill = save_team_skill(access, **given)
    stale = TeamSkill.objects.get(pk=skill.pk)
    faults = race(
        lambda: delete_team_skill(access, skill),
        lambda: save_team_skill(access, **{**given, "text": "Push it."}, skill=stale),
    )
    assert faults[0] is None
    assert isinstance(faults[1], NotFound)
    assert not TeamSkill.objects.exists()


def test_two_first_search_engines_are_one_after_the_other(access: TeamAccess) -> None:
    def choose(kind: EngineKind) -> None:
        set_up_search(access, kind=kind, key="a-key-of-a-search-engine")

    kinds = [kind for kind in EngineKind if kind is not EngineKind.SEARXNG][:2]
    assert race(lambda: choose(kinds[0]), lambda: choose(kinds[1])) == [None, None]
    assert TeamSearch.objects.get().kind == kinds[1]
