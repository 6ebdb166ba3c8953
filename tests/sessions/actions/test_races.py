from __future__ import annotations

from decimal import Decimal

import pytest

from opencode_web.lib.crypto import decrypt
from opencode_web.lib.errors import Conflict, NotFound
from sessions.actions.change_approval import approve_request
from sessions.actions.change_requests import set_approvals
from sessions.actions.search import set_up_search
from sessions.actions.sessions import delete_session, update_session
from sessions.actions.skills import delete_team_skill, save_team_skill
from sessions.actions.team_secrets import set_team_secret
from sessions.events.types import SessionUpdated
from sessions.models import ChangeKind, Project, Session, TeamSearch, TeamSecret, TeamSkill
from sessions.runner.log.lease import acquire_lease
from sessions.runner.log.text_writer import append_events
from teams.access import TeamAccess, access_team
from teams.actions.budgets import change_budgets, reserve
from teams.models import AuditEntry, Reservation, Role, Team, User
from tests.factories import add_member, make_user
from tests.races import race
from tests.sessions.factories import make_session, prompt, session_access
from tests.sessions.held_changes import ask
from tools.search.engine import EngineKind

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def access(alice: User, team: Team) -> TeamAccess:
    return access_team(alice, team.pk)


def test_a_deleted_skill_is_not_written_back(access: TeamAccess) -> None:
    given = {"name": "release", "description": "How to release.", "text": "Tag it."}
    skill = save_team_skill(access, **given)
    stale = TeamSkill.objects.get(pk=skill.pk)
    faults = race(
        lambda: delete_team_skill(access, skill),
        lambda: save_team_skill(access, **{**given, "text": "Push it."}, skill=stale),
    )
    assert faults[0] is None
    assert isinstance(faults[1], NotFound)
    assert not TeamSkill.objects.exists()


def test_two_first_search_engines_are_one_after_the_other(access: TeamAccess) -> None:
    def choose(kind: EngineKind) -> None:
        set_up_search(access, kind=kind, key="a-key-of-a-search-engine")

    kinds = [kind for kind in EngineKind if kind is not EngineKind.SEARXNG][:2]
    assert race(lambda: choose(kinds[0]), lambda: choose(kinds[1])) == [None, None]
    assert TeamSearch.objects.get().kind == kinds[1]


@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("deletes", [False, True])
def test_a_session_whose_sub_agent_is_prompted_is_not_put_away(
    alice: User, project: Project, session: Session, deletes: bool, levels: int
) -> None:
    child = session
    for _ in range(levels):
        child = make_session(alice, project, parent=child)
    own = session_access(alice, session)
    faults = race(
        lambda: prompt(alice, child, "Go on"),
        lambda: delete_session(own) if deletes else update_session(own, archived_ms=1),
    )
    assert faults[0] is None
    assert isinstance(faults[1], Conflict)
    session.refresh_from_db()
    assert session.archived_at is None


@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("deletes", [False, True])
def test_a_worker_that_appends_to_a_sub_agent_and_who_puts_its_session_away_wait_in_one_order(
    alice: User, project: Project, session: Session, deletes: bool, levels: int
) -> None:
    child = session
    for _ in range(levels):
        child = make_session(alice, project, parent=child)
    prompt(alice, child, "Go on")
    lease = acquire_lease(child.pk)
    assert lease is not None

    def work() -> None:
        # A row that is written twice is checked against those above it when that is committed.
        append_events(lease, [SessionUpdated(title="one")])
        append_events(lease, [SessionUpdated(title="two")])

    own = session_access(alice, session)
    faults = race(
        work,
        lambda: delete_session(own) if deletes else update_session(own, archived_ms=1),
    )
    assert faults[0] is None
    assert isinstance(faults[1], Conflict)
    child.refresh_from_db()
    assert child.title == "two"


@pytest.mark.parametrize("levels", [0, 1])
def test_a_sub_agent_that_begins_while_its_tree_is_deleted_goes_with_it(
    alice: User, project: Project, session: Session, levels: int
) -> None:
    parent = session
    for _ in range(levels):
        parent = make_session(alice, project, parent=parent)
    own = session_access(alice, session)
    faults = race(lambda: make_session(alice, project, parent=parent), lambda: delete_session(own))
    assert faults == [None, None]
    assert not Session.objects.exists()


def test_no_sub_agent_begins_below_a_session_that_is_deleted(
    alice: User, project: Project, session: Session
) -> None:
    own = session_access(alice, session)
    faults = race(lambda: delete_session(own), lambda: make_session(alice, project, parent=session))
    assert faults[0] is None
    assert isinstance(faults[1], NotFound)


def test_a_budget_is_changed_while_a_call_is_set_apart_from_it(access: TeamAccess) -> None:
    def change(amount: int) -> None:
        change_budgets(access, team=Decimal(amount), each=None, members={})

    change(10)
    wanted = Reservation(
        id="title.one",
        team=access.team,
        user=access.user,
        amount=Decimal(1),
        provider="demo",
        model="inline",
    )
    faults = race(lambda: reserve(wanted, least=Decimal(1)), lambda: change(20))
    assert faults == [None, None]


def test_a_change_that_two_approve_is_made_once(alice: User, adam: User, team: Team) -> None:
    second = make_user("second@example.com")
    add_member(team, second, Role.ADMIN)
    set_approvals(access_team(alice, team.pk), [ChangeKind.SECRETS])
    asker = access_team(adam, team.pk)
    row = ask(lambda: set_team_secret(asker, name="KEY", value="a-secret-value"))
    faults = race(
        lambda: approve_request(access_team(alice, team.pk), row),
        lambda: approve_request(access_team(second, team.pk), row),
    )
    assert faults[0] is None
    assert isinstance(faults[1], Conflict)
    row.refresh_from_db()
    assert (row.status, row.decided_by) == ("approved", alice)
    assert AuditEntry.objects.filter(action="secret.team_set").count() == 1


def test_what_a_change_replaces_is_held_until_it_is_made(
    alice: User, adam: User, team: Team
) -> None:
    set_team_secret(access_team(alice, team.pk), name="KEY", value="the-first-value")
    set_approvals(access_team(alice, team.pk), [ChangeKind.SECRETS])
    asker = access_team(adam, team.pk)
    row = ask(lambda: set_team_secret(asker, name="KEY", value="the-asked-value"))
    Team.objects.update(needs_approval=[])
    other = access_team(alice, team.pk)
    faults = race(
        lambda: set_team_secret(other, name="KEY", value="of-somebody-else"),
        lambda: approve_request(access_team(alice, team.pk), row),
    )
    assert faults == [None, None]
    row.refresh_from_db()
    assert row.status == "failed"
    assert decrypt(TeamSecret.objects.get().value) == "of-somebody-else"
