from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opencode_web.lib.errors import Invalid
from providers import actions
from providers.address_templates import account_of, filled, label_of
from providers.catalog import known_provider, unusable_providers
from providers.connections import update_connection
from providers.credentials import pick_credential
from providers.effective import effective_providers, keyless_providers
from providers.kinds import Obstacle
from providers.llm.messages import ModelRef
from providers.models import ProviderConfig
from providers.resolve import resolve_model
from teams.models import Team, User
from tests.providers.factories import KEY

WORKERS = "https://api.cloudflare.com/client/v4/accounts/${CLOUDFLARE_ACCOUNT_ID}/ai/v1"
SNOWFLAKE = "https://${SNOWFLAKE_ACCOUNT}.snowflakecomputing.com/api/v2/cortex/v1"
DATABRICKS = "https://${DATABRICKS_HOST}/ai-gateway/mlflow/v1"
NEON = "${NEON_AI_GATEWAY_BASE_URL}/v1"


def add(team: Team, provider_id: str, connection: dict[str, str], **more: Any) -> ProviderConfig:
    known = known_provider(provider_id)
    assert known is not None
    return actions.create_provider(
        team,
        actor=None,
        kind=known.kind,
        name=known.name,
        provider_id=provider_id,
        key=KEY,
        connection=connection,
        **more,
    )


def test_a_value_fills_its_place_and_nothing_else(subtests: pytest.Subtests) -> None:
    cases = [
        (WORKERS, "0a1b2c", "https://api.cloudflare.com/client/v4/accounts/0a1b2c/ai/v1"),
        (SNOWFLAKE, "acme-x1", "https://acme-x1.snowflakecomputing.com/api/v2/cortex/v1"),
        (SNOWFLAKE, "xy1.eu-west-1", "https://xy1.eu-west-1.snowflakecomputing.com/api/v2/cortex/v1"),
        (DATABRICKS, "dbc-1.cloud.databricks.com", "https://dbc-1.cloud.databricks.com/ai-gateway/mlflow/v1"),
        (NEON, "https://gw.neon.tech/a", "https://gw.neon.tech/a/v1"),
        (WORKERS, "", ""),
        (WORKERS, "..", ""),
        (WORKERS, "a/../../x", ""),
        (WORKERS, "a?b", ""),
        (WORKERS, "a%2fb", ""),
        (SNOWFLAKE, "evil.example/", ""),
        (SNOWFLAKE, "evil.example#", ""),
        (SNOWFLAKE, "user@evil.example", ""),
        (SNOWFLAKE, "a..b", ""),
        (SNOWFLAKE, "-a", ""),
        (DATABRICKS, "localhost", ""),
        (DATABRICKS, "a.example/x", ""),
        (DATABRICKS, "a.example:99", ""),
        (NEON, "http://gw.neon.tech", ""),
        (NEON, "https://gw.neon.tech?x=", ""),
        (NEON, "https://user@gw.neon.tech", ""),
        ("http://${HOST}/v1", "a.example", ""),
        ("https://a.${REGION}/v1", "example", ""),
        ("https://a-${NAME}.acme.com/v1", "x", ""),
    ]  # fmt: skip
    for template, value, address in cases:
        with subtests.test(value=value):
            names = {
                "CLOUDFLARE_ACCOUNT_ID",
                "SNOWFLAKE_ACCOUNT",
                "DATABRICKS_HOST",
                "HOST",
                "REGION",
            }
            names |= {"NEON_AI_GATEWAY_BASE_URL", "NAME"}
            assert filled(template, dict.fromkeys(names, value)) == address


@given(st.text(max_size=40) | st.from_regex(r"[a-z./:@#?%\\-]{1,30}", fullmatch=True))
def test_no_value_moves_the_host_or_the_path_around_it(value: str) -> None:
    if address := filled(SNOWFLAKE, {"SNOWFLAKE_ACCOUNT": value}):
        parts = urlsplit(address)
        assert (parts.hostname or "").endswith(".snowflakecomputing.com")
        assert (parts.path, parts.username, parts.query) == ("/api/v2/cortex/v1", None, "")
    if address := filled(WORKERS, {"CLOUDFLARE_ACCOUNT_ID": value}):
        parts = urlsplit(address)
        assert (parts.netloc, parts.path.count("/")) == ("api.cloudflare.com", 6)
        assert not parts.query


