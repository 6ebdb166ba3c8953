from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from opencode_web.lib.errors import Conflict, NotFound
from opencode_web.lib.ids import new_id
from sessions.actions import fork
from sessions.actions.copies import Copier
from sessions.actions.fork import fork_session, fork_title
from sessions.actions.revert import revert_session
from sessions.events.types import SessionUpdated
from sessions.models import Event, Message, Part, Project, Session
from sessions.present.conversation.history import load_window
from sessions.present.conversation.items import RenderContext
from sessions.present.place import Place
from sessions.wire import session_to_wire
from teams.audit import AuditAction
from teams.models import AuditEntry, User
from tests.sessions.factories import make_session, session_access
from tests.sessions.projection import assert_log_equals_rows
from tests.sessions.story import Story, tell_whole_turn, write

pytestmark = pytest.mark.django_db


@pytest.fixture
def turns(session: Session, alice: User) -> list[Story]:
    return [tell_whole_turn(session, alice, text) for text in ("one", "two")]


def _said(session: Session) -> list[str]:
    """What stands in a session, without any id."""
    found = []
    for message in Message.objects.filter(session=session).order_by("seq"):
        author = message.author.email if message.author else ""
        for part in message.parts.order_by("seq"):
            state = part.data.get("state", {})
            found.append(f"{message.role} {author} {part.data.get('text')} {state}")
    return found


def test_a_fork_has_the_same_history_with_ids_of_its_own(
    session: Session, alice: User, turns: list[Story]
) -> None:
    copy = fork_session(session_access(alice, session))
    assert _said(copy) == _said(session)
    assert copy.title == f"{session.title} (fork #1)"
    assert (copy.state, copy.outcome, copy.parent) == ("idle", "done", None)
    own = set(copy.messages.values_list("pk", flat=True))
    assert not own & set(session.messages.values_list("pk", flat=True))
    for row in [*copy.messages.all(), *copy.parts.all()]:
        assert row.data["id"] == row.pk
        assert row.data["sessionID"] == copy.pk
    prompts = list(copy.messages.filter(role="user").order_by("seq").values_list("pk", flat=True))
    answers = copy.messages.filter(role="assistant").order_by("seq")
    assert [row.data["parentID"] for row in answers] == prompts
    assert sorted(own) == list(copy.messages.order_by("seq").values_list("pk", flat=True))
    assert_log_equals_rows(copy)


def test_a_copied_turn_lasts_as_long_as_its_agent_has_worked(session: Session, alice: User) -> None:
    told = Story(session, alice)
    told.ask("go")
    told.answer()
    told.replied(told.waits("make"))
    answered = session.permissions.get().replied_at
    session.permissions.update(created_at=answered - timedelta(seconds=10))
    told.finish(changed=False)
    copy = fork_session(session_access(alice, session))

    def worked_s(one: Session) -> float | None:
        window = load_window(one, RenderContext(Place.of(one)))
        footer = window.turns[-1].footer
        return footer.duration_s if footer else None

    assert worked_s(copy) == worked_s(session) == 17.0


def test_a_fork_keeps_metadata_and_sums_up_its_own_changes(
    session: Session, alice: User, turns: list[Story]
) -> None:
    write(session, SessionUpdated(metadata={"ticket": 7}))
    access = session_access(alice, session)
    fork = fork_session(access, before=turns[1].prompt_id)
    assert fork.metadata == {"ticket": 7}
    assert session_to_wire(fork)["summary"] == {"additions": 1, "deletions": 1, "files": 1}
    assert_log_equals_rows(fork)
    empty = fork_session(access, before=turns[0].prompt_id)
    assert session_to_wire(empty)["summary"] == {"additions": 0, "deletions": 0, "files": 0}


def test_what_it_has_cost_is_not_counted_again(
    session: Session, alice: User, turns: list[Story]
) -> None:
    assert Session.objects.get(pk=session.pk).cost == Decimal("0.28")
    copy = fork_session(session_access(alice, session))
    assert copy.cost == 0
    assert copy.tokens["input"] == 0


def test_it_ends_before_the_message(session: Session, alice: User, turns: list[Story]) -> None:
    copy = fork_session(session_access(alice, session), before=turns[1].prompt_id)
    assert copy.messages.count() == 2
    assert len(_said(copy)) * 2 == len(_said(session))
    assert _said(copy) == _said(session)[: len(_said(copy))]
    with pytest.raises(NotFound):
        fork_session(session_access(alice, session), before="msg_unknown")


