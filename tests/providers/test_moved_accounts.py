from __future__ import annotations

from typing import Any

import pytest

from providers import actions
from providers.actions.sign_ins import keep_grant
from providers.connections import update_connection
from providers.credentials import open_credential
from providers.kinds import ProviderKind
from providers.llm.secret import Secret
from providers.llm.sign_in import Grant
from providers.models import ProviderConfig
from teams.models import Team, User

pytestmark = pytest.mark.django_db

OURS, EVIL = "acme.databricks.com", "evil.example.net"


def set_up(team: Team, actor: User, provider_id: str, **connection: str) -> ProviderConfig:
    row = actions.create_provider(
        team,
        actor=actor,
        kind=ProviderKind.COMPATIBLE,
        name="Account",
        provider_id=provider_id,
        key="key-of-alice-1",
        connection=connection,
    )
    actions.add_key(row, actor=actor, key="key-of-alice-2")
    return row


def keys_of(row: ProviderConfig) -> list[str]:
    found = [open_credential(one, name="x") for one in row.credentials.all()]
    return [one.key.reveal() for one in found]


def test_no_key_follows_an_account_to_another_host(team: Team, alice: User, bob: User) -> None:
    row = set_up(team, alice, "databricks", DATABRICKS_HOST=OURS)
    given: Any = {"connection": {"DATABRICKS_HOST": EVIL}, "key": "key-of-bob", "secrets": {}}
    update_connection(row, actor=bob, **given)
    assert keys_of(ProviderConfig.objects.get()) == ["key-of-bob"]


def test_no_key_follows_an_account_whose_host_is_set_with_a_key(
    team: Team, alice: User, bob: User
) -> None:
    set_up(team, alice, "databricks", DATABRICKS_HOST=OURS)
    actions.set_key_of(team, "databricks", key="key-of-bob", connection={"host": EVIL}, actor=bob)
    row = ProviderConfig.objects.get()
    assert row.connection == {"DATABRICKS_HOST": EVIL}
    assert keys_of(row) == ["key-of-bob"]


def test_no_key_follows_an_account_that_is_signed_in_to_elsewhere(
    team: Team, alice: User, bob: User
) -> None:
    set_up(team, alice, "snowflake-cortex", SNOWFLAKE_ACCOUNT="ours")
    grant = Grant(Secret("token-of-bob"), connection={"account": "evil"})
    row = keep_grant(team, "snowflake-cortex", grant, actor=bob)
    assert row.connection == {"SNOWFLAKE_ACCOUNT": "evil"}
    assert keys_of(row) == ["token-of-bob"]


def test_further_keys_stay_where_an_account_stays(team: Team, alice: User, bob: User) -> None:
    row = set_up(team, alice, "databricks", DATABRICKS_HOST=OURS)
    given: Any = {"connection": {"DATABRICKS_HOST": OURS}, "key": "key-of-bob", "secrets": {}}
    update_connection(row, actor=bob, **given)
    actions.set_key_of(team, "databricks", key="key-3", connection={"host": OURS}, actor=bob)
    assert keys_of(ProviderConfig.objects.get()) == ["key-of-alice-1", "key-3"]
