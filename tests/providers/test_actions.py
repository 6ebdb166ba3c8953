from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.utils import translation
from pytest_django import Settings

from opencode_web.lib.crypto import decrypt
from opencode_web.lib.errors import Conflict, Invalid
from providers import actions
from providers.bounds import Factors
from providers.credentials import pick_credential
from providers.kinds import ProviderKind
from providers.llm.messages import ModelRef
from providers.models import Credential, LearnedBound, ProviderConfig
from teams.models import AuditEntry, Team, User
from tests.providers.factories import KEY, make_openai, make_provider


def last_audit() -> AuditEntry:
    entry = AuditEntry.objects.order_by("pk").last()
    assert entry is not None
    return entry


def test_it_stores_a_provider_with_its_key_encrypted(team: Team, alice: User) -> None:
    row = actions.create_provider(
        team, actor=alice, kind=ProviderKind.OPENAI, name="OpenAI", provider_id="openai", key=KEY
    )
    credential = Credential.objects.get(provider=row)
    assert KEY not in credential.secret
    assert credential.last4 == "9876"
    assert credential.created_by == alice
    assert pick_credential(row).key.reveal() == KEY
    entry = last_audit()
    assert entry.action == "provider.created"
    assert entry.data == {"provider": "openai", "kind": "openai", "with_key": True}


def test_an_id_is_unique_in_a_team_and_free_in_another(team: Team, charlie: User) -> None:
    other = Team.objects.get(slug="globex")
    make_openai(team)
    make_openai(other)
    with pytest.raises(Conflict, match="provider named openai already exists"):
        make_openai(team)
    assert ProviderConfig.objects.filter(provider_id="openai").count() == 2


def test_an_id_is_made_from_the_name(team: Team) -> None:
    row = make_provider(team, provider_id="", name="My GPU box!")
    assert row.provider_id == "my-gpu-box"


@pytest.mark.parametrize("provider_id", ["a/b", "../x", "a b", "-a", "ä", "x" * 61])
def test_it_refuses_an_id_that_cannot_stand_in_a_name(team: Team, provider_id: str) -> None:
    with pytest.raises(Invalid):
        make_provider(team, provider_id=provider_id)


@pytest.mark.parametrize("key", ["line\nbreak", "ümlaut-key-123", "x" * 5000, "  "])
def test_it_refuses_what_cannot_be_a_key(team: Team, alice: User, key: str) -> None:
    row = make_openai(team)
    with pytest.raises(Invalid, match="A key must be printable"):
        actions.set_key(row, actor=alice, key=key)
    assert pick_credential(row).key.reveal() == KEY


def test_a_short_key_shows_none_of_its_characters(team: Team) -> None:
    credential = make_openai(team, key="abcd1234").credential
    assert credential is not None
    assert credential.last4 == ""


def test_rotating_replaces_the_key_and_says_when(team: Team, alice: User) -> None:
    row = make_openai(team)
    credential = actions.set_key(row, actor=alice, key="another-long-key-5555")
    assert credential.rotated_at is not None
    assert pick_credential(row).key.reveal() == "another-long-key-5555"
    assert Credential.objects.filter(provider=row).count() == 1
    assert last_audit().data == {"provider": "openai", "key": "rotated", "last4": "5555"}


@pytest.mark.parametrize(
    ("base_url", "keeps"),
    [
        ("https://models.example.com/v2", True),
        ("https://elsewhere.example.com/v1", False),
        ("https://models.example.com:8443/v1", False),
        ("http://models.example.com/v1", False),
    ],
)
def test_a_new_host_drops_the_key(team: Team, alice: User, base_url: str, keeps: bool) -> None:
    row = make_provider(team, key=KEY)
    changed = actions.update_provider(row, actor=alice, base_url=base_url)
    assert bool(pick_credential(changed)) is keeps
    assert last_audit().data["key_removed"] is not keeps


@pytest.mark.parametrize(
    "base_url", ["", "ftp://x/v1", "http://169.254.169.254/v1", "https://u:p@models.example.com"]
)
def test_it_refuses_an_unusable_address(team: Team, alice: User, base_url: str) -> None:
    row = make_provider(team)
    with pytest.raises(Invalid):
        actions.update_provider(row, actor=alice, base_url=base_url)
    row.refresh_from_db()
    assert row.base_url == "https://models.example.com/v1"


def test_it_picks_models_with_overrides(team: Team, alice: User) -> None:
    row = make_provider(team)
    over = {"name": "Qwen", "limit": {"context": 1000, "output": 100}}
    actions.pick_models(row, actor=alice, models={"qwen3:30b": over})
    row.refresh_from_db()
    assert row.picked == {"qwen3:30b": over}
    assert last_audit().data["picked"] == ["qwen3:30b"]


def test_it_refuses_a_malformed_override(team: Team, alice: User) -> None:
    row = make_provider(team)
    with pytest.raises(Invalid, match="limit"):
        actions.pick_models(row, actor=alice, models={"x": {"limit": {"context": -1}}})


def test_deleting_erases_the_key(team: Team, alice: User) -> None:
    actions.delete_provider(make_openai(team), actor=alice)
    assert not Credential.objects.exists()
    assert last_audit().action == "provider.deleted"


