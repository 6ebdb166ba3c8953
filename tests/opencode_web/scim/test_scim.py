from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from teams.access import access_team
from teams.actions.accounts import deactivate_account, reactivate_account
from teams.actions.directory import (
    create_directory_token,
    directory_provider,
    revoke_directory_token,
)
from teams.actions.identity import add_rule
from teams.auth import authenticate_header
from teams.models import AuditEntry, DirectoryToken, IdentityRule, Membership, Role, Team, User
from tests.factories import make_token, make_user

pytestmark = pytest.mark.django_db
USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"


@pytest.fixture
def root(db: None) -> User:
    return make_user("root@example.com", operator=True)


class Directory:
    """As Okta or Entra calls: JSON in, JSON out."""

    def __init__(self, secret: str) -> None:
        self._client = Client(headers={"Authorization": f"Bearer {secret}"})

    def __call__(
        self, method: str, path: str, data: Any = None, *, code: int = 200, **headers: str
    ) -> dict[str, Any]:
        body = data if isinstance(data, str | bytes) else json.dumps(data)
        answer = getattr(self._client, method)(
            f"/scim/v2{path}",
            **({} if data is None else {"data": body, "content_type": "application/scim+json"}),
            headers=headers,
        )
        assert answer.status_code == code, answer.content
        if answer.content:
            assert answer["Content-Type"] == "application/scim+json"
            found: dict[str, Any] = answer.json()
            if code >= 400:
                assert (found["schemas"], found["status"]) == ([ERROR], str(code))
            return found
        return {}

    def patch(self, path: str, *operations: dict[str, Any], code: int = 200) -> dict[str, Any]:
        return self("patch", path, {"schemas": [PATCH], "Operations": operations}, code=code)

    def make(self, user_name: str, **more: Any) -> dict[str, Any]:
        return self("post", "/Users", {"schemas": [USER], "userName": user_name, **more}, code=201)

    def group(self, name: str, *ids: str) -> dict[str, Any]:
        members = [{"value": one} for one in ids]
        data = {"schemas": [GROUP], "displayName": name, "members": members}
        return self("post", "/Groups", data, code=201)


@pytest.fixture
def directory(root: User) -> Directory:
    return Directory(create_directory_token(root, name="Okta")[1])


def test_a_person_comes_is_locked_out_and_comes_back(directory: Directory, root: User) -> None:
    made = directory.make(
        "Dora@Example.com",
        externalId="00u1",
        name={"givenName": "Dora", "familyName": "Doe"},
        active=True,
        title="dropped",
        groups=[],
    )
    user = User.objects.get(email="dora@example.com")
    assert (made["id"], made["active"], made["externalId"]) == (str(user.pk), True, "00u1")
    assert "title" not in made
    assert user.name == "Dora Doe"
    assert not user.has_usable_password()
    place = f"/Users/{user.pk}"
    # As Entra writes it.
    directory.patch(place, {"op": "Replace", "path": "active", "value": "False"})
    user.refresh_from_db()
    assert not user.is_active
    entry = AuditEntry.objects.get(action="user.deactivated")
    assert (entry.actor, entry.told["reason"]) == (None, "The directory deactivated the account.")
    assert directory("get", place)["active"] is False
    # Another change lets nobody in.
    directory.patch(place, {"op": "add", "value": {"displayName": "Dora D."}})
    user.refresh_from_db()
    assert (user.is_active, user.name) == (False, "Dora D.")
    directory.patch(place, {"op": "replace", "value": {"active": True}})
    user.refresh_from_db()
    assert user.is_active
    # One name for both: the address follows.
    directory.patch(place, {"op": "replace", "path": "userName", "value": "dd@example.com"})
    user.refresh_from_db()
    assert user.email == "dd@example.com"
    directory("delete", place, code=204)
    user.refresh_from_db()
    assert not user.is_active
    directory("get", place, code=404)
    assert directory("get", '/Users?filter=userName+eq+"dd@example.com"')["totalResults"] == 0
    assert directory.make("dd@example.com")["id"] == str(user.pk)
    user.refresh_from_db()
    assert user.is_active


def test_whom_an_operator_has_locked_out_only_an_operator_lets_in(
    directory: Directory, root: User
) -> None:
    made = directory.make("dora@example.com")
    place, user = f"/Users/{made['id']}", User.objects.get(email="dora@example.com")
    deactivate_account(user, actor=root, reason="Laptop stolen")
    told = directory.patch(place, {"op": "replace", "value": {"active": True}})
    assert told["active"] is False
    directory.patch(place, {"op": "replace", "value": {"active": False}})
    put = {"schemas": [USER], "userName": "dora@example.com", "displayName": "D", "active": True}
    assert directory("put", place, put)["active"] is False
    directory("delete", place, code=204)
    assert directory.make("dora@example.com")["active"] is False
    user.refresh_from_db()
    assert (user.is_active, user.name) == (False, "")
    assert not AuditEntry.objects.filter(action="user.reactivated").exists()
    reactivate_account(user, actor=root, reason="Laptop found")
    directory.patch(place, {"op": "replace", "value": {"active": False}})
    assert directory.patch(place, {"op": "replace", "value": {"active": True}})["active"] is True


