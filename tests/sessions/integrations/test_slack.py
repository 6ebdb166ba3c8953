"""A mention in Slack, from what Slack sends to the message that answers it."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from sessions.actions.privacy import set_private
from sessions.integrations.slack.blocks import text_blocks
from sessions.models import (
    Conversation,
    InboundDelivery,
    Integration,
    LinkedAccount,
    Message,
    OutsideReply,
    Part,
    Session,
)
from teams.models import Membership, Team, User
from tests.sessions.factories import make_project, script, session_access
from tests.sessions.integrations.outside import SAYS
from tests.sessions.integrations.slack_server import BOT_USER
from tests.sessions.integrations.slack_workspace import Workspace, buttons, shown

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


def test_fr_01_a_mention_starts_a_session_whose_answer_is_edited(
    chat: Workspace, bob: User
) -> None:
    chat.link(bob, "U0BOB")
    ts = chat.say(SAYS)
    session = Session.objects.get()
    assert (session.owner, session.project) == (bob, chat.project)
    [answer] = chat.answers
    assert answer["thread_ts"] == ts
    assert "Waiting for its turn" in shown(answer)
    assert f"https://agents.example.com/t/acme/s/{session.pk}|Open the session" in shown(answer)

    chat.run()
    [answer] = chat.answers
    assert answer["edited"]
    assert shown(answer).startswith("Tax is added in `till.py` *and* `bill.py`.")
    assert OutsideReply.objects.get().state == "done"
    delivery = InboundDelivery.objects.get()
    assert (delivery.state, delivery.problem, delivery.heard) == ("handled", "", {})

    chat.say(script([{"text": "Only once now."}]), thread=ts)
    chat.run()
    assert Session.objects.count() == 1
    assert shown(chat.answers[-1]).startswith("Only once now.")
    # Another thread has another session.
    chat.say(SAYS)
    assert Session.objects.count() == 2


def test_fr_02_a_direct_message_is_about_the_project_for_those(chat: Workspace, bob: User) -> None:
    chat.link(bob, "U0BOB")
    chat.say(SAYS, channel="D0BOB")
    chat.run()
    [answer] = chat.answers
    assert (answer["channel"], shown(answer)[:12]) == ("D0BOB", "Tax is added")


def test_nothing_is_done_twice_whatever_comes_again(chat: Workspace, bob: User) -> None:
    chat.link(bob, "U0BOB")
    sent = chat.message(SAYS)
    assert chat.send(sent).status_code == 200
    retried = {"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"}
    assert chat.send(sent, **retried).status_code == 200
    # The same message as another event.
    assert chat.send({**sent, "event_id": "Ev99999999"}).status_code == 200
    chat.work()
    assert chat.send(sent).status_code == 200
    chat.work()
    assert (Session.objects.count(), len(chat.answers)) == (1, 1)


def test_only_what_slack_has_signed_within_five_minutes_is_taken(
    chat: Workspace, bob: User
) -> None:
    chat.link(bob, "U0BOB")
    sent = chat.message(SAYS)
    for wrong in ("", "v0=", f"v0={'0' * 64}", "ä"):
        assert chat.send(sent, **{"X-Slack-Signature": wrong}).status_code == 401
    for old in ("1700000000", "-5", "soon", "9" * 12):
        assert chat.send(sent, sent_at=old).status_code == 401
    assert Integration.objects.get().refused == 8
    assert not InboundDelivery.objects.exists()
    assert chat.client.get(f"/integrations/slack/{chat.row.pk}").status_code == 405
    assert chat.client.post("/integrations/slack/igr_0", b"", "text/plain").status_code == 404
    # Slack's row is no forge's.
    assert chat.client.post(f"/integrations/{chat.row.pk}", b"", "text/plain").status_code == 404
    chat.send(sent)
    assert Integration.objects.get().refused == 0


def test_slack_may_test_the_address(chat: Workspace) -> None:
    asked = {"type": "url_verification", "challenge": "3eZbrw1aB"}
    assert chat.send(asked).json() == {"challenge": "3eZbrw1aB"}


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"a": NaN}', b"\xff", b'{"type": "event_callback"}']
)
def test_what_is_no_delivery_starts_nothing(chat: Workspace, body: bytes) -> None:
    assert chat.post(body, "application/json").status_code in (200, 400, 401)
    assert chat.post(body, "application/x-www-form-urlencoded").status_code in (200, 400, 401)
    assert not InboundDelivery.objects.exists()


def test_what_programs_write_and_what_is_edited_is_left_alone(chat: Workspace, bob: User) -> None:
    chat.link(bob, "U0BOB")
    for more in ({"bot_id": "B1"}, {"user": BOT_USER}, {"subtype": "message_changed"}):
        chat.send(chat.message(SAYS, **more))
    assert not InboundDelivery.objects.exists()


def test_nfr_02_who_is_not_linked_is_told_how_and_nothing_runs(chat: Workspace, bob: User) -> None:
    chat.say(SAYS, by="U0EVE")
    assert not Session.objects.exists()
    assert chat.server.ephemeral[-1]["user"] == "U0EVE"
    assert "/t/acme/settings/slack|Link my account" in chat.told
    # From another workspace, in a shared channel: the same id is somebody else.
    chat.link(bob, "U0BOB")
    chat.say(SAYS, of="T0OTHER")
    assert "another Slack workspace" in chat.told
    chat.command("/opencode-sessions", by="U0EVE")
    assert "not linked" in chat.told
    assert not Session.objects.exists()
    assert chat.answers == []


def test_a_code_links_an_account_once_its_person_has_confirmed_it(
    chat: Workspace, bob: User, charlie: User
) -> None:
    page = Client()
    page.force_login(bob)
    text = page.post("/t/acme/settings/slack/link").content.decode()
    code = re.search(r"/opencode link ([A-Z0-9]{12})", text)
    assert code
    chat.command("/opencode", f"link {code[1]}", by="U0BOB")
    assert "confirm that this is you" in chat.told
    chat.say(SAYS)
    assert not Session.objects.exists()

    text = page.get("/t/acme/settings/slack").content.decode()
    assert "Bob (U0BOB) on T0ACME.slack.com has sent your code" in text
    row = LinkedAccount.objects.get()
    stranger = Client()
    stranger.force_login(charlie)
    link, sure = f"/t/acme/settings/slack/link/{row.pk}", {"confirm": "1"}
    assert stranger.post(link, sure).status_code == 404
    assert page.post(link, sure).status_code == 302
    chat.say(SAYS)
    assert Session.objects.get().owner == bob

    chat.command("/opencode", f"link {code[1]}", by="U0EVE")
    assert "unknown, was used before" in chat.told


def test_a_channel_that_is_not_allowed_is_told_so_and_nothing_else(
    chat: Workspace, bob: User
) -> None:
    chat.link(bob, "U0BOB")
    chat.say(SAYS, channel="C0OTHER")
    assert "cannot be talked to here" in chat.told
    chat.command("/opencode-sessions", channel="C0OTHER")
    assert "cannot be talked to here" in chat.told
    assert not Session.objects.exists()


def test_an_answer_is_not_shown_once_its_channel_is_closed(chat: Workspace, bob: User) -> None:
    chat.link(bob, "U0BOB")
    chat.say(SAYS)
    chat.row.channels.filter(channel="C0TILL").delete()
    chat.run()
    [answer] = chat.answers
    assert "not shown here any more" in shown(answer)
    assert "Tax" not in shown(answer)


def test_a_private_session_is_never_continued_in_a_channel(chat: Workspace, bob: User) -> None:
    chat.link(bob, "U0BOB")
    ts = chat.say(SAYS)
    chat.run()
    first = Session.objects.get()
    set_private(session_access(bob, first), private=True)
    chat.say(script([{"text": "Anew."}]), thread=ts)
    assert Session.objects.count() == 2
    assert Conversation.objects.get().session != first
    chat.command("/opencode-sessions")
    stays = [one for one in buttons(chat.server.responses[-1]).values() if one["value"] == first.pk]
    assert stays == []


def test_the_rights_of_the_person_decide(chat: Workspace, bob: User) -> None:
    chat.link(bob, "U0BOB")
    Membership.objects.filter(team=chat.team, user=bob).update(role="viewer")
    chat.say(SAYS)
    assert "requires the role" in chat.told
    Membership.objects.filter(team=chat.team, user=bob).delete()
    chat.say(SAYS)
    assert not Session.objects.exists()


HOSTILE = "<!channel> <@U0EVE> [click](https://evil.test/x) <https://evil.test|bank> & more\n"


def test_an_answer_mentions_nobody_and_hides_no_address(chat: Workspace, bob: User) -> None:
    chat.link(bob, "U0BOB")
    chat.say(script([{"text": HOSTILE + "```\n" + "x" * 2600 + "\n```\n" + "<&>" * 250}]))
    chat.run()
    [answer] = chat.answers
    sections = [one["text"] for one in answer["blocks"] if one["type"] == "section"]
    assert len(sections) > 1
    assert all(one["verbatim"] for one in sections)
    assert set(re.findall(r"<[^>]*>", shown(answer))) == {
        f"<https://agents.example.com/t/acme/s/{Session.objects.get().pk}|Open the session>"
    }
    assert "click (https://evil.test/x)" in shown(answer)
    assert "<" not in answer["text"]


@pytest.mark.parametrize(
    "text", ["x" * 90_000, "<&>" * 9_000, "```\n" + "a & b\n" * 9_000, "a\n" * 9]
)
def test_a_long_answer_is_cut_into_pieces_within_slacks_limits(text: str) -> None:
    blocks = text_blocks(text, most=49)
    pieces = [one["text"]["text"] for one in blocks]  # type: ignore[index,call-overload]
    assert len(blocks) <= 49
    assert all(0 < len(piece) <= 3000 for piece in pieces)
    assert sum(map(len, pieces)) <= 40_000
    # Code goes on as code in the next piece, and no escaped character is cut in two.
    assert all(piece.count("```") % 2 == 0 for piece in pieces)
    assert all(re.fullmatch(r"(?:[^&]|&(?:amp|lt|gt);)*", piece) for piece in pieces)
    assert ("The rest is in the session" in pieces[-1]) == (len(text) > 100)


def test_nfr_01_slack_that_wants_to_be_left_alone_is(chat: Workspace, bob: User) -> None:
    chat.link(bob, "U0BOB")
    chat.server.limits = [30]
    chat.say(SAYS)
    reply = OutsideReply.objects.get()
    assert (reply.state, reply.attempts, chat.answers) == ("pending", 0, [])
    assert (reply.next_at - reply.created_at).total_seconds() > 29
    # Whatever is due, nothing is sent meanwhile.
    chat.write()
    assert chat.answers == []
    chat.restart()
    chat.write()
    assert len(chat.answers) == 1


def test_an_edit_that_comes_too_soon_is_made_later(chat: Workspace, bob: User) -> None:
    chat.link(bob, "U0BOB")
    chat.say(SAYS)
    chat.server.edited_at = dict.fromkeys([chat.answers[0]["ts"]], chat.server.now_s + 5)
    chat.run()
    assert "Tax is added" not in shown(chat.answers[0])
    chat.server.now_s += 10
    chat.restart()
    chat.write()
    assert "Tax is added" in shown(chat.answers[0])


def test_a_message_whose_answer_is_lost_is_not_written_twice(chat: Workspace, bob: User) -> None:
    chat.link(bob, "U0BOB")
    chat.server.loses_answer = True
    chat.say(SAYS)
    chat.restart()
    chat.write()
    assert len(chat.answers) == 1
    chat.run()
    assert len(chat.answers) == 1
    assert "Tax is added" in shown(chat.answers[0])


def test_a_message_that_somebody_has_deleted_is_written_anew(chat: Workspace, bob: User) -> None:
    chat.link(bob, "U0BOB")
    chat.say(SAYS)
    chat.server.messages.remove(chat.answers[0])
    chat.run()
    assert "Tax is added" in shown(chat.answers[0])


def test_files_go_to_the_agent_within_limits(chat: Workspace, bob: User) -> None:
    chat.link(bob, "U0BOB")
    chat.server.files["a.txt"] = ("text/plain", b"total: 7")
    here = {"mimetype": "text/plain", "url_private_download": f"{chat.server.base}/files/a.txt"}
    sent = [
        {**here, "name": "a.txt", "size": 8},
        {**here, "name": "huge.bin", "size": 10**9},
        {**here, "name": "away.txt", "size": 8, "url_private_download": "https://evil.test/x"},
    ]
    chat.say(SAYS, files=sent, subtype="file_share", channel="D0BOB")
    assert "huge.bin is too large. away.txt could not be read." in shown(chat.answers[-1])
    chat.run()
    texts = [str(one.data) for one in Part.objects.filter(message__role="user")]
    assert any("total: 7" in text for text in texts) or any("a.txt" in text for text in texts)
    assert Message.objects.filter(role="user").count() == 1


def test_another_teams_project_is_never_reached(
    chat: Workspace, bob: User, tmp_path_factory: pytest.TempPathFactory
) -> None:
    chat.link(bob, "U0BOB")
    other = Team.objects.create(name="Other", slug="other")
    project = make_project(other, tmp_path_factory.mktemp("other") / "secret")
    chat.row.channels.filter(channel="C0TILL").update(project=project)
    chat.say(SAYS)
    assert "not found" in chat.told.lower()
    chat.command("/opencode-sessions")
    assert "not found" in chat.told.lower()
    assert not Session.objects.exists()
