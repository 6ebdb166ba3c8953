from __future__ import annotations

import pytest
from django.test import Client

from sessions.models import Project
from teams.models import AuditEntry, Invite, Membership, Role, Scope, User
from tests.sessions.api.conftest import Connect

pytestmark = pytest.mark.django_db
JSON = "application/json"


def test_members_are_read_changed_and_removed(
    alice: User, adam: User, bob: User, vera: User, project: Project, connect: Connect
) -> None:
    admin = connect(adam)
    rows = admin.get("/member").json()
    assert [(one["email"], one["role"], one["active"]) for one in rows] == [
        ("alice@example.com", "owner", True),
        ("adam@example.com", "admin", True),
        ("bob@example.com", "member", True),
        ("vera@example.com", "viewer", True),
    ]
    number = {one["email"].partition("@")[0]: one["id"] for one in rows}
    changed = admin.patch(f"/member/{number['vera']}", {"role": "member", "approver": True}, JSON)
    assert (changed.json()["role"], changed.json()["approver"]) == ("member", True)
    # Both or neither.
    wrong = {"role": "viewer", "approver": True}
    assert admin.patch(f"/member/{number['bob']}", wrong, JSON).status_code == 400
    assert Membership.objects.get(user=bob).role == Role.MEMBER
    for method, who, body, code in (
        ("patch", "alice", {"role": "member"}, 403),
        ("patch", "bob", {"role": "owner"}, 403),
        ("patch", "bob", {"role": "king"}, 400),
        ("delete", "alice", None, 403),
    ):
        answer = getattr(admin, method)(f"/member/{number[who]}", *([body, JSON] if body else ()))
        assert answer.status_code == code, (method, who, body)
    assert admin.delete(f"/member/{number['bob']}").json() is True
    assert not Membership.objects.filter(user=bob).exists()
    assert admin.delete("/member/99999999999999999999999").status_code == 404
    assert connect(alice).delete(f"/member/{number['alice']}").status_code == 409
    assert AuditEntry.objects.get(action="member.removed").actor == adam
    reader = connect(adam, Scope.READ)
    assert reader.get("/member").status_code == 200
    assert reader.delete(f"/member/{number['vera']}").status_code == 403


def test_an_invitation_is_made_accepted_and_revoked(
    adam: User, charlie: User, project: Project, connect: Connect
) -> None:
    admin = connect(adam)
    answer = admin.post("/invitation", {"role": "viewer", "days": 3}, JSON)
    assert answer["Cache-Control"] == "no-store"
    made = answer.json()
    secret = made["url"].rpartition("/")[2]
    shown = admin.get("/invitation")
    assert secret not in shown.content.decode()
    assert shown.json() == [{key: made[key] for key in ("id", "role", "email", "expires")}]
    browser = Client()
    browser.force_login(charlie)
    assert browser.post(f"/invite/{secret}").status_code == 302
    assert Membership.objects.get(user=charlie, team=project.team).role == Role.VIEWER
    assert admin.delete(f"/invitation/{made['id']}").status_code == 409
    other = admin.post("/invitation", {"email": "Eve@example.com"}, JSON).json()
    assert admin.delete(f"/invitation/{other['id']}").json() is True
    assert Invite.objects.open().count() == 0
    for body in ({"role": "owner"}, {"days": 31}, {"days": 0}, {"email": "no address"}):
        assert admin.post("/invitation", body, JSON).status_code in (400, 403), body
    assert admin.delete("/invitation/none").status_code == 404