def test_it_finds_and_adopts_people_who_were_here_before(
    directory: Directory, bob: User, team: Team
) -> None:
    _, secret = make_token(bob, team)
    for asked in (
        'userName eq "BOB@example.com"',
        'emails.value eq "bob@example.com"',
        'userName sw "bob" and active eq true',
        f'id eq "{bob.pk}"',
        'not (displayName ne "Bob")',
    ):
        found = directory("get", f"/Users?filter={asked.replace(' ', '+')}")
        assert [one["id"] for one in found["Resources"]] == [str(bob.pk)], asked
    kept = {"schemas": [USER], "userName": "bob@example.com", "externalId": "b1", "active": False}
    directory("put", f"/Users/{bob.pk}", kept)
    found = directory("get", '/Users?filter=externalId+eq+"b1"')
    assert found["Resources"][0]["active"] is False
    assert authenticate_header(f"Bearer {secret}") is None
    directory("post", "/Users", {"schemas": [USER], "userName": "BOB@example.com"}, code=409)


def test_pages_are_cut_in_the_database(
    directory: Directory, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    User.objects.bulk_create(User(email=f"p{n:03}@example.com") for n in range(450))
    with django_assert_max_num_queries(12):
        found = directory("get", "/Users?startIndex=400&count=500&excludedAttributes=emails")
    assert (found["totalResults"], found["startIndex"], found["itemsPerPage"]) == (451, 400, 52)
    assert "emails" not in found["Resources"][0]
    assert len(directory("get", "/Users?startIndex=-3")["Resources"]) == 200
    assert directory("get", "/Users?count=0")["totalResults"] == 451


def test_groups_give_and_take_roles_by_rules(
    directory: Directory, root: User, team: Team, vera: User
) -> None:
    provider = directory_provider()
    for value, role in (("dev", Role.MEMBER), ("leads", Role.ADMIN)):
        add_rule(
            root, IdentityRule(provider=provider, claim="groups", value=value, team=team, role=role)
        )
    dora = directory.make("dora@example.com")["id"]
    user = User.objects.get(pk=dora)
    dev = directory.group("dev", dora, str(vera.pk))
    leads = directory.group("leads")
    assert access_team(user, "acme").role == Role.MEMBER
    # Who was invited keeps what they were given.
    assert access_team(vera, "acme").role == Role.VIEWER
    add = {"op": "add", "path": "members", "value": [{"value": dora}]}
    directory.patch(f"/Groups/{leads['id']}", add)
    assert access_team(user, "acme").role == Role.ADMIN
    assert [one["display"] for one in directory("get", f"/Users/{dora}")["groups"]] == [
        "dev",
        "leads",
    ]
    remove = {"op": "remove", "path": f'members[value eq "{dora}"]'}
    directory.patch(f"/Groups/{leads['id']}", remove)
    assert access_team(user, "acme").role == Role.MEMBER
    directory.patch(
        f"/Groups/{dev['id']}", {"op": "remove", "path": "members", "value": add["value"]}
    )
    assert not Membership.objects.filter(user=user).exists()
    directory.patch(f"/Groups/{dev['id']}", add)
    directory("delete", f"/Groups/{dev['id']}", code=204)
    assert not Membership.objects.filter(user=user).exists()
    assert Membership.objects.filter(user=vera).exists()
    actions = AuditEntry.objects.filter(action__startswith="directory.group")
    assert actions.filter(action="directory.group_deleted").count() == 1


def test_the_last_operator_and_their_address_are_safe(directory: Directory, root: User) -> None:
    place = f"/Users/{root.pk}"
    off = {"op": "replace", "path": "active", "value": False}
    assert "needs an operator" in directory.patch(place, off, code=409)["detail"]
    taken = {"op": "replace", "path": "userName", "value": "evil@example.com"}
    directory.patch(place, taken, code=409)
    directory("delete", place, code=409)
    root.refresh_from_db()
    assert (root.email, root.is_active) == ("root@example.com", True)
    assert directory("get", place)["userName"] == "root@example.com"


def test_only_the_directory_may_call(
    root: User, bob: User, team: Team, directory: Directory
) -> None:
    row, secret = create_directory_token(root, name="old")
    revoke_directory_token(root, row)
    _, of_bob = make_token(bob, team)
    for wrong in (secret, of_bob, "", "ocs_", "x" * 10_000):
        Directory(wrong)("get", "/Users", code=401)
    browser = Client()
    browser.force_login(root)
    assert browser.get("/scim/v2/Users").status_code == 401
    assert secret not in str(DirectoryToken.objects.values())
    assert DirectoryToken.objects.get(name="Okta").last_used_at is None
    directory("get", "/Users")
    assert DirectoryToken.objects.get(name="Okta").last_used_at is not None


def test_bad_requests_are_refused_in_scims_own_shape(directory: Directory, bob: User) -> None:
    place = f"/Users/{bob.pk}"
    named = {"schemas": [USER], "userName": "x@example.com"}
    group = {"schemas": [GROUP], "displayName": "g"}
    patch = {"schemas": [PATCH]}
    for method, path, data, code in (
        ("post", "/Users", "{", 400),
        ("post", "/Users", "[1]", 400),
        ("post", "/Users", '{"a": NaN}', 400),
        ("post", "/Users", "[" * 5_000, 400),
        ("post", "/Users", {"userName": "a\0b"}, 400),
        ("post", "/Users", {**named, "userName": "no address"}, 400),
        ("post", "/Users", {**named, "userName": 5}, 400),
        ("post", "/Users", {**named, "userName": "x" * 300}, 400),
        ("post", "/Users", {**named, "emails": [{"value": "x"}]}, 400),
        ("post", "/Users", {**named, "emails": "x"}, 400),
        ("post", "/Groups", {**group, "displayName": " "}, 400),
        ("post", "/Groups", {**group, "members": [{"value": "0"}]}, 400),
        ("post", "/Groups", {**group, "members": [{"value": "½"}]}, 400),
        ("patch", place, {**patch, "Operations": []}, 400),
        ("patch", place, {**patch, "Operations": [{"op": "explode"}]}, 400),
        ("patch", place, {**patch, "Operations": [{"op": "remove", "path": "userName"}]}, 400),
        ("get", "/Users?filter=userName+eq", None, 400),
        ("get", "/Users?filter=zebra+eq+1", None, 400),
        ("get", f"/Users?filter={'not+(' * 190}active+eq+true", None, 400),
        ("get", f"/Users?filter={'x' * 2_000}", None, 400),
        ("get", "/Users?count=many", None, 400),
        ("get", "/Users/0", None, 404),
        ("get", "/Users/x'--", None, 404),
        ("get", f"/Users/{'9' * 40}", None, 404),
        ("get", "/Groups/none", None, 404),
        ("get", "/Nothing/at/all", None, 404),
        ("post", "/Bulk", {}, 404),
        ("delete", "/Users", None, 405),
        ("post", "/.search", {}, 501),
    ):
        directory(method, path, data, code=code)
    assert not User.objects.filter(email__startswith="x").exists()


def test_a_change_of_what_was_not_read_is_refused(directory: Directory, bob: User) -> None:
    place = f"/Users/{bob.pk}"
    version = directory("get", place)["meta"]["version"]
    data = {"schemas": [USER], "userName": "bob@example.com", "displayName": "Bobby"}
    changed = directory("put", place, data, **{"If-Match": version})
    assert changed["meta"]["version"] != version
    directory("put", place, data, code=412, **{"If-Match": version})
    directory("delete", place, code=412, **{"If-Match": version})


def test_the_directory_lets_in_only_whom_it_says_is_active(
    directory: Directory, bob: User, root: User
) -> None:
    deactivate_account(bob, actor=None, reason="The directory deactivated the account.")
    data = {"schemas": [USER], "userName": "bob@example.com"}
    directory("put", f"/Users/{bob.pk}", data)
    bob.refresh_from_db()
    assert not bob.is_active
    directory("put", f"/Users/{bob.pk}", {**data, "active": True})
    bob.refresh_from_db()
    assert bob.is_active


def test_an_operator_sets_the_directory_up(root: User, team: Team) -> None:
    console = Client()
    console.force_login(root)
    page = console.post("/ops/directory", {"name": "Okta"}).content.decode()
    assert "http://testserver/scim/v2" in page
    found = re.search(r'id="scim-secret">(ocs_[\w-]+)<', page)
    assert found is not None
    assert found[1] not in console.get("/ops/directory").content.decode()
    directory = Directory(found[1])
    dora = directory.make("dora@example.com")["id"]
    directory.group("dev <b>", dora)
    rule = {"value": "dev <b>", "team": team.pk, "role": "member"}
    assert console.post("/ops/directory/rules", rule).status_code == 302
    assert console.post("/ops/directory/rules", rule).status_code == 422
    # At once, not with the next word of the directory.
    user = User.objects.get(pk=dora)
    assert access_team(user, "acme").role == Role.MEMBER
    page = console.get("/ops/directory").content.decode()
    assert "dev &lt;b&gt;" in page
    assert "1 member" in page
    # Nobody signs in with it.
    assert "scim-directory" not in console.get("/ops/identity").content.decode()
    assert console.get("/ops/identity/p/scim-directory").status_code == 404
    assert console.get("/ops/identity/new/scim").status_code == 404
    number = IdentityRule.objects.get().pk
    assert console.post(f"/ops/directory/rules/{number}").status_code == 302
    assert not Membership.objects.filter(user=user).exists()
    token = DirectoryToken.objects.get().pk
    assert console.post(f"/ops/directory/tokens/{token}").status_code == 302
    directory("get", "/Users", code=401)
    assert console.post("/ops/directory/tokens/0").status_code == 404
