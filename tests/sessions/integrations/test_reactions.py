"""How far an answer is, as a reaction to the comment or the issue that asked for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sessions.actions.inbox import cancel_input
from sessions.actions.privacy import set_private
from sessions.forges.adapter import ForgeKind
from sessions.models import OutsideReply, Session
from teams.models import User
from tests.sessions.factories import script, session_access
from tests.sessions.integrations.conftest import Forge, link_account, run
from tests.sessions.integrations.happenings import (
    COMMIT,
    issue,
    line_comment,
    pull_event,
    rule,
    send,
)
from tests.sessions.integrations.linear_board import Board, link
from tests.sessions.integrations.outside import SAYS
from tests.sessions.integrations.test_hostile_comments import pull_of
from tests.web_server import answer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
ONE = pytest.mark.parametrize("outside", ["github"], indirect=True)
FAILS = script([{"error": {"kind": "auth", "message": "The key sk-1 is wrong"}}])


def hooray(outside: Forge) -> str:
    return "tada" if outside.kind is ForgeKind.GITLAB else "hooray"


def ask(outside: Forge) -> int:
    """Returns: the comment that asks."""
    return int(outside.say(f"/oc {SAYS}").comment)


def answer_all(outside: Forge) -> None:
    run(Session.objects.get())
    outside.write()


def reply() -> OutsideReply:
    return OutsideReply.objects.get(kind="react")


def test_eyes_stand_while_it_works_and_one_other_reaction_afterwards(
    outside: Forge, bob: User
) -> None:
    link_account(outside, bob)
    asked, reactions = ask(outside), outside.server.reactions
    what = "notes" if outside.kind is ForgeKind.GITLAB else "comments"
    reactions.give(f"{what}/{asked}", "eyes", 99)
    assert reactions.on(asked) == ["eyes", "eyes"]
    answer_all(outside)
    assert sorted(reactions.on(asked)) == ["eyes", hooray(outside)]
    assert reply().state == "done"
    # That of somebody else stays.
    ours = [one["name"] for one in reactions.given if one["user"] == outside.server.account]
    assert ours == [hooray(outside)]
    before = len(outside.server.seen)
    OutsideReply.objects.filter(kind="react").update(state="pending", attempts=1)
    outside.write()
    assert len(outside.server.seen) == before


def test_what_fails_is_withdrawn_or_becomes_private_says_so(
    outside: Forge, bob: User, subtests: pytest.Subtests
) -> None:
    link_account(outside, bob)
    reactions = outside.server.reactions

    def fails(session: Session) -> None:
        run(session)

    def is_withdrawn(session: Session) -> None:
        cancel_input(session_access(bob, session), session.inputs.get().pk)

    def is_private(session: Session) -> None:
        run(session)
        set_private(session_access(bob, session), private=True)

    ends: list[tuple[Callable[[Session], None], str, list[str]]] = [
        (fails, FAILS, ["confused"]),
        (is_withdrawn, SAYS, ["confused"]),
        (is_private, SAYS, []),
    ]
    for number, (end, text, left) in enumerate(ends, start=20):
        with subtests.test(end.__name__):
            outside.server.issues.add(number)
            delivery = outside.say(f"/oc {text}", number=number)
            assert reactions.on(int(delivery.comment)) == ["eyes"]
            end(Session.objects.latest("created_at"))
            outside.write()
            assert reactions.on(int(delivery.comment)) == left


def test_a_reaction_whose_answer_is_lost_is_taken_back_like_any_other(
    outside: Forge, bob: User
) -> None:
    link_account(outside, bob)
    outside.server.loses_answers = True
    asked = ask(outside)
    assert (reply().state, reply().comment) == ("pending", "")
    run(Session.objects.get())
    # First that it was taken back is lost, and then that the other one was made.
    for left in ([], [hooray(outside)], [hooray(outside)]):
        outside.write()
        assert outside.server.reactions.on(asked) == left
    outside.server.loses_answers = False
    outside.write()
    assert outside.server.reactions.on(asked) == [hooray(outside)]
    assert reply().state == "done"


def test_a_token_that_may_not_react_answers_as_ever(outside: Forge, bob: User) -> None:
    link_account(outside, bob)
    outside.server.reactions.are_refused = True
    ask(outside)
    assert (reply().state, reply().problem) == ("done", "")
    answer_all(outside)
    assert outside.answers[0].startswith("Tax is added in")
    assert outside.server.reactions.given == []


def test_a_comment_that_was_deleted_gets_none(outside: Forge, bob: User) -> None:
    link_account(outside, bob)
    ask(outside)
    outside.server.reactions.given.clear()
    outside.server.comments.pop(0)
    answer_all(outside)
    assert (reply().state, outside.server.reactions.given) == ("done", [])


@ONE
def test_a_limit_is_waited_for(outside: Forge, bob: User) -> None:
    link_account(outside, bob)
    busy = answer(b"{}", status=429, retry_after="900")
    outside.server.then += [busy]
    asked = ask(outside)
    assert len(outside.answers) == 1
    assert (reply().next_at - reply().created_at).total_seconds() > 890
    run(Session.objects.get())
    outside.server.then += [busy]
    outside.write()
    assert outside.server.reactions.given == []
    outside.write()
    assert outside.server.reactions.on(asked) == ["hooray"]


def test_an_issue_or_a_line_that_starts_an_agent_is_reacted_to(
    outside: Forge, alice: User, bob: User
) -> None:
    link_account(outside, bob)
    for trigger in ("issue_opened", "pull_opened"):
        rule(outside, alice, trigger)
    reactions = outside.server.reactions
    send(outside, *issue(outside))
    assert reactions.on(7) == ["eyes"]
    answer_all(outside)
    assert reactions.on(7) == [hooray(outside)]
    outside.server.pulls[:] = [pull_of(outside, 3, sha=COMMIT, repository=7)]
    send(outside, *pull_event(outside))
    assert reactions.on(3) == ["eyes"]
    before = len(reactions.given)
    send(outside, *line_comment(outside, f"/oc {SAYS}"))
    # Gitea does not say which comment it was.
    assert len(reactions.given) == before + (outside.kind is not ForgeKind.GITEA)


def test_linear_shows_it_too(board: Board, bob: User) -> None:
    link(board, bob)
    reactions = board.server.reactions
    board.server.loses = "reactionCreate"
    delivery = board.say(f"/oc {SAYS}")
    assert [*reactions.values()] == [(delivery.comment, "eyes")]
    board.server.loses = ""
    run(Session.objects.get())
    board.write()
    assert [*reactions.values()] == [(delivery.comment, "tada")]
