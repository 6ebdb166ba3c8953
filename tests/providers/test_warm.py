from __future__ import annotations

import pytest

from providers.models import ProviderConfig
from providers.warm import is_wanted
from teams.models import Team

pytestmark = pytest.mark.django_db


def make(team: Team, kind: str, *, enabled: bool = True) -> None:
    ProviderConfig.objects.create(
        team=team, provider_id=kind, kind=kind, name=kind, enabled=enabled
    )


def test_the_scripted_demo_alone_needs_no_warming(team: Team) -> None:
    make(team, "scripted")
    assert not is_wanted()


@pytest.mark.parametrize(("enabled", "wanted"), [(True, True), (False, False)])
def test_a_real_provider_that_is_on_does(team: Team, enabled: bool, wanted: bool) -> None:
    make(team, "openai", enabled=enabled)
    assert is_wanted() is wanted
