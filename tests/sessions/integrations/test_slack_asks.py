"""What agents ask, answered in Slack; and sessions listed, taken up and stopped there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from sessions.actions.permissions import reply_permission
from sessions.actions.privacy import set_private
from sessions.models import PermissionRequest, QuestionRequest, Run, Session
from teams.models import Membership, Role, User
from tests.factories import add_member
from tests.sessions.factories import make_session, script, session_access
from tests.sessions.integrations.outside import SAYS
from tests.sessions.integrations.slack_workspace import Workspace, buttons, shown

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]

TOUCH = script(
    [
        {"text": "I make it."},
        {"tool": "bash", "input": {"command": "touch made", "description": "Make it"}},
    ],
    [{"text": "It is made."}],
)
ASKED = {
    "question": "Which <!here> tax?",
    "header": "Tax",
    "options": [{"label": "7 %", "description": "food"}, {"label": "19 %", "description": "else"}],
}


def asks(*questions: dict[str, Any]) -> str:
    return script(
        [{"tool": "question", "input": {"questions": list(questions)}}], [{"text": "I see."}]
    )


@pytest.fixture
def asking(chat: Workspace, bob: User) -> Workspace:
    chat.project.config |= {"permission": {"bash": "ask"}}
    chat.project.save()
    chat.link(bob, "U0BOB")
    return chat


def made(chat: Workspace) -> bool:
    return (Path(chat.project.directory) / "made").exists()


def test_a_permission_is_given_by_a_button_of_who_may_and_of_nobody_else(
    asking: Workspace, charlie: User
) -> None:
    ts = asking.say(TOUCH)
    asking.run()
    [answer, card] = asking.answers
    # What it has said so far.
    assert shown(answer).startswith("I make it.\n\n*Waiting for somebody to answer")
    assert card["thread_ts"] == ts
    assert "touch made" in shown(card)
    once = buttons(card)["Allow once"]

    # Not linked; then linked, and of no team.
    asking.press(once, by="U0EVE", message=card)
    assert "not linked" in asking.told
    asking.link(charlie, "U0EVE")
    asking.press(once, by="U0EVE", message=card)
    assert PermissionRequest.objects.get().status == "pending"
    add_member(asking.team, charlie, Role.VIEWER)
    asking.press(once, by="U0EVE", message=card)
    assert "requires the role" in asking.told
    assert PermissionRequest.objects.get().status == "pending"

    asking.press(once, message=card)
    request = PermissionRequest.objects.get()
    assert request.status == "once"
    asking.run()
    assert made(asking)
    [answer, card] = asking.answers
    assert shown(answer).startswith("It is made.")
    assert f"Allowed once by {request.replied_by.display_name}" in shown(card)
    assert buttons(card) == {}
    # Late, and another's: decided once.
    asking.press(once, message=card)
    assert "Already answered" in asking.told


def test_while_a_session_waits_nothing_is_composed(
    asking: Workspace, alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    asking.say(TOUCH)
    session = asking.run()
    asking.write()
    with django_assert_num_queries(2):
        asking.outbox.note_changes()
    reply_permission(
        session_access(alice, session), PermissionRequest.objects.get(), reply="reject"
    )
    asking.write()
    assert "Rejected by" in shown(asking.answers[1])


def test_what_is_decided_in_the_browser_is_decided_in_slack(asking: Workspace, alice: User) -> None:
    asking.say(TOUCH)
    session = asking.run()
    reply_permission(
        session_access(alice, session), PermissionRequest.objects.get(), reply="reject"
    )
    asking.run()
    card = asking.answers[1]
    assert f"Rejected by {alice.display_name}" in shown(card)
    assert buttons(card) == {}
    assert not made(asking)


def test_what_needs_a_second_person_is_not_allowed_by_who_has_prompted(
    asking: Workspace, alice: User
) -> None:
    asking.team.config = {"permission": {"bash": {"touch *": "ask-other"}}}
    asking.team.save()
    asking.project.config.pop("permission")
    asking.project.save()
    asking.say(TOUCH)
    asking.run()
    card = asking.answers[1]
    assert "has not prompted this session" in shown(card)
    assert "Always allow in this session" not in buttons(card)
    once = buttons(card)["Allow once"]
    asking.press(once, message=card)
    assert "You have prompted this session" in asking.told
    asking.link(alice, "U0ALICE")
    asking.press(once, by="U0ALICE", message=card)
    asking.run()
    assert made(asking)


def test_a_question_is_answered_by_a_button(asking: Workspace) -> None:
    asking.say(asks(ASKED))
    asking.run()
    card = asking.answers[1]
    assert "Which &lt;!here&gt; tax?" in shown(card)
    asking.press(buttons(card)["19 %"], message=card)
    assert QuestionRequest.objects.get().answers == [["19 %"]]
    asking.run()
    assert "Answered by" in shown(asking.answers[1])
    assert shown(asking.answers[0]).startswith("I see.")


def test_several_questions_are_answered_in_a_form(asking: Workspace, charlie: User) -> None:
    asking.say(
        asks({**ASKED, "multiple": True}, {"question": "Why?", "header": "W", "options": []})
    )
    asking.run()
    card = asking.answers[1]
    asking.press(buttons(card)["Answer…"], message=card)
    [form] = asking.server.modals
    assert [one["block_id"] for one in form["blocks"]] == ["q0", "t0", "t1"]
    chosen = {"type": "checkboxes", "selected_options": [{"value": "0"}, {"value": "1"}]}
    values = {
        "q0": {"chosen": chosen},
        "t0": {"written": {"type": "plain_text_input", "value": "#0"}},
        "t1": {"written": {"type": "plain_text_input", "value": "Because."}},
    }
    asking.link(charlie, "U0EVE")
    asking.submit_form(form, values, by="U0EVE")
    assert QuestionRequest.objects.get().status == "pending"
    asking.submit_form(form, values)
    assert QuestionRequest.objects.get().answers == [["7 %", "19 %", "#0"], ["Because."]]


def test_fr_03_a_command_starts_a_session_whose_thread_goes_on(asking: Workspace) -> None:
    asking.command("/opencode", SAYS)
    asking.run()
    [answer] = asking.answers
    assert "thread_ts" not in answer
    assert "Tax is added" in shown(answer)
    asking.say(script([{"text": "More."}]), thread=answer["ts"])
    asking.run()
    assert Session.objects.count() == 1
    assert "More." in shown(asking.answers[-1])
    asking.command("/opencode", "help")
    assert "/opencode-sessions" in asking.told


def test_an_answer_for_one_person_is_seen_by_nobody_else(asking: Workspace) -> None:
    asking.command("/opencode", f"only-me {SAYS}")
    assert "Only you" in asking.told
    asking.run()
    assert asking.answers == []
    [seen] = asking.server.ephemeral
    assert seen["user"] == "U0BOB"
    assert "Tax is added" in shown(seen)


def test_fr_04_sessions_are_listed_taken_up_and_stopped(
    asking: Workspace, alice: User, bob: User
) -> None:
    asking.say(TOUCH)
    waiting = asking.run()
    other = make_session(alice, asking.project, title="Mend the <till>")
    hidden = make_session(alice, asking.project, title="Nobody's business")
    set_private(session_access(alice, hidden), private=True)
    asking.command("/opencode-sessions")
    listed = asking.server.responses[-1]
    assert listed["response_type"] == "ephemeral"
    assert "Mend the &lt;till&gt;" in shown(listed)
    assert "Nobody" not in shown(listed)
    [stop] = [one for one in _all_buttons(listed) if one["action_id"] == "stop"]
    assert stop["value"] == waiting.pk
    asking.press(stop, message={"channel": "C0TILL", "ts": "1700000000.000001"})
    assert Run.objects.get(session=waiting).stop_requested_by == bob

    attach = next(one for one in _all_buttons(listed) if one["value"] == other.pk)
    asking.press(attach, message={"channel": "C0TILL", "ts": "1700000000.000001"})
    begins = asking.answers[-1]
    assert "continues here" in shown(begins)
    asking.say(script([{"text": "Taken up."}]), thread=begins["ts"])
    assert other.inputs.count() == 1
    # Not in a channel for another project, whatever a button says.
    asking.row.channels.create(channel="C0OTHER", project=other.project)
    asking.press({**attach, "value": hidden.pk}, message={"channel": "C0OTHER", "ts": "1.1"})
    assert "not found" in asking.told.lower()


def test_the_home_tab_shows_what_waits(asking: Workspace, charlie: User) -> None:
    asking.say(TOUCH)
    asking.run()
    for user in ("U0BOB", "U0EVE"):
        asking.send(asking.event({"type": "app_home_opened", "tab": "home", "user": user}))
    asking.work()
    assert "touch made" in shown(asking.server.homes["U0BOB"])
    assert "not linked" in shown(asking.server.homes["U0EVE"])
    asking.press(buttons(asking.server.homes["U0BOB"])["Reject"])
    assert PermissionRequest.objects.get().status == "reject"


def test_links_show_titles_and_states_of_the_teams_open_sessions(
    asking: Workspace, alice: User
) -> None:
    seen = make_session(alice, asking.project, title="Mend the till")
    hidden = make_session(alice, asking.project, title="Hidden")
    set_private(session_access(alice, hidden), private=True)
    sites = "https://agents.example.com/t/acme/s/", "https://evil.test/t/acme/s/"
    urls = [f"{sites[0]}{seen.pk}", f"{sites[0]}{hidden.pk}", f"{sites[1]}{seen.pk}"]
    links = [{"url": one} for one in [*urls, f"https://agents.example.com/t/x/s/{seen.pk}"]]
    where = {"message_ts": "1700000000.000001", "user": "U0EVE", "links": links}
    for channel in ("C0TILL", "C0OTHER"):
        asking.send(asking.event({"type": "link_shared", "channel": channel, **where}))
    asking.work()
    [unfurled] = asking.server.unfurls
    assert list(unfurled) == urls[:1]
    assert shown(unfurled[urls[0]]) == "*Mend the till*\nIdle"


def test_who_has_left_the_team_reads_no_answer_in_a_direct_message(
    asking: Workspace, bob: User
) -> None:
    asking.say(SAYS, channel="D0BOB")
    Membership.objects.filter(user=bob).delete()
    asking.run()
    assert "Tax" not in shown(asking.answers[0])


def _all_buttons(message: dict[str, Any]) -> list[dict[str, Any]]:
    rows = [one["elements"] for one in message["blocks"] if one["type"] == "actions"]
    return [each for row in rows for each in row]
