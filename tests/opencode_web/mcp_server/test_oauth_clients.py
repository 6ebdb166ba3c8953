"""Registration: what a client may say of itself, and what it is known by."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core import signing
from django.test import Client

from opencode_web.mcp_server.oauth.clients import (
    is_allowed,
    known_client,
    register_client,
)
from opencode_web.mcp_server.oauth.endpoints import MAX_BODY_BYTES, PER_MINUTE
from teams.models import AuditEntry
from tests.opencode_web.mcp_server.oauth import BACK, LOCAL, PROGRAM, registered


@pytest.mark.parametrize(
    "uri",
    [
        BACK,
        "https://a.example",
        "https://a.example:8443/x?y=1&z",
        "http://localhost:3000/cb",
        "http://127.0.0.1",
        "http://[::1]:9/cb",
    ],
)
def test_codes_may_be_sent_over_https_and_to_programs_here(uri: str) -> None:
    assert is_allowed(uri)
    client = register_client("x", [uri])
    assert client is not None
    assert client == known_client(client.id)
    assert client.has_redirect_uri(uri)


@pytest.mark.parametrize(
    "uri",
    [
        *("", "a", "//a.example", "http://a.example/cb", "cursor://x/oauth", "javascript:alert(1)"),
        *(
            "data:text/html,x",
            "https://",
            "https:///x",
            "https://a.example/#f",
            "https://a.example#",
        ),
        *("https://u@a.example/", "https://u:p@a.example/", "https://a.example\\@b.example"),
        *("https://a.example/\r\nX: y", "https://a.example/ x", "https://a.example/\u202e"),
        *("https://ä.example/", "https://a.example:port/", "https://a;script-src/", "https://[x]/"),
        *("http://127.0.0.1.evil.example/", "http://localhost@evil.example/", "http://0.0.0.0/"),
        *("http://127.0.0.1\t/", "https://a.example/" + "x" * 300, "https://*/", "http://[::2]/"),
    ],
)
def test_codes_are_sent_nowhere_else(uri: str) -> None:
    assert not is_allowed(uri)
    assert register_client("x", [uri]) is None


def test_a_redirect_address_matches_to_the_letter() -> None:
    client = register_client("x", [BACK, "http://localhost:3000/cb?a=1"])
    assert client is not None
    for uri in (
        *(f"{BACK}/", f"{BACK}?x", BACK.upper(), BACK.replace("https", "http")),
        *("https://claude.example:444/callback", "https://claude.example/callback/../x"),
        *(
            "http://localhost:3000/cb",
            "http://localhost:3000/cb?a=2",
            "http://127.0.0.1:3000/cb?a=1",
        ),
        "https://localhost:3000/cb?a=1",
    ):
        assert not client.has_redirect_uri(uri), uri
    # A program takes the port that is free.
    assert client.has_redirect_uri("http://localhost:53127/cb?a=1")
    assert client.has_redirect_uri("http://localhost/cb?a=1")


def test_a_client_is_told_what_it_is_registered_with() -> None:
    response = registered(
        "cursor://app/callback",
        BACK,
        BACK,
        LOCAL,
        grant_types=["authorization_code", "refresh_token"],
    )
    assert response.status_code == 201
    assert response["Cache-Control"] == "no-store"
    told = response.json()
    assert told.pop("client_id_issued_at") > 0
    known = known_client(told.pop("client_id"))
    assert known is not None
    assert (known.name, known.redirect_uris) == ("Claude", (BACK, LOCAL))
    assert told == {
        "client_name": "Claude",
        "redirect_uris": [BACK, LOCAL],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }


def test_a_name_is_one_short_line_that_reads_as_it_is_written() -> None:
    client = register_client("  A\u202eevil\x00\n  <b>client</b>\u200b " + "x" * 90, [BACK])
    assert client is not None
    assert client.name.startswith("Aevil <b>client</b> xxx")
    assert len(client.name) == 60


@pytest.mark.parametrize(
    ("body", "error", "said"),
    [
        (b"", "invalid_client_metadata", "Invalid JSON"),
        (b"[]", "invalid_client_metadata", "body"),
        (b"{}", "invalid_client_metadata", "redirect_uris: Field required"),
        (b'{"redirect_uris": []}', "invalid_client_metadata", "redirect_uris"),
        (b'{"redirect_uris": [1]}', "invalid_client_metadata", "redirect_uris.0"),
        (b'{"redirect_uris": "https://a.example"}', "invalid_client_metadata", "redirect_uris"),
        (b'{"redirect_uris": ["cursor://x"]}', "invalid_redirect_uri", "https"),
        (
            b'{"redirect_uris": ["https://a.example"], "grant_types": ["client_credentials"]}',
            "invalid_client_metadata",
            "authorization_code",
        ),
        (
            b'{"redirect_uris": ["https://a.example"], "response_types": ["token"]}',
            "invalid_client_metadata",
            "code",
        ),
    ],
)
def test_what_is_no_registration_is_refused_with_what_to_do(
    body: bytes, error: str, said: str
) -> None:
    response = PROGRAM.post("/oauth/register", body, content_type="application/json")
    assert response.status_code == 400
    assert response.json()["error"] == error
    assert said in response.json()["error_description"]


def test_a_registration_is_small() -> None:
    many = [f"https://a.example/{number}/{'x' * 200}" for number in range(50)]
    for body, status in (
        ({"redirect_uris": [BACK], "client_name": "x" * MAX_BODY_BYTES}, 413),
        ({"redirect_uris": [BACK], "contacts": ["x"] * MAX_BODY_BYTES}, 413),
        ({"redirect_uris": [BACK] * 51}, 400),
        ({"redirect_uris": [BACK], "client_name": "x" * 2_001}, 400),
    ):
        response = PROGRAM.post(
            "/oauth/register", json.dumps(body), content_type="application/json"
        )
        assert response.status_code == status
    # Those that repeat themselves are short when they are packed.
    response = registered(*many)
    assert response.status_code == 400 or len(response.json()["client_id"]) <= 2_000
    random = [
        f"https://{signing.b62_encode(2**200 + n)}{n}.example/" + "q" * 200 for n in range(10)
    ]
    assert len(registered(*random).content) < 8_000


def test_an_address_may_register_only_so_often() -> None:
    for _ in range(PER_MINUTE):
        assert registered(BACK).status_code == 201
    response = registered(BACK)
    assert (response.status_code, response.json()["error"]) == (429, "temporarily_unavailable")
    assert 0 < int(response["Retry-After"]) <= 60
    elsewhere = Client(REMOTE_ADDR="203.0.113.7")
    body = {"redirect_uris": [BACK]}
    assert (
        elsewhere.post("/oauth/register", body, content_type="application/json").status_code == 201
    )


@pytest.mark.django_db
def test_nothing_is_stored_of_a_client(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert registered(BACK).status_code == 201
    assert AuditEntry.objects.count() == 0


def test_an_id_that_this_server_has_not_signed_is_nobodys() -> None:
    client = register_client("x", [BACK])
    assert client is not None
    payload = signing.dumps({"n": "x", "r": [BACK]}, salt="other", compress=True)
    for forged in (
        "",
        "x",
        client.id[:-1],
        client.id + "x",
        client.id.upper(),
        payload,
        "x" * 9_999,
    ):
        assert known_client(forged) is None
    assert known_client(signing.dumps({"n": "x"}, key="guessed")) is None
