from __future__ import annotations

import ipaddress
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from opencode_web.lib.addresses import RefusedAddress
from opencode_web.lib.outbound_policy import require_open, require_open_text
from teams.actions.addresses import allow_address
from teams.models import AllowedAddress, AuditEntry, Team, User

PAGE = "/ops/addresses"


@pytest.fixture(autouse=True)
def nothing_listed(settings: Settings) -> None:
    settings.ALLOWED_PRIVATE_ADDRESSES = ["git.lan"]


@pytest.mark.django_db
def test_a_place_is_allowed_and_closed_and_recorded(console: Client, root: User) -> None:
    with pytest.raises(RefusedAddress):
        require_open_text("localhost", 11434)
    answer = console.post(PAGE, {"place": " LOCALHOST:11434 "}, follow=True)
    assert "localhost:11434 is now allowed." in answer.content.decode()
    assert "git.lan" in answer.content.decode()
    require_open_text("localhost", 11434)
    with pytest.raises(RefusedAddress):
        require_open_text("localhost", 11435)
    answer = console.post(f"{PAGE}/close", {"place": "localhost:11434"}, follow=True)
    assert "localhost:11434 is no longer allowed." in answer.content.decode()
    with pytest.raises(RefusedAddress):
        require_open_text("localhost", 11434)
    entries = AuditEntry.objects.order_by("id").values_list("action", "actor", "data")
    assert list(entries) == [
        ("address.allowed", root.pk, {"place": "localhost:11434"}),
        ("address.closed", root.pk, {"place": "localhost:11434"}),
    ]


@pytest.mark.django_db
def test_what_is_no_place_is_said(console: Client) -> None:
    answer = console.post(PAGE, {"place": "http://localhost"}, headers={"HX-Request": "true"})
    assert answer.status_code == 422
    assert "Enter a host, host:port" in answer.content.decode()
    assert not AllowedAddress.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "place",
    [
        "169.254.169.254",
        "169.254.0.0/17:80",
        "[fe80::1]:443",
        "230.0.0.0/8",
        "::ffff:169.254.169.254",
    ],
)
def test_a_place_that_is_never_connected_to_is_refused(console: Client, place: str) -> None:
    answer = console.post(PAGE, {"place": place}, headers={"HX-Request": "true"})
    assert answer.status_code == 422
    assert "cannot be allowed" in answer.content.decode()
    assert not AllowedAddress.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("place", ["100.64.0.0/10", "fd00::/8", "0.0.0.0/0"])
def test_a_network_with_a_few_such_places_in_it_is_taken(root: User, place: str) -> None:
    assert allow_address(root, place).place == place


@pytest.mark.django_db
def test_allowing_twice_is_recorded_once(root: User) -> None:
    allow_address(root, "10.0.0.5/32")
    allow_address(root, "10.0.0.5")
    assert AllowedAddress.objects.count() == AuditEntry.objects.count() == 1


@pytest.mark.django_db
def test_the_page_takes_the_same_queries_for_any_number_of_places(
    console: Client, root: User, django_assert_num_queries: Any
) -> None:
    allow_address(root, "10.0.0.0")
    console.get(PAGE)
    with CaptureQueriesContext(connection) as few:
        console.get(PAGE)
    for number in range(1, 6):
        allow_address(root, f"10.0.0.{number}")
    with django_assert_num_queries(len(few)):
        assert "10.0.0.5" in console.get(PAGE).content.decode()


@pytest.mark.django_db(transaction=True)
async def test_a_row_counts_for_connections_too(root: User, team: Team) -> None:
    found = [ipaddress.ip_address("10.0.0.5")]
    with pytest.raises(RefusedAddress):
        await require_open("models.lan", 443, found)
    await AllowedAddress.objects.acreate(place="models.lan:443")
    await require_open("models.lan", 443, found)
    with pytest.raises(RefusedAddress):
        await require_open("models.lan", 80, found)
