from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from opencode_web.lib.errors import Conflict, NotFound
from opencode_web.lib.reasons import Cause
from sessions.actions.fork import fork_session
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.revert import revert_session
from sessions.actions.sessions import update_session
from sessions.events.reasons import TurnReason
from sessions.events.types import SessionStatus
from sessions.models import Project, Run, Session, SessionInput
from teams.access import access_team
from teams.actions.budgets import change_budgets
from teams.models import User
from tests.factories import make_token
from tests.sessions.factories import INLINE, make_session, prompt, session_access
from tests.sessions.story import Story, write

pytestmark = pytest.mark.django_db
TEXT = [{"type": "text", "text": "Go on"}]
NOW_MS = 1_700_000_000_000

# Every way to have a session do something: the path below it, and what is sent.
DOORS: dict[str, tuple[str, dict[str, Any]]] = {
    "message": ("/session/{id}/message", {"parts": TEXT}),
    "note": ("/session/{id}/message", {"parts": TEXT, "noReply": True}),
    "prompt": ("/session/{id}/prompt", {"parts": TEXT}),
    "prompt_async": ("/session/{id}/prompt_async", {"parts": TEXT}),
    "command": ("/session/{id}/command", {"command": "init", "arguments": ""}),
    "shell": ("/session/{id}/shell", {"command": "ls", "agent": "build"}),
    "init": ("/session/{id}/init", {}),
    "summarize": ("/session/{id}/summarize", {"providerID": "demo", "modelID": "inline"}),
    "compact": ("/session/{id}/compact", {}),
    "v2": ("/api/session/{id}/prompt", {"prompt": {"text": "Go on"}}),
    "v2 held": ("/api/session/{id}/prompt", {"prompt": {"text": "Go on"}, "resume": False}),
}
# Forms of the page of a session.
FORMS = {
    "prompt": {"text": "Go on"},
    "compact": {},
    "resume": {},
    "retry": {},
}


@pytest.fixture
def failed(alice: User, session: Session) -> Session:
    story = Story(session, alice)
    story.ask("Do it")
    story.answer()
    story.cut(Cause(TurnReason.WORKER_LOST), interrupted=True)
    return session


@pytest.fixture
def held(alice: User, failed: Session) -> Session:
    """It has failed, and a stop has left a prompt in its inbox."""
    hold(alice, failed)
    return failed


def hold(user: User, session: Session) -> SessionInput:
    draft = PromptDraft(parts=TEXT, model=INLINE)
    return admit_prompt(session_access(user, session), draft, resume=False)


Close = Callable[[Session], None]


def archive(session: Session) -> None:
    assert session.owner is not None
    update_session(session_access(session.owner, session), archived_ms=NOW_MS)


def lose_files(session: Session) -> None:
    Project.objects.filter(pk=session.project_id).update(status=Project.Status.FAILED)


def spend(session: Session) -> None:
    assert session.owner is not None
    access = access_team(session.owner, session.project.team_id)
    change_budgets(access, team=0, each=None, members={})  # type: ignore[arg-type]


CLOSED = [
    (archive, "This session is archived. Unarchive it to send messages."),
    (lose_files, "The files of shop are missing, so the agent cannot work."),
    (spend, "Team budget reached"),
]


def state_of(session: Session) -> tuple[str, int, int]:
    session.refresh_from_db()
    return session.state, session.seq, SessionInput.objects.filter(session=session).count()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("close", "why"), CLOSED)
def test_a_closed_session_takes_nothing_by_the_api(
    close: Close, why: str, alice: User, held: Session
) -> None:
    SessionInput.objects.all().delete()
    _, secret = make_token(alice, held.project.team)
    close(held)
    before = state_of(held)
    for door, (path, body) in DOORS.items():
        answer = Client().post(
            path.format(id=held.pk),
            json.dumps(body),
            content_type="application/json",
            headers={"authorization": f"Bearer {secret}"},
        )
        assert (answer.status_code, why in answer.content.decode()) == (409, True), door
        assert state_of(held) == before, door


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("close", "why"), CLOSED)
def test_a_closed_session_takes_nothing_by_its_page(
    form: str, close: Close, why: str, alice: User, held: Session, client: Client
) -> None:
    if form != "resume":
        SessionInput.objects.all().delete()
    client.force_login(alice)
    close(held)
    before = state_of(held)
    answer = client.post(f"/t/acme/s/{held.pk}/{form}", FORMS[form], headers={"HX-Request": "true"})
    assert answer.status_code in {409, 422}
    assert why in answer.content.decode()
    assert state_of(held) == before


def test_a_sub_agent_of_an_archived_session_takes_nothing(
    alice: User, project: Project, session: Session
) -> None:
    child = make_session(alice, project, parent=session)
    archive(session)
    with pytest.raises(Conflict, match="archived"):
        prompt(alice, child, "Go on")


def test_the_retry_of_a_prompt_is_answered_and_starts_nothing(
    alice: User, session: Session
) -> None:
    first = hold(alice, session)
    archive(session)
    before = state_of(session)
    assert prompt(alice, session, "Go on", message_id=first.pk) == first
    assert state_of(session) == before


def test_a_sub_agent_below_an_archived_one_takes_nothing(
    alice: User, project: Project, session: Session
) -> None:
    middle = make_session(alice, project, parent=session)
    lowest = make_session(alice, project, parent=middle)
    archive(middle)
    with pytest.raises(Conflict, match="archived"):
        prompt(alice, lowest, "Go on")
    prompt(alice, session, "Go on")


def test_the_history_of_an_archived_session_stays_as_it_is(alice: User, failed: Session) -> None:
    message = failed.messages.order_by("seq").first()
    assert message is not None
    archive(failed)
    with pytest.raises(Conflict, match="archived"):
        revert_session(session_access(alice, failed), message.pk)
    # A copy is a session of its own.
    assert fork_session(session_access(alice, failed)).archived_at is None


def test_a_session_that_works_is_not_archived(
    alice: User, project: Project, session: Session
) -> None:
    child = make_session(alice, project, parent=session)
    for one in (child, session):
        write(one, SessionStatus(state="busy"))
        with pytest.raises(Conflict, match="Stop it first"):
            archive(session)
        write(one, SessionStatus(state="idle", outcome="done"))
    archive(session)


def test_a_session_that_waits_for_somebody_is_stopped_when_it_is_archived(
    alice: User, session: Session
) -> None:
    story = Story(session, alice)
    story.ask("Do it")
    story.answer()
    story.waits("ls")
    archive(session)
    assert Run.objects.get(session=session).stop_requested_by == alice


@pytest.mark.parametrize("levels", [1, 2])
def test_a_sub_agent_that_waits_below_an_idle_session_is_stopped_when_that_is_archived(
    alice: User, project: Project, session: Session, levels: int
) -> None:
    child = session
    for _ in range(levels):
        child = make_session(alice, project, parent=child)
    story = Story(child, alice)
    story.ask("Do it")
    story.answer()
    story.waits("ls")
    archive(session)
    assert Run.objects.get(session=child).stop_requested_by == alice
    assert Run.objects.get(session=session).stop_requested_at is None


def test_what_is_brought_back_goes_on(alice: User, held: Session) -> None:
    archive(held)
    update_session(session_access(alice, held), archived_ms=0)
    prompt(alice, held, "Go on")
    assert state_of(held)[0] == "busy"


def test_a_viewer_who_was_let_through_by_mistake_prompts_nothing(
    vera: User, session: Session
) -> None:
    with pytest.raises(NotFound):
        admit_prompt(session_access(vera, session), PromptDraft(parts=TEXT))
    assert not session.inputs.exists()
