from __future__ import annotations

import subprocess
import sys

import pytest
from pytest_django import Settings

from providers.litellm_client import library
from providers.messages import ProviderKind
from providers.models import ProviderConfig
from providers.tasks import warm_up
from providers.warm import kinds_in_use, warm
from teams.models import Team


def test_it_loads_everything_without_a_request() -> None:
    warm(
        [ProviderKind.ANTHROPIC, ProviderKind.COMPATIBLE, ProviderKind.OPENAI]
    )  # the test's network guard refuses any connection
    assert library.cache_info().currsize == 1


def test_importing_the_stream_does_not_import_litellm() -> None:
    script = (
        "import django, sys; django.setup();"
        "import providers.stream, providers.urls, providers.resolve, providers.warm;"
        "sys.exit('litellm' in sys.modules or 'openai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_call_with_tools_does_not_import_the_gateway_for_mcp() -> None:
    script = (
        "import django, sys; django.setup();"
        "from providers.messages import ProviderKind;"
        "from providers.warm import warm;"
        "warm(set(ProviderKind) - {ProviderKind.SCRIPTED});"
        "sys.exit('litellm' not in sys.modules or 'mcp' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def make(team: Team, kind: str, *, enabled: bool = True) -> None:
    ProviderConfig.objects.create(
        team=team, provider_id=kind, kind=kind, name=kind, enabled=enabled
    )


@pytest.mark.django_db
def test_the_scripted_demo_alone_needs_no_warming(team: Team) -> None:
    make(team, "scripted")
    assert kinds_in_use() == set()


@pytest.mark.django_db
def test_real_providers_that_are_on_do(team: Team) -> None:
    make(team, "openai")
    make(team, "anthropic", enabled=False)
    make(team, "scripted")
    assert kinds_in_use() == {ProviderKind.OPENAI}


@pytest.mark.django_db
def test_the_task_loads_nothing_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr("providers.tasks.library", lambda: loaded.append("library"))
    monkeypatch.setattr("providers.tasks.warm", lambda kinds: loaded.append("rehearsal"))
    warm_up()
    assert loaded == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("embedded", "expected"), [(True, ["library"]), (False, ["library", "openai"])]
)
def test_the_task_rehearses_only_where_there_is_memory(
    team: Team,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    embedded: bool,
    expected: list[str],
) -> None:
    make(team, "openai")
    settings.EMBEDDED = embedded
    loaded: list[str] = []
    monkeypatch.setattr("providers.tasks.library", lambda: loaded.append("library"))
    monkeypatch.setattr("providers.tasks.warm", loaded.extend)
    warm_up()
    assert loaded == expected