def test_every_template_of_the_catalog_becomes_fields() -> None:
    found = {}
    for key in ("cloudflare-workers-ai", "databricks", "infomaniak", "neon", "snowflake-cortex"):
        known = known_provider(key)
        assert known is not None
        account = account_of(key, known.template)
        assert account is not None
        found[key] = [str(one.label) for one in account.settings], account.names_host
        assert known.base_url == ""
    assert found == {
        "cloudflare-workers-ai": (["Cloudflare account ID"], False),
        "databricks": (["Databricks host"], True),
        "infomaniak": (["Infomaniak product ID"], False),
        "neon": (["Neon AI gateway base URL"], True),
        "snowflake-cortex": (["Snowflake account"], False),
    }
    assert {one.id for one in unusable_providers() if one.obstacle is Obstacle.ADDRESS} == {"qvac"}


def test_a_label_reads_as_a_person_would_write_it() -> None:
    assert label_of("CLOUDFLARE_ACCOUNT_ID") == "Cloudflare account ID"


def test_an_account_is_called_at_its_own_address(team: Team) -> None:
    add(team, "cloudflare-workers-ai", {"CLOUDFLARE_ACCOUNT_ID": "0a1b"})
    models = effective_providers(team)["cloudflare-workers-ai"].models
    model = resolve_model(team, ModelRef("cloudflare-workers-ai", next(iter(models))))
    assert model.base_url == "https://api.cloudflare.com/client/v4/accounts/0a1b/ai/v1"
    assert model.api_key.reveal() == KEY


def test_without_its_settings_it_is_not_connected_and_says_what_is_missing(team: Team) -> None:
    add(team, "snowflake-cortex", {})
    provider = effective_providers(team)["snowflake-cortex"]
    assert provider.missing == ("SNOWFLAKE_ACCOUNT",)
    assert keyless_providers([provider]) == {"snowflake-cortex"}
    with pytest.raises(Invalid, match="Snowflake account"):
        resolve_model(team, ModelRef("snowflake-cortex", next(iter(provider.models))))


def test_a_wrong_value_is_refused_with_a_reason(team: Team) -> None:
    with pytest.raises(Invalid, match="without slashes"):
        add(team, "snowflake-cortex", {"SNOWFLAKE_ACCOUNT": "evil.example/"})


def test_another_account_loses_the_key(team: Team) -> None:
    row = add(team, "snowflake-cortex", {})
    first = {"SNOWFLAKE_ACCOUNT": "acme"}
    row = update_connection(row, actor=None, connection=first, secrets={})
    assert pick_credential(row)
    row = update_connection(row, actor=None, connection={"SNOWFLAKE_ACCOUNT": "other"}, secrets={})
    assert not pick_credential(row)


def test_settings_cannot_send_a_stored_key_to_another_account(team: Team) -> None:
    add(team, "databricks", {"DATABRICKS_HOST": "dbc-1.cloud.databricks.com"})
    config: Any = {
        "provider": {
            "databricks": {
                "options": {"DATABRICKS_HOST": "evil.example", "baseURL": "https://evil.example/v1"}
            }
        }
    }
    provider = effective_providers(team, config)["databricks"]
    assert provider.base_url == "https://dbc-1.cloud.databricks.com/ai-gateway/mlflow/v1"
    assert all("evil" not in one.base_url for one in provider.models.values())


def test_a_person_cannot_name_the_host_that_the_code_of_teams_is_sent_to(alice: User) -> None:
    for key, connection in (
        ("databricks", {"DATABRICKS_HOST": "evil.example"}),
        ("neon", {"NEON_AI_GATEWAY_BASE_URL": "https://evil.example"}),
    ):
        with pytest.raises(Invalid, match="Only admins"):
            add(alice, key, connection)  # type: ignore[arg-type]
    assert add(alice, "snowflake-cortex", {"SNOWFLAKE_ACCOUNT": "mine"})  # type: ignore[arg-type]
