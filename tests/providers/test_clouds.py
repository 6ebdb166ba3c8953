from __future__ import annotations

from typing import Any

import pytest

from opencode_web.lib.errors import Conflict, Invalid
from providers import actions
from providers.account_rows import load_accounts
from providers.catalog import known_provider
from providers.connections import account_place, update_connection
from providers.credentials import pick_credential
from providers.effective import effective_providers, keyless_providers
from providers.llm.connection import build
from providers.llm.messages import ModelRef
from providers.llm.route import route_of
from providers.models import Credential, ProviderConfig
from providers.resolve import default_model, resolve_model
from teams.models import AuditEntry, Team, User
from tests.providers.factories import KEY
from tests.providers.requests import make_request

AWS = {"accessKeyId": "AKIAEXAMPLE1234567", "secretAccessKey": "never-to-be-shown-again"}
CLAUDE = ModelRef("amazon-bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0")
GPT = ModelRef("azure", "gpt-5.2")


def make_cloud(team: Team, provider_id: str, **fields: Any) -> ProviderConfig:
    known = known_provider(provider_id)
    assert known is not None
    return actions.create_provider(
        team, actor=None, kind=known.kind, name=known.name, provider_id=known.id, **fields
    )


def make_bedrock(team: Team, region: str = "eu-central-1", **fields: Any) -> ProviderConfig:
    fields.setdefault("secrets", AWS)
    return make_cloud(team, "amazon-bedrock", connection={"region": region}, **fields)


def make_azure(team: Team, resource: str = "acme", **fields: Any) -> ProviderConfig:
    fields.setdefault("key", KEY)
    return make_cloud(team, "azure", connection={"resourceName": resource}, **fields)


def sent(team: Team, ref: ModelRef, config: Any = None) -> Any:
    request = make_request(resolve_model(team, ref, config))
    return build(request, route_of(request))


def audited() -> AuditEntry:
    entry = AuditEntry.objects.order_by("pk").last()
    assert entry is not None
    return entry


def test_bedrock_is_asked_in_its_region_with_a_signature(team: Team) -> None:
    make_bedrock(team)
    request = sent(team, CLAUDE)
    assert request.url.host == "bedrock-runtime.eu-central-1.amazonaws.com"
    assert "/eu-central-1/bedrock/aws4_request" in request.headers["authorization"]
    assert AWS["secretAccessKey"] not in str(request.headers)


def test_bedrock_takes_an_api_key_too(team: Team) -> None:
    make_bedrock(team, secrets={}, key=KEY)
    assert sent(team, CLAUDE).headers["authorization"] == f"Bearer {KEY}"


def test_azure_is_asked_at_its_resource_in_the_version_of_its_api(team: Team) -> None:
    connection = {"resourceName": "acme", "apiVersion": "preview"}
    make_cloud(team, "azure", connection=connection, key=KEY)
    request = sent(team, GPT)
    assert str(request.url).startswith("https://acme.openai.azure.com/openai/v1/responses?")
    assert request.url.params["api-version"] == "preview"
    assert request.headers["api-key"] == KEY


@pytest.mark.parametrize(
    ("provider", "model", "publisher"),
    [
        ("google-vertex", "gemini-2.5-pro", "google"),
        ("google-vertex-anthropic", "claude-sonnet-4-5@20250929", "anthropic"),
    ],
)
def test_vertex_is_asked_in_its_project_with_a_token(
    team: Team, provider: str, model: str, publisher: str
) -> None:
    connection = {"project": "my-project-123", "location": "us-central1"}
    make_cloud(team, provider, connection=connection, secrets={"accessToken": "ya29.token"})
    request = sent(team, ModelRef(provider, model))
    assert request.url.host == "us-central1-aiplatform.googleapis.com"
    place = f"/projects/my-project-123/locations/us-central1/publishers/{publisher}/"
    assert place in request.url.path
    assert request.headers["authorization"] == "Bearer ya29.token"


def test_the_json_settings_have_the_last_word_on_the_region(team: Team) -> None:
    make_bedrock(team)
    config = {"provider": {"amazon-bedrock": {"options": {"region": "us-east-1"}}}}
    assert sent(team, CLAUDE, config).url.host == "bedrock-runtime.us-east-1.amazonaws.com"


def test_the_json_settings_do_not_move_the_key_of_a_resource(team: Team) -> None:
    make_azure(team)
    config = {"provider": {"azure": {"options": {"resourceName": "evil"}}}}
    assert sent(team, GPT, config).url.host == "acme.openai.azure.com"


def test_the_secrets_are_stored_encrypted_and_told_by_name(team: Team) -> None:
    row = make_bedrock(team)
    assert "never-to-be" not in row.credential.secret
    secrets = pick_credential(row).secrets
    assert {name: one.reveal() for name, one in secrets.items()} == AWS
    data = audited().data
    assert data["names"] == ["accessKeyId", "region", "secretAccessKey"]
    assert data["with_key"] is True
    assert "eu-central-1" not in str(data)
    assert "AKIA" not in str(data)


