from __future__ import annotations

import subprocess
import sys

import pytest

from providers.litellm_client import library
from providers.models import ProviderConfig
from providers.warm import is_wanted, warm
from teams.models import Team


def test_it_loads_everything_without_a_request() -> None:
    warm()  # the test's network guard refuses any connection
    assert library.cache_info().currsize == 1


def test_importing_the_stream_does_not_import_litellm() -> None:
    script = (
        "import django, sys; django.setup();"
        "import providers.stream, providers.urls, providers.resolve, providers.warm;"
        "sys.exit('litellm' in sys.modules or 'openai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def make(team: Team, kind: str, *, enabled: bool = True) -> None:
    ProviderConfig.objects.create(
        team=team, provider_id=kind, kind=kind, name=kind, enabled=enabled
    )


@pytest.mark.django_db
def test_the_scripted_demo_alone_needs_no_warming(team: Team) -> None:
    make(team, "scripted")
    assert not is_wanted()


@pytest.mark.django_db
@pytest.mark.parametrize(("enabled", "wanted"), [(True, True), (False, False)])
def test_a_real_provider_that_is_on_does(team: Team, enabled: bool, wanted: bool) -> None:
    make(team, "openai", enabled=enabled)
    assert is_wanted() is wanted