def test_what_is_rolled_back_stays_behind(
    session: Session, alice: User, turns: list[Story]
) -> None:
    answer = Message.objects.get(pk=turns[1].message_id)
    parts = list(answer.parts.order_by("seq"))
    revert_session(session_access(alice, session), answer.pk, part_id=parts[3].pk)
    copy = fork_session(session_access(alice, session))
    assert copy.revert == {}
    last = copy.messages.order_by("seq").last()
    assert last is not None
    assert [p.data["type"] for p in last.parts.order_by("seq")] == [p.type for p in parts[:3]]
    assert_log_equals_rows(copy)


def test_an_answer_that_is_being_written_stays_behind(session: Session, alice: User) -> None:
    story = tell_whole_turn(session, alice, "one")
    story.ask("two")
    story.answer()
    story.running("bash", {"command": "sleep 9"})
    before = Session.objects.get(pk=session.pk).seq
    copy = fork_session(session_access(alice, session))
    roles = list(copy.messages.order_by("seq").values_list("role", flat=True))
    assert roles == ["user", "assistant", "user"]
    assert copy.state == "idle"
    assert Session.objects.get(pk=session.pk).seq == before


def test_a_child_keeps_the_rules_that_hold_it(
    session: Session, alice: User, project: Project
) -> None:
    rules = [{"permission": "bash", "pattern": "*", "action": "deny"}]
    child = make_session(alice, project, parent=session, permission=rules, agent="plan")
    copy = fork_session(session_access(alice, child))
    assert (copy.permission, copy.agent, copy.parent) == (rules, "plan", None)


def test_it_belongs_to_who_made_it_and_is_in_the_audit_trail(
    session: Session, alice: User, bob: User, turns: list[Story]
) -> None:
    copy = fork_session(session_access(bob, session))
    assert copy.owner == bob
    authors = set(copy.messages.filter(role="user").values_list("author", flat=True))
    assert authors == {alice.pk}
    entry = AuditEntry.objects.get(action=AuditAction.SESSION_FORKED)
    assert (entry.actor, entry.target_id, entry.data) == (bob, copy.pk, {"source": session.pk})


def test_a_project_that_is_not_ready_takes_none(session: Session, alice: User) -> None:
    Project.objects.update(status=Project.Status.FAILED)
    with pytest.raises(Conflict):
        fork_session(session_access(alice, session))
    assert Session.objects.count() == 1


@pytest.mark.parametrize(
    ("title", "forked"),
    [
        ("Till", "Till (fork #1)"),
        ("Till (fork #1)", "Till (fork #2)"),
        ("Till (fork #9) (fork #41)", "Till (fork #9) (fork #42)"),
        ("x" * 300, "x" * 290 + " (fork #1)"),
    ],
)
def test_forks_are_counted_in_the_title(title: str, forked: str) -> None:
    assert fork_title(title) == forked


def test_statements_grow_with_chunks_and_not_with_messages(
    session: Session, alice: User, turns: list[Story]
) -> None:
    access = session_access(alice, session)

    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            fork_session(access)
        return len(queries)

    few = statements()
    tell_whole_turn(session, alice, "three")
    assert statements() == few


def test_several_chunks_are_one_history(
    session: Session, alice: User, turns: list[Story], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork, "CHUNK", 1)
    copy = fork_session(session_access(alice, session))
    assert _said(copy) == _said(session)
    assert Event.objects.filter(session=copy).count() == copy.seq
    assert_log_equals_rows(copy)


def test_what_refers_back_follows_the_new_ids() -> None:
    copier = Copier("ses_new")
    first = copier.copy_message({"id": "msg_a", "role": "user"})
    tail = copier.copy_part(
        {"id": "prt_a", "type": "compaction", "tail_start_id": "msg_a"}, message_id=first["id"]
    )
    assert tail["tail_start_id"] == first["id"]
    lost = copier.copy_part({"id": "prt_b", "tail_start_id": "msg_gone"}, message_id=first["id"])
    assert "tail_start_id" not in lost
    orphan = copier.copy_message({"id": "msg_b", "role": "assistant", "parentID": "msg_gone"})
    assert orphan["parentID"] == first["id"]


def test_files_of_a_result_get_ids_of_their_own() -> None:
    file = {"id": "prt_file", "sessionID": "ses_old", "messageID": "msg_old", "type": "file"}
    part = {"id": "prt_a", "state": {"status": "completed", "attachments": [file]}}
    message_id = new_id("msg")
    copied = Copier("ses_new").copy_part(part, message_id=message_id)
    state = copied["state"]
    assert isinstance(state, dict)
    assert isinstance(state["attachments"], list)
    own = state["attachments"][0]
    assert isinstance(own, dict)
    assert (own["sessionID"], own["messageID"]) == ("ses_new", message_id)
    assert own["id"] != "prt_file"
    assert Part.objects.count() == 0