@pytest.mark.parametrize(
    ("provider", "fields", "said"),
    [
        ("amazon-bedrock", {"connection": {"region": "evil.test/"}}, "such as us-east-1"),
        ("azure", {"connection": {"resourceName": "evil.test/"}}, "letters, digits and hyphens"),
        (
            "azure",
            {"connection": {"resourceName": "a", "apiVersion": "1&x=2"}},
            "such as 2025-04-01-preview",
        ),
        ("google-vertex", {"connection": {"location": "evil.test/#"}}, "such as us-central1"),
        ("google-vertex", {"connection": {"project": "../x"}}, "Enter a project ID"),
        ("amazon-bedrock", {"secrets": {"accessKeyId": "AKIA"}}, "required together"),
        ("amazon-bedrock", {"secrets": {"sessionToken": "x"}}, "required together"),
        ("amazon-bedrock", {"secrets": AWS, "key": KEY}, "not both"),
        ("amazon-bedrock", {"secrets": {**AWS, "accessKeyId": "two\nlines"}}, "must be printable"),
        ("google-vertex-anthropic", {"key": KEY}, "Access token"),
        (
            "groq",
            {"connection": {"region": "us-east-1"}, "base_url": "https://x.example"},
            "only needs",
        ),
    ],
)
def test_what_cannot_be_right_is_refused_with_what_to_give(
    team: Team, provider: str, fields: dict[str, Any], said: str
) -> None:
    with pytest.raises(Invalid, match=said):
        make_cloud(team, provider, **fields)
    assert not ProviderConfig.objects.exists()


@pytest.mark.parametrize(
    ("made", "after"),
    [
        (make_bedrock, {"region": "us-east-1"}),
        (make_bedrock, {"region": ""}),
        (make_azure, {"resourceName": "other"}),
    ],
)
def test_keys_do_not_move_to_another_place(team: Team, made: Any, after: dict[str, str]) -> None:
    row = update_connection(made(team), actor=None, connection=after, secrets={})
    assert row.credential is None
    assert not Credential.objects.exists()
    assert audited().data["key_removed"] is True


def test_keys_that_come_with_another_place_are_stored(team: Team) -> None:
    other = {"accessKeyId": "AKIAOTHER123456789", "secretAccessKey": "another-secret-of-aws"}
    row = update_connection(
        make_bedrock(team), actor=None, connection={"region": "us-east-1"}, secrets=other
    )
    assert pick_credential(row).secrets["accessKeyId"].reveal() == other["accessKeyId"]
    assert audited().data == {
        "provider": "amazon-bedrock",
        "connection": ["region"],
        "key_removed": True,
        "key": "set",
        "names": ["accessKeyId", "secretAccessKey"],
    }


def test_a_version_of_the_api_is_no_other_place(team: Team) -> None:
    connection = {"resourceName": "acme", "apiVersion": "preview"}
    row = update_connection(make_azure(team), actor=None, connection=connection, secrets={})
    assert pick_credential(row).key.reveal() == KEY


def test_what_was_missing_is_filled_in_without_losing_the_key(team: Team) -> None:
    row = make_azure(team, "")
    row = update_connection(row, actor=None, connection={"resourceName": "acme"}, secrets={})
    assert pick_credential(row).key.reveal() == KEY


def test_a_resource_that_came_with_settings_is_known_and_bound_too(team: Team) -> None:
    options = {"apiKey": KEY, "resourceName": "acme"}
    actions.absorb_keys(team, {"provider": {"azure": {"options": options}}}, actor=None)
    row = ProviderConfig.objects.get(team=team)
    assert account_place(row) == {"resourceName": "acme"}
    row = update_connection(row, actor=None, connection={"resourceName": "acme"}, secrets={})
    assert pick_credential(row).key.reveal() == KEY
    row = update_connection(row, actor=None, connection={"resourceName": "other"}, secrets={})
    assert row.credential is None
    actions.set_key(row, actor=None, key=KEY)
    assert sent(team, GPT).url.host == "other.openai.azure.com"


def test_keys_for_a_place_that_has_changed_since_are_refused(team: Team) -> None:
    row = make_azure(team)
    stale = ProviderConfig.objects.get(pk=row.pk)
    update_connection(row, actor=None, connection={"resourceName": "other"}, secrets={})
    with pytest.raises(Conflict, match="have changed"):
        update_connection(
            stale,
            actor=None,
            connection={"resourceName": "acme"},
            seen={"resourceName": "acme"},
            key=KEY,
            secrets={},
        )
    with pytest.raises(Conflict, match="has changed"):
        actions.set_key(stale, actor=None, key=KEY)
    assert not Credential.objects.exists()


def test_a_test_of_another_place_is_not_kept(team: Team, alice: User) -> None:
    row = make_bedrock(team)
    tested = ProviderConfig.objects.get(pk=row.pk)
    update_connection(row, actor=None, connection={"region": "us-east-1"}, secrets=AWS)
    actions.record_test(tested, actor=alice, error=None)
    row.refresh_from_db()
    assert row.tested_at is None


def test_what_is_not_complete_cannot_be_used_and_says_what_is_missing(team: Team) -> None:
    make_bedrock(team, "")
    with pytest.raises(Invalid, match=r"what is missing under .*: Region\."):
        resolve_model(team, CLAUDE)
    with pytest.raises(Invalid, match="Amazon Bedrock cannot be reached yet"):
        default_model(team)
    assert keyless_providers(effective_providers(team).values()) == {"amazon-bedrock"}
    (row,) = load_accounts(team, ProviderConfig.objects.filter(team=team))
    assert (row.needs_key, row.missing) == (False, "Region")


def test_settings_of_the_team_complete_it(team: Team) -> None:
    make_bedrock(team, "")
    team.config = {"provider": {"amazon-bedrock": {"options": {"region": "us-east-1"}}}}
    team.save()
    assert keyless_providers(effective_providers(team).values()) == set()
    assert load_accounts(team, ProviderConfig.objects.filter(team=team))[0].missing == ""


def test_a_variable_is_looked_up_for_each_call_whatever_it_holds(team: Team, settings: Any) -> None:
    settings.CONFIG_VALUES = {"AWS_SECRET": 'quotes"and\\slashes'}
    row = make_bedrock(team, secrets={**AWS, "secretAccessKey": "{env:AWS_SECRET}"})
    secret = pick_credential(row).secrets["secretAccessKey"]
    assert secret.reveal() == 'quotes"and\\slashes'
