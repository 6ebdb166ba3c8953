from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from django.contrib.auth.management import create_permissions
from django.contrib.contenttypes.management import create_contenttypes
from django.contrib.contenttypes.models import ContentType
from django.core.cache import caches
from django.db.models.signals import post_migrate
from django.test import Client
from pytest_django import Settings

from opencode_web.lib import outbound_policy
from teams.models import Role, Team, User
from tests.factories import add_member, make_team, make_user
from tests.providers.vendors import VENDORS

pytest_plugins = ["tests.plugins", "tests.e2e.servers"]

_connect = socket.socket.connect
_connect_ex = socket.socket.connect_ex


class NetworkRefused(RuntimeError):
    pass


def _require_loopback(sock: socket.socket, address: Any) -> None:
    if sock.family == socket.AF_UNIX:
        return
    host = str(address[0])
    if host == "localhost":
        return
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise NetworkRefused(f"a test tried to reach {host}")


@pytest.fixture(scope="session", autouse=True)
def empty_tables_stay_empty() -> None:
    # Emptying the tables after a test counts as a migration, and would fill these two again for
    # every model. Nobody here has permissions of Django's, and content types are made when asked.
    post_migrate.disconnect(
        create_permissions, dispatch_uid="django.contrib.auth.management.create_permissions"
    )
    post_migrate.disconnect(create_contenttypes)
    post_migrate.connect(_forget_content_types)


def _forget_content_types(**_: Any) -> None:
    ContentType.objects.clear_cache()


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(sock: socket.socket, address: Any) -> None:
        _require_loopback(sock, address)
        _connect(sock, address)

    def connect_ex(sock: socket.socket, address: Any) -> int:
        _require_loopback(sock, address)
        return _connect_ex(sock, address)

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket.socket, "connect_ex", connect_ex)


@pytest.fixture
def private_closed(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ALLOWED_PRIVATE_ADDRESSES = []

    async def no_rows(_read: object) -> tuple[()]:
        return ()

    # For tests without a database: nobody has opened a place.
    monkeypatch.setattr(outbound_policy, "in_db", no_rows)
    monkeypatch.setattr(outbound_policy, "_rows", [])


@pytest.fixture(autouse=True)
def clean_cache() -> Iterator[None]:
    yield
    for cache in caches.all():
        cache.clear()


@pytest.fixture
def alice(db: None) -> User:
    return make_user("alice@example.com")


@pytest.fixture
def team(alice: User) -> Team:
    return make_team(alice, name="Acme", slug="acme")


@pytest.fixture
def bob(team: Team) -> User:
    user = make_user("bob@example.com")
    add_member(team, user, Role.MEMBER)
    return user


@pytest.fixture
def vera(team: Team) -> User:
    user = make_user("vera@example.com")
    add_member(team, user, Role.VIEWER)
    return user


@pytest.fixture
def adam(team: Team) -> User:
    user = make_user("adam@example.com")
    add_member(team, user, Role.ADMIN)
    return user


@pytest.fixture
def bill(team: Team) -> User:
    user = make_user("bill@example.com")
    add_member(team, user, Role.BILLING)
    return user


@pytest.fixture
def charlie(db: None) -> User:
    user = make_user("charlie@example.com")
    make_team(user, name="Globex", slug="globex")
    return user


@pytest.fixture
def client_for() -> Callable[[User | None], Client]:
    def make(user: User | None) -> Client:
        client = Client()
        if user is not None:
            client.force_login(user)
        return client

    return make


@pytest.fixture
def internet(settings: Any) -> Iterator[dict[str, httpx.AsyncBaseTransport]]:
    """Vendors by host, which are all that calls of this server reach."""
    settings.PROVIDER_TRANSPORT = "tests.providers.vendors.Internet"
    VENDORS.clear()
    yield VENDORS
    VENDORS.clear()
