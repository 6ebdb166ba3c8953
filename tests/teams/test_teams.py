from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import Settings

from opencode_web.lib.errors import Conflict, Forbidden, Invalid
from teams.actions.teams import create_team, delete_team, rename_team, transfer_team
from teams.models import AuditEntry, Membership, Role, Team, User
from tests.factories import make_invite, make_team, make_token, make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Acme", "acme"),
        ("  Big   Company ", "big-company"),
        ("snake_case__name", "snake-case-name"),
        ("日本", "team"),
        ("<script>", "script"),
        ("x" * 80, "x" * 32),
    ],
)
def test_a_slug_is_made_from_the_name(name: str, slug: str, charlie: User) -> None:
    team = make_team(charlie, name=name)
    assert team.slug == slug
    assert team.name == " ".join(name.split())
    assert team.id.startswith("team_")
    assert Membership.objects.get(team=team).role == Role.OWNER


def test_a_second_team_of_a_name_gets_another_slug(alice: User, team: Team) -> None:
    other = make_team(alice, name="Acme")
    assert other.slug.startswith("acme-")
    assert AuditEntry.objects.filter(action="team.created").count() == 2


@pytest.mark.parametrize("name", ["", "   ", "x" * 81])
def test_it_rejects_an_unusable_name(name: str, alice: User) -> None:
    with pytest.raises(Invalid):
        make_team(alice, name=name)


def test_only_operators_create_teams(alice: User, team: Team, client: Client) -> None:
    make_user("root@example.com", name="Root", operator=True)
    with pytest.raises(Forbidden):
        create_team(alice, name="Mine")
    client.force_login(alice)
    page = client.get("/teams/new").content.decode()
    assert '<form class="form"' not in page
    assert "Only operators of this server can create teams" in page
    assert "Root" in page
    assert 'href="/teams/new"' not in client.get("/me/profile").content.decode()
    assert client.post("/teams/new", {"name": "Mine"}).status_code == 422
    assert list(Team.objects.all()) == [team]


def test_an_operator_creates_teams(client: Client) -> None:
    root = make_user("root@example.com", operator=True)
    client.force_login(root)
    assert 'href="/teams/new"' in client.get("/me/profile").content.decode()
    assert client.post("/teams/new", {"name": "Ours"})["Location"] == "/t/ours/"
    assert 'href="/teams/new"' in client.get("/t/ours/settings/general").content.decode()


def test_a_deactivated_operator_creates_no_team(db: None) -> None:
    with pytest.raises(Forbidden):
        create_team(make_user("root@example.com", operator=True, active=False), name="Ours")


def test_everyone_creates_teams_where_the_policy_says_so(alice: User, settings: Settings) -> None:
    settings.TEAM_CREATION = "everyone"
    assert create_team(alice, name="Mine").slug == "mine"


@pytest.mark.parametrize(
    "slug", ["", "A", "a b", "a_b", "a--b", "-a", "a-", "a/b", "../x", "x" * 41, "a\n"]
)
def test_it_rejects_an_unusable_slug(slug: str, alice: User, team: Team) -> None:
    with pytest.raises(Invalid):
        rename_team(team, actor=alice, name="Acme", slug=slug)


def test_renaming_keeps_the_id_and_tells_both(alice: User, team: Team) -> None:
    before = team.id
    rename_team(team, actor=alice, name="Acme Two", slug="acme-two", ip="192.0.2.7")
    stored = Team.objects.get(slug="acme-two")
    assert (stored.id, stored.name) == (before, "Acme Two")
    entry = AuditEntry.objects.latest("id")
    assert entry.told == {
        "before": {"name": "Acme", "slug": "acme"},
        "after": {"name": "Acme Two", "slug": "acme-two"},
    }
    assert entry.ip == "192.0.2.7"


def test_a_taken_slug_is_a_conflict(alice: User, charlie: User, team: Team) -> None:
    with pytest.raises(Conflict):
        rename_team(team, actor=alice, name="Acme", slug="globex")


def test_ownership_moves(alice: User, bob: User, team: Team) -> None:
    transfer_team(team, actor=alice, to=Membership.objects.get(user=bob))
    roles = dict(team.memberships.values_list("user__email", "role"))
    assert roles == {alice.email: "admin", bob.email: "owner"}


def test_ownership_stays_in_the_team(alice: User, charlie: User, team: Team) -> None:
    for membership in (charlie.memberships.get(), alice.memberships.get()):
        with pytest.raises(Invalid):
            transfer_team(team, actor=alice, to=membership)
    assert alice.memberships.get().role == Role.OWNER


def test_deleting_needs_the_slug_and_leaves_the_audit_trail(alice: User, team: Team) -> None:
    make_token(alice, team)
    make_invite(alice, team)
    team_id = team.id
    with pytest.raises(Invalid):
        delete_team(team, actor=alice, confirm="Acme")
    delete_team(team, actor=alice, confirm=" acme ")
    assert not Team.objects.exists()
    assert not alice.api_tokens.exists()
    trail = AuditEntry.objects.filter(team_id=team_id).order_by("id")
    assert [entry.action for entry in trail] == [
        "team.created",
        "token.created",
        "invite.created",
        "team.deleted",
    ]
