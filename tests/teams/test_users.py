from __future__ import annotations

import pytest
from django.db import IntegrityError

from opencode_web.lib.errors import Conflict, Invalid
from teams.actions.users import (
    change_password,
    create_user,
    rename_user,
    set_keys_enabled,
    set_theme,
)
from teams.models import AuditEntry, Theme, User
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def test_an_account_is_made_with_a_hashed_password() -> None:
    user = create_user(" Dora@Example.COM ", name=" Dora ", password="long-enough-phrase")
    assert (user.email, user.name, user.is_superuser) == ("dora@example.com", "Dora", False)
    assert user.check_password("long-enough-phrase")
    assert "long-enough-phrase" not in user.password
    assert AuditEntry.objects.get().action == "user.created"


def test_an_operator_is_made_on_request() -> None:
    user = create_user("root@example.com", name="", password="long-enough-phrase", is_operator=True)
    assert user.is_superuser
    assert user.is_staff
    assert user.display_name == "root"


@pytest.mark.parametrize("password", ["short", "password123", "", "dora@example.com"])
def test_it_rejects_a_weak_password(password: str) -> None:
    with pytest.raises(Invalid):
        create_user("dora@example.com", name="Dora", password=password)
    assert not User.objects.exists()


def test_an_address_is_taken_in_any_case(alice: User) -> None:
    with pytest.raises(Conflict):
        create_user("ALICE@example.com", name="", password="long-enough-phrase")
    with pytest.raises(IntegrityError):
        make_user("Alice@Example.com")


def test_passwords_and_names_change(alice: User) -> None:
    rename_user(alice, name=" Alice B. ")
    change_password(alice, password="another-long-phrase")
    stored = User.objects.get()
    assert stored.name == "Alice B."
    assert stored.check_password("another-long-phrase")
    with pytest.raises(Invalid):
        change_password(alice, password="short")
    assert User.objects.get().check_password("another-long-phrase")


def test_tastes_are_kept_beside_each_other(alice: User) -> None:
    User.objects.update(preferences={"other": 1})
    assert alice.keys_enabled
    set_keys_enabled(alice, enabled=False)
    set_theme(alice, theme=Theme.DARK)
    stored = User.objects.get()
    assert stored.preferences == {"other": 1, "keys_enabled": False}
    assert (stored.keys_enabled, stored.theme) == (False, "dark")
