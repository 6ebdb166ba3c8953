from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from sessions.jobs.erasure import run_erasure
from sessions.models import Project
from teams.audit import AuditAction
from teams.models import AuditEntry, Erasure, Role, Scope, Team, User
from tests.factories import add_member, make_team, make_user
from tests.sessions.api.conftest import Connect

pytestmark = pytest.mark.django_db(transaction=True)
JSON = "application/json"


def audited() -> set[tuple[str, str]]:
    """Who has asked for which erasure, by the server's own log."""
    entries = AuditEntry.objects.filter(action=AuditAction.ERASURE_REQUESTED, team=None)
    return set(entries.values_list("actor_email", "target_id"))


def test_owners_erase_a_project_or_the_team_and_read_the_report(
    alice: User, adam: User, bob: User, team: Team, project: Project, connect: Connect,
    tmp_path: Path, settings: Settings,
) -> None:  # fmt: skip
    settings.DATA_DIR = tmp_path / "data"
    owner, body = connect(alice), {"project": project.pk, "confirm": "x"}
    assert owner.post("/erasure", body, JSON).status_code == 400
    body["confirm"] = project.name
    for other in (connect(adam), connect(alice, Scope.WRITE)):
        assert other.post("/erasure", body, JSON).status_code == 403
    made = owner.post("/erasure", body, JSON).json()
    assert (made["state"], made["subject"], made["report"]) == ("waiting", project.pk, [])
    assert owner.post("/erasure", body, JSON).status_code == 409
    run_erasure(made["id"])
    read = owner.get(f"/erasure/{made['id']}").json()
    assert (read["state"], read["requestedBy"]) == ("done", alice.email)
    assert any("brought by the team" in sentence for sentence in read["report"])
    assert owner.get("/erasure").json() == [read]
    # Neither an admin nor a token for another team of the owner.
    elsewhere = connect(alice, of=make_team(alice, name="Globex", slug="globex"))
    for other in (connect(adam), elsewhere):
        assert other.get("/erasure").json() == []
        assert other.get(f"/erasure/{made['id']}").status_code == 404
    whole = owner.post("/erasure", {"confirm": "ACME"}, JSON).json()
    assert (whole["kind"], whole["subject"]) == ("team", team.pk)
    assert audited() == {(alice.email, made["id"]), (alice.email, whole["id"])}


def test_operators_erase_people_and_teams_with_their_sign_in(
    alice: User, bob: User, team: Team, connect: Connect
) -> None:
    root = make_user("root@example.com", operator=True)
    add_member(team, root, Role.MEMBER)
    body = {"kind": "person", "what": bob.email, "confirm": bob.email}
    assert connect(root).post("/instance/erasures", body, JSON).status_code == 403
    browser = Client()
    browser.force_login(root)
    for wrong in ({"confirm": alice.email}, {"kind": "team"}, {"what": "nobody@example.com"}):
        assert browser.post("/instance/erasures", {**body, **wrong}, JSON).status_code == 400
    made = browser.post("/instance/erasures", body, JSON).json()
    assert made["subject"] == str(bob.pk)
    of_team = {"kind": "team", "what": "acme", "confirm": "acme"}
    whole = browser.post("/instance/erasures", of_team, JSON).json()
    assert [one["id"] for one in browser.get("/erasure").json()] == [whole["id"], made["id"]]
    assert browser.get(f"/erasure/{made['id']}").json() == made
    assert audited() == {(root.email, made["id"]), (root.email, whole["id"])}
    assert Erasure.objects.count() == 2
