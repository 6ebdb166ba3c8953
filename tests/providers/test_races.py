from __future__ import annotations

import pytest
from django.test import Client

from opencode_web.lib.errors import Conflict, NotFound
from providers import actions
from providers.access import access_provider
from providers.credentials import pick_credential
from providers.models import Credential, ProviderConfig
from teams.access import access_team
from teams.models import Team, User
from tests.providers.factories import KEY, make_provider
from tests.races import race

OLD, NEW = "https://old.example.com/v1", "https://new.example.com/v1"
ADDRESS = "/t/acme/settings/models/p/openai/address"


@pytest.fixture
def row(team: Team) -> ProviderConfig:
    return make_provider(team, provider_id="openai", base_url=OLD, key=KEY)


def read(team: Team, user: User) -> ProviderConfig:
    return access_provider(access_team(user, team.pk), "openai")


@pytest.mark.django_db(transaction=True)
def test_a_rename_beside_a_move_does_not_bring_the_old_host_back(
    team: Team, alice: User, row: ProviderConfig
) -> None:
    stale = read(team, alice)

    def move() -> None:
        moved = actions.update_provider(row, actor=alice, base_url=NEW)
        actions.set_key(moved, actor=alice, key="key-of-the-new-host")

    faults = race(move, lambda: actions.update_provider(stale, actor=alice, name="Ours"))
    assert faults == [None, None]
    now = read(team, alice)
    assert (now.name, now.base_url) == ("Ours", NEW)
    assert pick_credential(now).key.reveal() == "key-of-the-new-host"


@pytest.mark.django_db(transaction=True)
def test_a_key_is_not_stored_for_a_host_that_it_was_not_given_for(
    team: Team, alice: User, row: ProviderConfig
) -> None:
    stale = read(team, alice)
    faults = race(
        lambda: actions.update_provider(row, actor=alice, base_url=NEW),
        lambda: actions.set_key(stale, actor=alice, key="key-of-the-old-host"),
    )
    assert faults[0] is None
    assert isinstance(faults[1], Conflict)
    assert not Credential.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_rename_beside_a_disable_leaves_it_disabled(
    team: Team, alice: User, row: ProviderConfig
) -> None:
    stale = read(team, alice)
    faults = race(
        lambda: actions.update_provider(row, actor=alice, enabled=False),
        lambda: actions.update_provider(stale, actor=alice, name="Ours"),
    )
    assert faults == [None, None]
    now = read(team, alice)
    assert (now.name, now.enabled) == ("Ours", False)


@pytest.mark.django_db(transaction=True)
def test_what_is_deleted_meanwhile_is_not_found(
    team: Team, alice: User, row: ProviderConfig
) -> None:
    stale = read(team, alice)
    faults = race(
        lambda: actions.delete_provider(row, actor=alice),
        lambda: actions.set_key(stale, actor=alice, key="some-other-key"),
    )
    assert faults[0] is None
    assert isinstance(faults[1], NotFound)


def test_a_test_of_a_key_that_was_replaced_is_not_kept(
    team: Team, alice: User, row: ProviderConfig
) -> None:
    tested = read(team, alice)
    assert pick_credential(tested).key.reveal() == KEY
    actions.set_key(read(team, alice), actor=alice, key="another-key-1234")
    actions.record_test(tested, actor=alice, error=None)
    assert read(team, alice).tested_at is None
    actions.record_test(read(team, alice), actor=alice, error=None)
    assert read(team, alice).tested_at is not None


def test_a_page_saves_only_what_was_changed_on_it(
    team: Team, alice: User, row: ProviderConfig, client: Client
) -> None:
    client.force_login(alice)
    page = client.get("/t/acme/settings/models/p/openai").content.decode()
    assert f'name="initial-address-base_url" value="{OLD}"' in page
    actions.update_provider(row, actor=alice, base_url=NEW)
    sent = {
        "address-name": "Ours",
        "address-base_url": OLD,
        "initial-address-name": row.name,
        "initial-address-base_url": OLD,
    }
    client.post(ADDRESS, sent)
    now = read(team, alice)
    assert (now.name, now.base_url) == ("Ours", NEW)


def test_a_key_that_was_entered_for_another_address_is_refused(
    team: Team, alice: User, row: ProviderConfig, client: Client
) -> None:
    client.force_login(alice)
    page = client.get("/t/acme/settings/keys").content.decode()
    assert f'name="base_url" value="{OLD}"' in page
    actions.update_provider(row, actor=alice, base_url=NEW)
    sent = {"key": "key-of-the-old-host", "base_url": OLD}
    answer = client.post("/t/acme/settings/models/p/openai/key", sent)
    assert answer.status_code == 422
    assert "has changed" in answer.content.decode()
    assert not Credential.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_models_added_at_once_are_both_picked(
    team: Team, alice: User, row: ProviderConfig
) -> None:
    stale = read(team, alice)
    faults = race(
        lambda: actions.pick_models(row, actor=alice, models={"gpt-5": {}}),
        lambda: actions.pick_models(stale, actor=alice, models={"gpt-4": {"name": "Old"}}),
    )
    assert faults == [None, None]
    assert read(team, alice).picked == {"gpt-5": {}, "gpt-4": {"name": "Old"}}
