from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from teams.actions.invites import UNUSABLE
from teams.audit import AuditAction, record
from teams.auth import authenticate_header
from teams.models import ApiToken, AuditEntry, Invite, Membership, Role, Team, User
from tests.factories import PASSWORD, make_invite, make_token, make_user

pytestmark = pytest.mark.django_db

ClientFor = Callable[[User | None], Client]
HTMX = {"HTTP_HX_REQUEST": "true"}
T = "/t/acme/settings/"


def test_an_invitation_from_link_to_member(client_for: ClientFor, alice: User, team: Team) -> None:
    data = {"role": "member", "days": "7", "email": "dora@example.com"}
    response = client_for(alice).post(T + "invites", data)
    assert "Member link for dora@example.com" in response.content.decode()
    link = re.search(r"http://testserver(/invite/[\w-]{43})<", response.content.decode())
    assert link is not None
    assert link[1] not in client_for(alice).get(T + "members").content.decode()

    guest = client_for(None)
    page = guest.get(link[1])
    assert b"Join Acme" in page.content
    data = {"email": "dora@example.com", "name": "Dora", "password": "long-enough-phrase"}
    assert guest.post(link[1], data)["Location"] == "/t/acme/"
    assert guest.get("/t/acme/").content == b"home of acme"
    assert Membership.objects.get(user__email="dora@example.com").role == Role.MEMBER
    again = client_for(None).get(link[1])
    assert again.status_code == 404
    assert UNUSABLE in again.content.decode()


def test_the_link_names_the_public_address(
    client_for: ClientFor, alice: User, team: Team, settings: object
) -> None:
    settings.PUBLIC_ORIGIN = "https://code.example.com"  # type: ignore[attr-defined]
    response = client_for(alice).post(T + "invites", {"role": "member", "days": "7"})
    assert "https://code.example.com/invite/" in response.content.decode()


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"role": "owner", "days": "7"}, "role"),
        ({"role": "king", "days": "7"}, "role"),
        ({"role": "member", "days": "0"}, "days"),
        ({"role": "member", "days": "31"}, "days"),
        ({"role": "member", "days": "7", "email": "no address"}, "email"),
    ],
)
def test_a_wrong_invitation_is_422_and_marks_the_field(
    data: dict[str, str], field: str, client_for: ClientFor, adam: User
) -> None:
    response = client_for(adam).post(T + "invites", data, **HTMX)
    assert response.status_code == 422
    assert f'id="id_{field}_error"' in response.content.decode()
    assert "<html" not in response.content.decode()
    assert not Invite.objects.exists()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"email": "alice@example.com"}, "already an account"),
        ({"password": "short"}, "too short"),
        ({"name": ""}, "required"),
        ({"email": "x"}, "valid email"),
    ],
)
def test_a_wrong_sign_up_is_422_and_keeps_the_link(
    data: dict[str, str], text: str, client_for: ClientFor, alice: User, team: Team
) -> None:
    _, secret = make_invite(alice, team)
    good = {"email": "dora@example.com", "name": "Dora", "password": "long-enough-phrase"}
    response = client_for(None).post(f"/invite/{secret}", {**good, **data})
    assert response.status_code == 422
    assert text in response.content.decode()
    assert User.objects.count() == 1
    assert Invite.objects.open().count() == 1


def test_somebody_with_an_account_joins_by_signing_in(
    client_for: ClientFor, alice: User, charlie: User, team: Team
) -> None:
    _, secret = make_invite(alice, team, Role.VIEWER)
    client = client_for(None)
    path = f"/invite/{secret}"
    assert f'href="/login?next=%2Finvite%2F{secret}"' in client.get(path).content.decode()
    credentials = {"login": charlie.email, "password": PASSWORD, "next": path}
    assert client.post("/login", credentials)["Location"] == path
    assert b"Join" in client.get(path).content
    assert not Membership.objects.filter(team=team, user=charlie).exists()
    assert client.post(path)["Location"] == "/t/acme/"
    assert Membership.objects.get(team=team, user=charlie).role == Role.VIEWER


