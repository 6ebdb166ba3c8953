from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from opencode_web_cli.accounts import account_in_catalog, give_account
from opencode_web_cli.connection import Connection
from opencode_web_cli.failures import Failure

from tests.e2e.installation import Installation

pytestmark = [pytest.mark.e2e, pytest.mark.any_database]
AWS = {"AWS_REGION": "eu-central-1"}
KEYS = {"AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY": "s3cret-of-aws"}
VERTEX = {"GOOGLE_VERTEX_PROJECT": "acme-1", "GOOGLE_VERTEX_LOCATION": "europe-west1"}
GATEWAY = {"CLOUDFLARE_ACCOUNT_ID": "0" * 32, "CLOUDFLARE_GATEWAY_ID": "main"}


@pytest.fixture
def client(server: Installation) -> Iterator[httpx.Client]:
    with server.client() as made:
        yield made


@pytest.fixture
def key_file(tmp_path: Path) -> str:
    path = tmp_path / "adc.json"
    names = ("client_id", "client_secret", "refresh_token")
    path.write_text(json.dumps({"type": "authorized_user", **dict.fromkeys(names, "s3cret")}))
    return str(path)


@pytest.mark.parametrize(
    ("provider", "variables"),
    [
        ("amazon-bedrock", {**AWS, "AWS_BEARER_TOKEN_BEDROCK": "s3cret-of-bedrock"}),
        ("amazon-bedrock", {**AWS, **KEYS, "AWS_SESSION_TOKEN": "s3cret-for-an-hour"}),
        ("azure", {"AZURE_RESOURCE_NAME": "acme", "AZURE_API_KEY": "s3cret-of-azure"}),
        ("google-vertex", VERTEX),
        ("google-vertex-anthropic", VERTEX),
        ("cloudflare-ai-gateway", {**GATEWAY, "CLOUDFLARE_API_TOKEN": "s3cret-of-gateway"}),
        (
            "cloudflare-workers-ai",
            {"CLOUDFLARE_ACCOUNT_ID": "0" * 32, "CLOUDFLARE_API_KEY": "s3cret-of-workers"},
        ),
        ("databricks", {"DATABRICKS_HOST": "acme.example.com", "DATABRICKS_TOKEN": "s3cret"}),
        ("snowflake-cortex", {"SNOWFLAKE_ACCOUNT": "acme", "SNOWFLAKE_CORTEX_PAT": "s3cret-of-s"}),
        ("watsonx", {"WATSONX_AI_APIKEY": "s3cret-of-w", "WATSONX_AI_PROJECT_ID": "6d1e-1"}),
    ],
)
def test_a_cloud_account_comes_from_its_usual_variables(
    client: httpx.Client,
    key_file: str,
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    variables: dict[str, str],
) -> None:
    if provider.startswith("google"):
        variables = {**variables, "GOOGLE_APPLICATION_CREDENTIALS": key_file}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert provider not in client.get("/provider").json()["connected"]
    account = give_account(Connection(client), provider)
    assert set(account.used) <= set(variables)
    assert provider in client.get("/provider").json()["connected"]
    assert "s3cret" not in client.get("/config").text
    client.delete(f"/auth/{provider}").raise_for_status()
    client.patch("/config", json={"provider": {provider: None}}).raise_for_status()


@pytest.mark.parametrize(
    ("provider", "variables", "told"),
    [
        (
            "amazon-bedrock",
            {},
            "No key of amazon-bedrock: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY in the environment. It also needs AWS_REGION: set it in the "
            "environment.",
        ),
        (
            "amazon-bedrock",
            {**AWS, "AWS_SECRET_ACCESS_KEY": "x"},
            "amazon-bedrock needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: set both "
            "in the environment.",
        ),
        (
            "google-vertex",
            {"GOOGLE_APPLICATION_CREDENTIALS": "missing.json"},
            "google-vertex needs GOOGLE_VERTEX_PROJECT and GOOGLE_VERTEX_LOCATION: set both in the "
            "environment.",
        ),
        (
            "google-vertex",
            {**VERTEX, "GOOGLE_APPLICATION_CREDENTIALS": "missing.json"},
            "GOOGLE_APPLICATION_CREDENTIALS names a file that cannot be read: No such file or "
            "directory",
        ),
        (
            "cloudflare-workers-ai",
            {"CLOUDFLARE_API_KEY": "x"},
            "cloudflare-workers-ai needs CLOUDFLARE_ACCOUNT_ID: set it in the environment.",
        ),
    ],
)
def test_what_is_missing_is_named(
    client: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
    provider: str,
    variables: dict[str, str],
    told: str,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(Failure) as caught:
        set_up(client, provider)
    assert str(caught.value) == told


def set_up(client: httpx.Client, provider: str) -> None:
    account = account_in_catalog(provider)
    account.require()
    account.give(Connection(client))


def test_a_provider_that_is_not_there_is_named(client: httpx.Client) -> None:
    with pytest.raises(Failure, match="no provider 'anthropc'"):
        give_account(Connection(client), "anthropc")
