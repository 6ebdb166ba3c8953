"""A comment on a forge, from the delivery to the comment that answers it."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from sessions.actions.privacy import set_private
from sessions.actions.sessions import update_session
from sessions.integrations.accounts import make_code
from sessions.integrations.handle import BACKOFF_S
from sessions.models import (
    InboundDelivery,
    Integration,
    LinkedAccount,
    Message,
    OutsideReply,
    Part,
    PermissionRequest,
    Session,
)
from teams.access import access_team
from teams.actions.announcements import Draft, end_announcement, post_announcement
from teams.actions.services import create_service
from teams.models import AuditEntry, Membership, Role, User
from tests.factories import make_user
from tests.sessions.factories import script, session_access
from tests.sessions.integrations.conftest import Forge, link_account, newest, reach, run
from tests.sessions.integrations.outside import SAYS
from tests.web_server import answer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


def test_a_comment_starts_a_session_whose_answer_is_a_comment(outside: Forge, bob: User) -> None:
    link_account(outside, bob)
    delivery = outside.say(f"/oc {SAYS}")
    assert (delivery.state, delivery.problem, delivery.heard) == ("handled", "", {})
    session = Session.objects.get()
    assert (session.owner, session.title) == (bob, "#7 The till is wrong")
    [shown] = outside.answers
    assert "Waiting for its turn" in shown
    assert f"https://agents.example.com/t/acme/s/{session.pk}" in shown

    run(session)
    outside.write()
    [shown] = outside.answers
    assert shown.startswith("Tax is added in `till.py` **and** `bill.py`.")
    assert {one.state for one in OutsideReply.objects.all()} == {"done"}
    # The agent has read what the thread is about, as a stranger's words.
    parts = Part.objects.filter(message__role="user").order_by("seq", "pk")
    about = [one.data["text"] for one in parts if one.data.get("synthetic")]
    assert "<thread_text>\nIt adds tax twice.\n</thread_text>" in about[0]
    assert "may be a stranger" in about[0]

    outside.say(f"/oc {script([{'text': 'Only once now.'}])}")
    assert Session.objects.count() == 1
    run(session)
    outside.write()
    assert [one.partition("\n")[0] for one in outside.answers] == [
        "Tax is added in `till.py` **and** `bill.py`.",
        "Only once now.",
    ]


def test_nothing_is_done_twice_whatever_comes_again(outside: Forge, bob: User) -> None:
    link_account(outside, bob)
    sent = outside.payload(f"/oc {SAYS}")
    first = outside.send(sent).json()
    # Under another id, as whoever replays it would send it, and the forge would not.
    again = outside.send(sent, **{"X-GitHub-Delivery": "other", "X-Gitlab-Event-UUID": "other"})
    assert again.json()["delivery"] == first["delivery"]
    outside.work()
    assert outside.send(sent).json()["state"] == "handled"
    outside.work()
    assert Session.objects.count() == Message.objects.filter(role="user").count() + 1 == 1
    assert len(outside.answers) == 1


def test_a_comment_whose_answer_is_lost_is_not_written_twice(outside: Forge, bob: User) -> None:
    link_account(outside, bob)
    outside.server.loses_answers = True
    outside.say(f"/oc {SAYS}")
    reply = OutsideReply.objects.get(kind="comment")
    assert reply.state == "pending"
    assert "could not be reached" in reply.problem
    outside.server.loses_answers = False
    outside.write()
    assert len(outside.answers) == 1
    reply.refresh_from_db()
    assert (reply.state, reply.problem) == ("shown", "")


@pytest.mark.parametrize("outside", ["github"], indirect=True)
def test_a_forge_that_wants_to_be_left_alone_is(outside: Forge, bob: User) -> None:
    link_account(outside, bob)
    busy = answer(b"{}", status=429, retry_after="600")
    outside.server.then += [busy, busy]
    outside.say(f"/oc {SAYS}")
    for one in OutsideReply.objects.all():
        assert (one.next_at - one.created_at).total_seconds() > 590
    assert outside.answers == []
    outside.write()
    assert len(outside.answers) == 1


def test_only_what_is_signed_is_taken(outside: Forge, bob: User) -> None:
    link_account(outside, bob)
    sent = outside.payload(f"/oc {SAYS}")
    for wrong in ("", "sha256=", "x" * 64, "ä"):
        headers = {
            "X-Hub-Signature-256": wrong,
            "X-Gitlab-Token": wrong,
            "X-Gitea-Signature": wrong,
        }
        assert outside.send(sent, **headers).status_code == 401
    assert not InboundDelivery.objects.exists()
    assert Integration.objects.get().refused == 4
    page = outside.client
    page.force_login(bob)
    shown = page.get(f"/t/acme/p/{outside.project.pk}/integration").content.decode()
    assert "whose signature is wrong" in shown
    outside.send(sent)
    assert Integration.objects.get().refused == 0
    assert (
        outside.client.post("/integrations/igr_none", b"{}", "application/json").status_code == 404
    )
    assert outside.client.get(outside.address).status_code == 405


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"action": "created"}', b"\xff", b'{"action": NaN}']
)
@pytest.mark.parametrize("outside", ["github"], indirect=True)
def test_what_is_no_delivery_is_refused(outside: Forge, body: bytes) -> None:
    digest = hmac.new(outside.secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {"X-GitHub-Event": "issue_comment", "X-Hub-Signature-256": f"sha256={digest}"}
    got = outside.client.post(outside.address, body, "application/json", headers=headers)
    assert got.status_code == 400 or got.json()["state"] == "ignored"
    assert not InboundDelivery.objects.filter(state="waiting").exists()


def test_what_is_not_for_the_agent_is_left_alone(outside: Forge, bob: User) -> None:
    link_account(outside, bob)
    ignored = ["Nice.", "Try /oc fix", "> /oc fix", "/ocean fix", "please\n/oc fix"]
    for text in ignored:
        assert outside.say(text).state == "ignored"
    other = outside.payload("/oc fix")
    for key in ("repository", "project"):
        if key in other:
            other[key] = dict.fromkeys(other[key], "evil/till")
    assert outside.send(other).json()["state"] == "ignored"
    edited = outside.payload("/oc fix", action="update")
    edited["action"] = "edited"
    assert outside.send(edited).json()["state"] == "ignored"
    assert not Session.objects.exists()
    assert outside.answers == []
    # What people say to each other is not kept.
    assert all(one == {} for one in InboundDelivery.objects.values_list("heard", flat=True))


def test_who_is_not_linked_reads_how_to_link_and_does(outside: Forge, bob: User) -> None:
    outside.say(f"/oc {SAYS}")
    assert not Session.objects.exists()
    [said] = outside.answers
    assert "@person42, your account is not linked" in said
    code = make_code(reach(bob, outside.project).team)
    assert "unknown, was used before" in newest(outside, "/oc link AAAABBBBCCCC")
    assert "confirm there" in newest(outside, f"/oc link {code.lower()}")
    # Somebody else could have been quicker: it counts once bob says that it is his.
    outside.say(f"/oc {SAYS}")
    assert not Session.objects.exists()
    linked = LinkedAccount.objects.get()
    outside.client.force_login(bob)
    url = f"/t/acme/p/{outside.project.pk}/integration"
    assert "person42 on" in outside.client.get(url).content.decode()
    assert outside.client.post(f"{url}/link/{linked.pk}", {"confirm": "1"}).status_code == 302
    linked.refresh_from_db()
    assert (linked.user, linked.outside_id, linked.code_digest) == (bob, "42", "")
    assert linked.linked_at
    assert AuditEntry.objects.filter(action="account.linked", actor=bob).count() == 1
    # A code that others could read in the thread is good for nothing any more.
    assert "unknown, was used before" in newest(outside, f"/oc link {code}", by=66)
    outside.say(f"/oc {SAYS}")
    assert Session.objects.get().owner == bob
    # Nobody is believed by name.
    outside.say(f"/oc {SAYS}", by=66, number=8)
    assert Session.objects.count() == 1


@pytest.mark.parametrize("outside", ["github"], indirect=True)
def test_a_service_account_answers_those_who_work_there_and_nobody_else(
    outside: Forge, alice: User
) -> None:
    team = access_team(alice, outside.project.team_id)
    service = create_service(team, name="Runner", role=Role.MEMBER)
    Integration.objects.update(account=service.user)
    for association in ("NONE", "CONTRIBUTOR", "FIRST_TIMER", "", "owner"):
        outside.say(f"/oc {SAYS}", author_association=association)
    assert not Session.objects.exists()
    outside.say(f"/oc {SAYS}", author_association="COLLABORATOR")
    assert Session.objects.get().owner == service.user


@pytest.mark.parametrize("outside", ["github"], indirect=True)
def test_rights_are_those_of_the_person_now(outside: Forge, bob: User, vera: User) -> None:
    link_account(outside, vera)
    assert "could not be started" in newest(outside, f"/oc {SAYS}")
    assert "viewer" in InboundDelivery.objects.get().problem
    link_account(outside, bob, 43)
    outside.say(f"/oc {SAYS}", by=43)
    session = Session.objects.get()
    Membership.objects.filter(user=bob).delete()
    outside.say(f"/oc {SAYS}", by=43)
    # The thread may be public, and says nothing of projects and people.
    assert outside.answers[-1].startswith("This could not be started.")
    assert session.inputs.count() == 1


@pytest.mark.parametrize("outside", ["github"], indirect=True)
def test_a_request_that_waits_for_a_person_is_told_and_then_goes_on(
    outside: Forge, bob: User
) -> None:
    link_account(outside, bob)
    call = {"tool": "bash", "input": {"command": "make test"}}
    outside.say(f"/oc {script([call], [{'text': 'Green.'}])}")
    session = Session.objects.get()
    run(session)
    assert PermissionRequest.objects.pending().count() == 1
    outside.write()
    [shown] = outside.answers
    assert "Waiting for somebody to answer in the session" in shown
    assert "make test" not in shown


@pytest.mark.parametrize("outside", ["github"], indirect=True)
def test_a_thread_whose_session_is_over_gets_a_new_one(outside: Forge, bob: User) -> None:
    link_account(outside, bob)
    outside.say(f"/oc {SAYS}")
    session = Session.objects.get()
    run(session)
    update_session(session_access(bob, session), archived_ms=1)
    outside.say(f"/oc {SAYS}")
    assert Session.objects.count() == 2
    other = Session.objects.exclude(pk=session.pk).get()
    set_private(session_access(bob, other), private=True)
    outside.say(f"/oc {SAYS}")
    assert Session.objects.count() == 3


def test_a_comment_waits_for_the_end_of_maintenance(outside: Forge, bob: User) -> None:
    link_account(outside, bob)
    root = make_user("root@example.com", operator=True)
    row = post_announcement(root, Draft("Back at noon", stops_prompts=True))
    delivery = outside.say(f"/oc {SAYS}")
    for _ in BACKOFF_S:
        outside.work()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.problem) == ("waiting", "Back at noon")
    end_announcement(root, row.pk)
    outside.work()
    delivery.refresh_from_db()
    assert delivery.state == "handled"