def test_a_link_for_somebody_else_tells_so(
    client_for: ClientFor, alice: User, charlie: User, team: Team
) -> None:
    _, secret = make_invite(alice, team, email="dora@example.com")
    client = client_for(charlie)
    assert b"This invitation is for dora@example.com" in client.get(f"/invite/{secret}").content
    assert client.post(f"/invite/{secret}").status_code == 403
    assert Invite.objects.open().count() == 1


def test_an_expired_link_says_one_sentence(client: Client, alice: User, team: Team) -> None:
    _, secret = make_invite(alice, team)
    Invite.objects.update(expires_at=timezone.now())
    for response in (client.get(f"/invite/{secret}"), client.post(f"/invite/{secret}")):
        assert response.status_code == 404
        assert UNUSABLE in response.content.decode()


def test_a_token_is_shown_once_and_works(client_for: ClientFor, bob: User, team: Team) -> None:
    client = client_for(bob)
    data = {"name": "laptop", "team": team.id, "scope": "write", "days": "90"}
    response = client.post("/me/tokens", data)
    assert "no-store" in response["Cache-Control"]
    secret = re.search(r"ocw_\w{40}", response.content.decode())
    assert secret is not None
    principal = authenticate_header(f"Bearer {secret[0]}")
    assert principal is not None
    assert principal.user == bob
    shown = re.findall(
        r'<code data-copy id="editor-\d">(.*?)</code>', response.content.decode(), re.S
    )
    assert len(shown) == 4
    for one in shown:
        assert "http://testserver&quot;" in one
        assert secret[0] in one
    zed, jetbrains = (json.loads(unescape(one)) for one in shown[:2])
    assert {"command": "opencode-web", "args": ["acp"]}.items() <= (
        jetbrains["agent_servers"]["OpenCode Web"].items()
    )
    assert zed["agent_servers"]["OpenCode Web"]["env"]["OPENCODE_WEB_TOKEN"] == secret[0]
    page = client.get("/me/tokens").content.decode()
    assert secret[0] not in page
    assert "editor-1" not in page
    assert secret[0][:12] in page
    token = ApiToken.objects.get()
    assert token.expires_at is not None
    assert client.post(f"/me/tokens/{token.pk}/revoke")["Location"] == "/me/tokens"
    assert secret[0][:12] not in client.get("/me/tokens").content.decode()
    assert authenticate_header(f"Bearer {secret[0]}") is None


@pytest.mark.parametrize("field", ["name", "team", "scope", "days"])
def test_a_wrong_token_form_is_422(
    field: str, client_for: ClientFor, bob: User, charlie: User, team: Team
) -> None:
    wrong = {"name": "", "team": charlie.memberships.get().team_id, "scope": "root", "days": "7"}
    data = {"name": "x", "team": team.id, "scope": "read", "days": "0"}
    response = client_for(bob).post("/me/tokens", {**data, field: wrong[field]})
    assert response.status_code == 422
    assert not ApiToken.objects.exists()


def test_renaming_moves_the_address(client_for: ClientFor, adam: User) -> None:
    client = client_for(adam)
    response = client.post(T + "general", {"name": "Acme Two", "slug": "acme-two"})
    assert response["Location"] == "/t/acme-two/settings/general"
    page = client.get(response["Location"]).content.decode()
    assert "Acme Two" in page
    audit = client.get("/t/acme-two/settings/audit").content.decode()
    assert "renamed the team from Acme to Acme Two." in audit
    assert "<dt>Name</dt><dd>Acme → Acme Two</dd><dt>Address</dt><dd>acme → acme-two</dd>" in audit
    assert "Saved." in page
    assert client.get("/")["Location"] == "/t/acme-two/"


