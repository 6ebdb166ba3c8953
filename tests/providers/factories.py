from __future__ import annotations

from typing import Any

from providers import actions
from providers.kinds import ProviderKind
from providers.models import ProviderConfig
from teams.models import Team

KEY = "sk-test-abcdefghijklmnop-9876"


def make_provider(
    team: Team, kind: ProviderKind = ProviderKind.COMPATIBLE, **fields: Any
) -> ProviderConfig:
    fields.setdefault("name", "Own server")
    fields.setdefault("provider_id", "own")
    if kind is ProviderKind.COMPATIBLE:
        fields.setdefault("base_url", "https://models.example.com/v1")
    return actions.create_provider(team, actor=None, kind=kind, **fields)


def make_openai(team: Team, *, key: str = KEY) -> ProviderConfig:
    return make_provider(
        team, ProviderKind.OPENAI, name="OpenAI", provider_id="openai", base_url="", key=key
    )
