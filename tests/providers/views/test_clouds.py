from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from providers import key_tests
from providers.credentials import pick_credential
from providers.funding import FundedRequest
from providers.key_tests import Outcome
from providers.llm.connection import build
from providers.llm.route import route_of
from providers.models import Credential, ProviderConfig
from teams.models import Team, User
from tests.providers.factories import KEY, make_openai, make_provider
from tests.providers.test_clouds import AWS, make_azure, make_bedrock
from tests.providers.views.test_pages import url

ClientFor = Callable[[User | None], Client]
SECRETS = {f"connection-{name}": value for name, value in AWS.items()}


@pytest.fixture
def admin(client_for: ClientFor, adam: User) -> Client:
    return client_for(adam)


def test_a_provider_is_asked_for_what_its_cloud_has(team: Team, admin: Client) -> None:
    page = admin.get(url("account_new", "amazon-bedrock")).content.decode()
    for name in ("region", *AWS):
        assert page.count(f'name="{name}"') == 1
    assert "such as us-east-1" in page
    # That is the server's own identity.
    assert 'name="profile"' not in page
    page = admin.get(url("account_new", "google-vertex")).content.decode()
    assert 'placeholder="my-project-123"' in page
    assert 'name="region"' not in page
    page = admin.get(url("account_new", "openai")).content.decode()
    assert 'name="key"' in page
    assert 'name="region"' not in page


def test_bedrock_is_set_up_on_the_page(team: Team, admin: Client) -> None:
    answer = admin.post(url("account_new", "amazon-bedrock"), {"region": "eu-central-1", **AWS})
    assert answer.headers["location"] == url("check", "amazon-bedrock")
    row = ProviderConfig.objects.get(team=team)
    assert row.connection == {"region": "eu-central-1"}
    assert pick_credential(row).secrets["accessKeyId"].reveal() == AWS["accessKeyId"]
    for shown in (url("check", "amazon-bedrock"), url("keys")):
        page = admin.get(shown).content.decode()
        assert not any(value in page for value in AWS.values())


def test_only_the_fields_of_the_chosen_provider_count(team: Team, admin: Client) -> None:
    sent = {"key": KEY, "region": "No Region", "resourceName": "evil.test/"}
    assert admin.post(url("account_new", "openai"), sent).status_code == 302
    assert ProviderConfig.objects.get(team=team).connection == {}


def test_a_wrong_setting_is_said_at_its_field_and_no_secret_shown(
    team: Team, admin: Client
) -> None:
    answer = admin.post(url("account_new", "amazon-bedrock"), {"region": "US East", **AWS})
    assert answer.status_code == 422
    assert "such as us-east-1" in answer.context["form"].errors["region"][0]
    assert not any(value in answer.content.decode() for value in AWS.values())
    assert not ProviderConfig.objects.exists()


def test_what_is_still_missing_is_said_everywhere(
    team: Team, admin: Client, client_for: ClientFor, bob: User
) -> None:
    sent = {"project": "my-project-123", "key": KEY}
    answer = admin.post(url("account_new", "google-vertex"), sent)
    assert answer.context["form"].errors == {"location": ["This field is required."]}
    make_provider(
        team,
        provider_id="google-vertex",
        name="Vertex",
        base_url="",
        key=KEY,
        connection={"project": "my-project-123"},
    )
    page = admin.get(url("provider", "google-vertex")).content.decode()
    assert "Until then, the models of Vertex cannot be chosen." in page
    keys = admin.get(url("keys")).content.decode()
    assert "<dd>Location</dd>" in keys
    assert "Incomplete" in keys
    rows = client_for(bob).get(url("models")).content.decode()
    assert "missing: Location" in rows
    assert "Incomplete" in rows


def test_an_account_is_completed_on_its_page(team: Team, admin: Client) -> None:
    make_bedrock(team, "", secrets={})
    assert "Key missing" in admin.get(url("models")).content.decode()
    sent = {"connection-region": "us-east-1", **SECRETS}
    page = admin.post(url("provider_connection", "amazon-bedrock"), sent, follow=True)
    assert "Amazon Bedrock saved." in page.content.decode()
    row = ProviderConfig.objects.get(team=team)
    assert row.connection == {"region": "us-east-1"}
    assert set(pick_credential(row).secrets) == set(AWS)
    rows = admin.get(url("models")).content.decode()
    assert "Key missing" not in rows
    assert "Incomplete" not in rows


def test_the_page_shows_the_place_and_never_the_keys(team: Team, admin: Client) -> None:
    make_bedrock(team)
    page = admin.get(url("provider", "amazon-bedrock")).content.decode()
    assert 'name="connection-region" value="eu-central-1"' in page
    assert not any(value in page for value in AWS.values())