def test_a_taken_address_is_422_and_the_page_keeps_the_stored_name(
    client_for: ClientFor, alice: User, team: Team, charlie: User
) -> None:
    response = client_for(alice).post(T + "general", {"name": "Other", "slug": "globex"})
    assert response.status_code == 422
    page = response.content.decode()
    assert "already used by another team" in page
    assert 'action="/t/acme/settings/general"' in page
    assert Team.objects.get(pk=team.pk).slug == "acme"


def test_htmx_gets_the_fragment_on_a_fault_and_a_redirect_on_success(
    client_for: ClientFor, alice: User, team: Team
) -> None:
    client = client_for(alice)
    wrong = client.post(T + "general", {"name": "", "slug": "acme"}, **HTMX)
    assert wrong.status_code == 422
    assert wrong.content.decode().lstrip().startswith('<div id="general"')
    right = client.post(T + "general", {"name": "New", "slug": "acme"}, **HTMX)
    assert (right.status_code, right["HX-Redirect"]) == (200, "/t/acme/settings/general")


def test_a_fault_reaches_htmx_as_a_toast(client_for: ClientFor, adam: User, alice: User) -> None:
    owner = Membership.objects.get(user=alice)
    path = f"{T}members/{owner.pk}/role"
    response = client_for(adam).post(path, {"role": "viewer"}, **HTMX)
    assert response.status_code == 403
    assert response["HX-Retarget"] == "#toasts"
    assert "Only an owner can change another owner." in response.content.decode()


def test_htmx_of_the_anonymous_is_told_so_and_the_page_stays(client: Client, team: Team) -> None:
    response = client.post(T + "general", {"name": "x"}, **HTMX)
    assert (response.status_code, response.content) == (401, b"")
    assert "HX-Redirect" not in response
    assert Team.objects.get().name == "Acme"


def test_handing_over_and_deleting(client_for: ClientFor, alice: User, bob: User) -> None:
    client, heir = client_for(alice), client_for(bob)
    member = Membership.objects.get(user=bob)
    assert client.post(T + "transfer", {"member": member.pk}).status_code == 302
    assert client.post(T + "delete", {"confirm": "acme"}).status_code == 403
    assert heir.post(T + "delete", {"confirm": "Acme"}).status_code == 422
    assert Team.objects.exists()
    assert heir.post(T + "delete", {"confirm": "acme"})["Location"] == "/"
    assert not Team.objects.exists()


def test_a_removed_member_is_out_at_once(client_for: ClientFor, alice: User, bob: User) -> None:
    client = client_for(bob)
    assert client.get("/t/acme/").status_code == 200
    member = Membership.objects.get(user=bob)
    client_for(alice).post(f"{T}members/{member.pk}/remove")
    assert client.get("/t/acme/").status_code == 404


def test_a_role_is_changed_on_the_page(client_for: ClientFor, alice: User, bob: User) -> None:
    member = Membership.objects.get(user=bob)
    response = client_for(alice).post(f"{T}members/{member.pk}/role", {"role": "admin"})
    assert response.status_code == 302
    member.refresh_from_db()
    assert member.role == Role.ADMIN
    assert AuditEntry.objects.latest("id").ip == "127.0.0.1"


def test_viewers_see_members_but_no_controls(
    client_for: ClientFor, vera: User, bob: User, team: Team
) -> None:
    page = client_for(vera).get(T + "members").content.decode()
    assert bob.email in page
    assert "/invites" not in page
    assert "/remove" not in page
    assert "<select" not in page


def test_names_are_escaped(client_for: ClientFor, alice: User, team: Team) -> None:
    hostile = '<img src=x onerror="alert(1)">'
    user = make_user("evil@example.com", name=hostile)
    Membership.objects.create(team=team, user=user, role="member")
    make_token(user, team, name=hostile)
    client = client_for(alice)
    client.post(T + "general", {"name": hostile, "slug": "acme"})
    for path in (T + "members", T + "audit", T + "general", "/me/tokens"):
        page = client.get(path).content.decode()
        assert "<img src=x" not in page
    assert "<img src=x" not in client_for(user).get("/me/tokens").content.decode()