@pytest.mark.parametrize(
    "save",
    [
        lambda row, user: actions.update_provider(row, actor=user, name="Ours"),
        lambda row, user: actions.pick_models(row, actor=user, models={"m": {}}),
        lambda row, user: actions.delete_provider(row, actor=user),
    ],
    ids=["updated", "picked", "deleted"],
)
def test_what_was_learned_of_bills_is_forgotten_when_a_provider_is_saved(
    team: Team, alice: User, save: Callable[[ProviderConfig, User], object]
) -> None:
    row = make_provider(team)
    for provider in ("own", "other"):
        actions.learn_bound(team, ModelRef(provider, "m"), Factors(input=Decimal(100)))
    save(row, alice)
    assert LearnedBound.objects.get().provider == "other"


def test_the_demo_takes_no_key(team: Team, alice: User) -> None:
    row = actions.create_demo(team, actor=alice)
    assert (row.provider_id, row.kind) == ("demo", "scripted")
    with pytest.raises(Invalid):
        actions.set_key(row, actor=alice, key=KEY)


def test_settings_lose_their_key_to_a_credential(team: Team, alice: User) -> None:
    config = {
        "model": "acme/m1",
        "provider": {
            "acme": {
                "name": "Acme AI",
                "options": {"apiKey": KEY, "baseURL": "https://ai.acme.example/v1", "top": 1},
                "models": {"m1": {"limit": {"context": 1000, "output": 100}}},
            },
            "other": {"models": {"x": {}}},
        },
    }
    stored = actions.absorb_keys(team, config, actor=alice)
    assert KEY not in str(stored)
    assert stored["provider"]["acme"]["options"] == {
        "baseURL": "https://ai.acme.example/v1",
        "top": 1,
    }
    row = ProviderConfig.objects.get(team=team, provider_id="acme")
    assert (row.kind, row.name) == ("openai-compatible", "Acme AI")
    assert row.base_url == "https://ai.acme.example/v1"
    assert pick_credential(row).key.reveal() == KEY
    assert not ProviderConfig.objects.filter(provider_id="other").exists()


def test_settings_replace_the_key_of_a_provider_that_is_there(team: Team, alice: User) -> None:
    row = make_openai(team)
    block = {"provider": {"openai": {"options": {"apiKey": "another-long-key-5555"}}}}
    actions.absorb_keys(team, block, actor=alice)
    row.refresh_from_db()
    assert pick_credential(row).key.reveal() == "another-long-key-5555"


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("{env:OPENAI_API_KEY}", "OPENAI_API_KEY is not listed in this server's CONFIG_ENV"),
        ("{env:SECRET_KEY}", "SECRET_KEY is not listed in this server's CONFIG_ENV"),
        ("sk-{env:LISTED}", "{env:NAME} alone"),
        ("{env:}", "{env:NAME} alone"),
        ("{file:/etc/passwd}", "cannot come from a file"),
    ],
)
def test_a_key_is_no_variable_that_operators_have_not_listed_and_no_file(
    team: Team, alice: User, settings: Settings, key: str, said: str
) -> None:
    settings.CONFIG_VALUES = {"LISTED": "of-the-environment-1234", "OPENAI_API_KEY": ""}
    config = {"provider": {"openai": {"options": {"apiKey": key}}}}
    with pytest.raises(Invalid, match=re.escape(said)):
        actions.absorb_keys(team, config, actor=alice)
    row = make_openai(team)
    with pytest.raises(Invalid, match=re.escape(said)):
        actions.set_key(row, actor=alice, key=key)


def test_a_key_can_be_a_listed_variable_for_as_long_as_it_is_listed(
    team: Team, alice: User, settings: Settings
) -> None:
    settings.CONFIG_VALUES = {"LISTED": "of-the-environment-1234"}
    config = {"provider": {"openai": {"options": {"apiKey": "{env:LISTED}"}}}}
    stored = actions.absorb_keys(team, config, actor=alice)
    assert "LISTED" not in str(stored)
    row = ProviderConfig.objects.get(provider_id="openai")
    # Nothing of its value is stored or shown: it is looked up for each call.
    assert row.credential.last4 == ""
    assert decrypt(row.credential.secret) == "{env:LISTED}"
    assert pick_credential(row).key.reveal() == "of-the-environment-1234"
    settings.CONFIG_VALUES = {"LISTED": "rotated-in-the-environment"}
    assert pick_credential(row).key.reveal() == "rotated-in-the-environment"
    settings.CONFIG_VALUES = {}
    with pytest.raises(Invalid, match=r"comes from the variable LISTED, which is no longer list"):
        pick_credential(row)


def test_settings_cannot_name_a_metadata_address(team: Team, alice: User) -> None:
    config = {"provider": {"x": {"options": {"baseURL": "http://169.254.169.254/v1"}}}}
    with pytest.raises(Invalid, match="not allowed"):
        actions.absorb_keys(team, config, actor=alice)


def test_each_reader_sees_the_name_of_the_demo_in_their_language(team: Team, alice: User) -> None:
    with translation.override("de"):
        row = actions.create_demo(team, actor=alice)
        assert row.shown_name == "Vorbereitete Demo (kein echtes Modell)"
    assert row.shown_name == "Scripted demo (no real model)"
    row.name = "Playground"
    assert row.shown_name == "Playground"