def test_another_resource_says_that_the_keys_are_gone(team: Team, admin: Client) -> None:
    make_azure(team)
    sent = {"connection-resourceName": "other"}
    page = admin.post(url("provider_connection", "azure"), sent, follow=True).content.decode()
    assert "its keys were removed" in page
    assert not Credential.objects.exists()


def test_keys_that_were_entered_for_another_resource_are_refused(team: Team, admin: Client) -> None:
    row = make_azure(team)
    shown = {
        f"initial-connection-{name}": "acme" if name == "resourceName" else ""
        for name in ("resourceName", "apiVersion", "tenantId", "clientId")
    }
    page = admin.get(url("provider", "azure")).content.decode()
    assert all(f'name="{name}"' in page for name in shown)
    ProviderConfig.objects.filter(pk=row.pk).update(connection={"resourceName": "moved"})
    sent = {**shown, "connection-resourceName": "acme", "connection-key": "another-key-1234"}
    answer = admin.post(url("provider_connection", "azure"), sent)
    assert answer.status_code == 422
    assert "has changed" in answer.content.decode()
    assert "another-key-1234" not in answer.content.decode()
    row.refresh_from_db()
    assert pick_credential(row).key.reveal() == KEY


def test_what_the_json_settings_say_of_an_account_is_told(team: Team, admin: Client) -> None:
    make_bedrock(team)
    team.config = {"provider": {"amazon-bedrock": {"options": {"region": "us-east-1"}}}}
    team.save()
    page = admin.get(url("provider", "amazon-bedrock")).content.decode()
    assert "take precedence: Region." in page


def test_a_provider_with_a_key_alone_has_no_account(team: Team, admin: Client) -> None:
    make_openai(team)
    assert "provider-connection" not in admin.get(url("provider", "openai")).content.decode()
    assert admin.post(url("provider_connection", "openai"), {}).status_code == 404


def test_a_test_goes_to_the_account_with_its_keys(
    team: Team, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_bedrock(team)
    asked: list[FundedRequest] = []

    def ask(request: FundedRequest) -> Outcome:
        asked.append(request)
        return Outcome()

    monkeypatch.setattr(key_tests, "probe", ask)
    sent = {"model": "anthropic.claude-sonnet-4-5-20250929-v1:0"}
    page = admin.post(url("provider_test", "amazon-bedrock"), sent).content.decode()
    assert "responded." in page
    request = build(asked[0], route_of(asked[0]))
    assert request.url.host == "bedrock-runtime.eu-central-1.amazonaws.com"
    assert AWS["accessKeyId"] in request.headers["authorization"]


def test_a_test_without_a_region_says_what_is_missing(team: Team, admin: Client) -> None:
    make_bedrock(team, "")
    page = admin.post(url("provider_test", "amazon-bedrock"), {"model": "m"}).content.decode()
    assert "Amazon Bedrock needs a region" in page


def test_an_account_that_an_address_asks_for_is_completed_on_its_page(
    team: Team, admin: Client
) -> None:
    new = url("account_new", "snowflake-cortex")
    assert 'name="SNOWFLAKE_ACCOUNT"' in admin.get(new).content.decode()
    assert admin.post(new, {"key": KEY}).status_code == 422
    make_provider(team, provider_id="snowflake-cortex", base_url="", key=KEY)
    page = admin.get(url("provider", "snowflake-cortex")).content.decode()
    assert "Still missing: Snowflake account." in page
    assert 'name="connection-SNOWFLAKE_ACCOUNT"' in page
    address = url("provider_connection", "snowflake-cortex")
    wrong = admin.post(address, {"connection-SNOWFLAKE_ACCOUNT": "evil.example/x"})
    assert wrong.status_code == 422
    assert "without slashes" in wrong.content.decode()
    page = admin.post(
        address, {"connection-SNOWFLAKE_ACCOUNT": "acme-x1"}, follow=True
    ).content.decode()
    assert "saved." in page
    assert "Still missing" not in page
    row = ProviderConfig.objects.get(team=team)
    assert row.connection == {"SNOWFLAKE_ACCOUNT": "acme-x1"}
    assert pick_credential(row).key.reveal() == KEY


def test_an_account_without_a_secret_is_not_set_up(team: Team, admin: Client) -> None:
    answer = admin.post(url("account_new", "amazon-bedrock"), {"region": "eu-central-1"})
    assert answer.status_code == 422
    assert "Enter the account&#x27;s key" in answer.content.decode()
    assert not ProviderConfig.objects.exists()