def test_the_password_changes_with_the_present_one(client_for: ClientFor, alice: User) -> None:
    client, other = client_for(alice), client_for(alice)
    new = "another-long-phrase"
    wrong = client.post("/me/password", {"current": "wrong", "password": new})
    assert wrong.status_code == 422
    weak = client.post("/me/password", {"current": PASSWORD, "password": "short"})
    assert weak.status_code == 422
    assert "short" not in re.findall(r'value="([^"]*)"', weak.content.decode())
    done = client.post("/me/password", {"current": PASSWORD, "password": new})
    assert done.status_code == 302
    assert client.get("/me/profile").status_code == 200
    assert other.get("/me/profile").status_code == 302
    assert User.objects.get().check_password(new)


def test_tastes_show_on_the_next_page(client_for: ClientFor, alice: User) -> None:
    client = client_for(alice)
    assert 'data-theme=""' in client.get("/me/appearance").content.decode()
    client.post("/me/appearance", {"theme": "dark"})
    page = client.get("/me/appearance").content.decode()
    assert 'data-theme="dark"' in page
    assert client.post("/me/appearance", {"theme": "pink"}).status_code == 422


def test_the_name_changes(client_for: ClientFor, alice: User) -> None:
    client_for(alice).post("/me/profile", {"name": "Alice B."})
    assert User.objects.get().name == "Alice B."


def test_the_audit_page_goes_back_page_by_page(
    client_for: ClientFor, alice: User, team: Team
) -> None:
    for number in range(60):
        make_token(alice, team, name=f"token-{number:02}")
    client = client_for(alice)
    first = client.get(T + "audit").content.decode()
    assert "token-59" in first
    assert "token-05" not in first
    older = re.search(r'href="([^"]*\?before=\d+)"', first)
    assert older is not None
    second = client.get(older[1]).content.decode()
    assert "token-05" in second
    assert "team.created" in second
    assert "token-59" not in second
    for odd in ("x", "-1", "9" * 40, "\u0661"):
        assert client.get(T + "audit", {"before": odd}).status_code == 200


@pytest.mark.parametrize(("name", "shown"), [("vera", 0), ("bob", 0), ("adam", 1), ("alice", 1)])
def test_the_audit_trail_is_offered_to_who_may_read_it(
    name: str, shown: int, team: Team, client_for: ClientFor, request: pytest.FixtureRequest
) -> None:
    client = client_for(request.getfixturevalue(name))
    page = client.get("/t/acme/settings/members")
    assert page.status_code == 200
    assert page.content.decode().count('href="/t/acme/settings/audit"') == shown


def test_the_audit_names_what_an_entry_is_about(
    team: Team, alice: User, bob: User, client_for: ClientFor
) -> None:
    record(AuditAction.SERVICE_UPDATED, actor=alice, team=team, target=bob)
    record(AuditAction.CONFIG_CHANGED, actor=alice, team=team, target=team)
    page = client_for(alice).get("/t/acme/settings/audit").content.decode()
    assert f"changed the service account {bob.email}." in re.sub("</?a[^>]*>", "", page)
    assert 'the settings of <a href="/t/acme/settings/general">Acme</a>.' in page


def test_failures_are_told_with_the_ends_until_they_are_chosen(alice: User) -> None:
    assert User(preferences={"notify_ends": True}).notified_kinds == "ends fails"
    assert User(preferences={"notify_ends": True, "notify_fails": False}).notified_kinds == "ends"


def test_the_profile_names_teams_with_roles(client_for: ClientFor, bob: User, vera: User) -> None:
    page = client_for(bob).get("/me/profile").content.decode()
    assert 'href="/t/acme/">Acme</a>' in page
    assert "Member</a>" in page
    assert "e-mail and password" in page
    bob.memberships.all().delete()
    assert (
        "You are not a member of a team yet." in client_for(bob).get("/me/profile").content.decode()
    )
