from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from sessions.config.effective import project_limits
from sessions.events.types import SessionStatus
from sessions.models import Project, Session, SessionInput
from sessions.stream.frames import load_session, render_window
from teams.access import access_team
from teams.actions.budgets import change_budgets
from teams.models import AuditEntry, Budget, Team, User
from tests.factories import make_usage
from tests.sessions.factories import make_session
from tests.sessions.story import write

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
PAGE = "/t/acme/settings/budgets"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def budgets(alice: User, bob: User, team: Team) -> None:
    change_budgets(
        access_team(alice, "acme"),
        team=Decimal(10),
        each=Decimal(5),
        members={bob.pk: Decimal(2)},
    )
    team.refresh_from_db()


def block_of(html: str) -> str:
    return html.split('id="block"')[1].split("</div>")[0]


def reason_of(html: str) -> str:
    parts = html.split('id="composer-reason"')
    return parts[1].split("</p>")[0] if len(parts) > 1 else ""


def test_fr_02_an_admin_sets_budgets_and_everybody_reads_their_own(
    alice: User, bob: User, team: Team, client_for: ClientFor
) -> None:
    make_usage(team, bob, cost=Decimal("1.70"))
    make_usage(team, alice, cost=Decimal(3))
    browser = client_for(alice)
    assert "No limit is set." in browser.get(PAGE).content.decode()
    form = {"team": "10", "each": "5", f"member_{bob.pk}": "2"}
    assert browser.post(PAGE, form).status_code == 302
    assert sorted(Budget.objects.values_list("scope", "user", "amount")) == [
        ("each", None, 5),
        ("member", bob.pk, 2),
        ("team", None, 10),
    ]
    page = browser.get(PAGE).content.decode()
    for shown in ("$4.70 of $10.00", "$1.70 of $2.00", "$3.00 of $5.00", "85 %"):
        assert shown in page
    mine = client_for(bob).get(PAGE).content.decode()
    assert "$1.70 of $2.00" in mine
    assert "$4.70 of $10.00" in mine
    assert "alice@example.com" not in mine.split('id="main"')[-1]
    assert "<input" not in mine.split("<h1")[1]


def test_fr_02_every_change_is_in_the_audit_trail(
    alice: User, bob: User, team: Team, budgets: None, client_for: ClientFor
) -> None:
    browser = client_for(alice)
    form = {"team": "10.00", "each": "", f"member_{bob.pk}": "3.50"}
    assert browser.post(PAGE, form).status_code == 302
    entries = AuditEntry.objects.filter(action="budgets.changed").order_by("pk")
    entry = entries.last()
    assert entry is not None
    assert entry.actor == alice
    assert entry.data == {
        "changes": [
            {"scope": "each", "before": "5.00", "after": None},
            {"scope": "member", "user": bob.pk, "before": "2.00", "after": "3.50"},
        ]
    }
    # The same again is no change.
    assert browser.post(PAGE, form).status_code == 302
    assert entries.count() == 2


def test_fr_02_what_one_session_may_cost_is_set_beside_the_budgets(
    alice: User, bob: User, project: Project, client_for: ClientFor, settings: Any, tmp_path: Path
) -> None:
    project.team.config = {"limits": {"terminals": 2, "session_cost": "0.125"}, "model": "demo/x"}
    project.team.save()
    browser = client_for(alice)
    page = browser.get(PAGE).content.decode()
    assert re.search(r'<input[^>]*name="session"[^>]*value="0.125"', page)
    assert browser.post(PAGE, {"session": "2.50"}).status_code == 302
    project.refresh_from_db()
    assert project.team.config["model"] == "demo/x"
    assert project.team.config["limits"] == {"terminals": 2, "session_cost": "2.50"}
    assert project_limits(project).session_cost == Decimal("2.50")
    entry = AuditEntry.objects.filter(action="budgets.changed").latest("pk")
    changes = [{"scope": "session", "before": "0.125", "after": "2.50"}]
    assert (entry.actor, entry.data) == (alice, {"changes": changes})
    assert "$2.50" in client_for(bob).get(PAGE).content.decode().split("Each session")[1]
    # The lower of the server's and the team's counts, and is said.
    file = tmp_path / "server.json"
    file.write_text('{"limits": {"session_cost": 1}}')
    settings.INSTANCE_CONFIG = str(file)
    page = browser.get(PAGE).content.decode()
    assert "This server limits a session to $1.00" in page
    assert "$1.00" in page.split("Each session")[1].split("</div>")[0]
    assert browser.post(PAGE, {"session": "0"}).status_code == 422
    assert browser.post(PAGE, {"session": ""}).status_code == 302
    project.refresh_from_db()
    assert project.team.config["limits"] == {"terminals": 2}


@pytest.mark.parametrize("amount", ["-1", "1.234", "lots", "99999999"])
def test_what_is_no_amount_is_refused_and_shown_again(
    amount: str, alice: User, budgets: None, client_for: ClientFor
) -> None:
    answer = client_for(alice).post(PAGE, {"team": amount, "each": "7"})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert f'value="{amount}"' in page
    assert "field-errors" in page
    assert Budget.objects.get(scope="team").amount == 10


@pytest.mark.parametrize(
    ("language", "typed", "kept"),
    [
        ("de", "20,50", "20.50"),
        ("de", "20.50", "20.50"),
        ("en", "20.50", "20.50"),
        ("en", "20,50", None),
        ("de", "1.234,50", "1234.50"),
        ("en", "1,234.50", "1234.50"),
        ("de", "1.23,50", None),
        ("de", "0,005", None),
        ("de", "0.500", None),
    ],
)
def test_a_comma_is_no_hundredfold(
    alice: User, team: Team, client_for: ClientFor, language: str, typed: str, kept: str | None
) -> None:
    sent = client_for(alice).post(PAGE, {"team": typed}, headers={"Accept-Language": language})
    assert sent.status_code == (302 if kept else 422)
    amounts = [str(one.amount) for one in Budget.objects.all()]
    assert amounts == ([kept] if kept else [])


def test_only_admins_change_budgets(bob: User, budgets: None, client_for: ClientFor) -> None:
    assert client_for(bob).post(PAGE, {"team": "100"}).status_code == 403
    assert Budget.objects.get(scope="team").amount == 10


def test_a_reached_team_budget_stands_beside_the_field_and_keeps_the_words(
    bob: User, team: Team, session: Session, budgets: None, client_for: ClientFor
) -> None:
    url, browser = f"/t/acme/s/{session.pk}", client_for(bob)
    free = browser.get(url).content.decode()
    assert " hidden>" in block_of(free)
    make_usage(team, None, cost=Decimal(10))
    page = browser.get(url).content.decode()
    assert "Team budget reached: $10.00 of $10.00 are spent this month." in block_of(page)
    assert f'href="{PAGE}"' in block_of(page)
    assert "disabled" in page.split('class="send"')[1].split("</span>\n")[0]
    for headers in (HTMX, {}):
        refused = browser.post(f"{url}/prompt", {"text": "Keep <this>"}, headers=headers)
        assert refused.status_code == 422
        assert "Keep &lt;this&gt;</textarea>" in refused.content.decode()
    assert not SessionInput.objects.exists()


def test_open_pages_are_told_of_a_reached_budget_and_of_more(
    team: Team, session: Session, budgets: None
) -> None:
    make_usage(team, None, cost=Decimal(10))
    for amount, disabled in ((10, True), (20, False)):
        Budget.objects.filter(scope="team").update(amount=amount)
        row = load_session(session.pk)
        assert row is not None
        ops = {
            str(op[0]): str(op[2])
            for op in render_window(row, {}, is_lost=False)
            if isinstance(op, list)
        }
        assert ("Team budget reached" in ops["#block"]) is disabled
        assert ("disabled" in ops[f"#send-{session.pk}"]) is disabled


def test_a_session_says_that_its_sub_agent_waits_for_a_budget(
    alice: User, project: Project, session: Session, budgets: None, client_for: ClientFor
) -> None:
    child = make_session(alice, project, parent=session)
    write(child, SessionStatus(state="busy", waits_for="funds", detail="Not enough is left."))
    write(session, SessionStatus(state="busy", waits_for="children"))
    page = client_for(alice).get(f"/t/acme/s/{session.pk}").content.decode()
    assert "Not enough is left." in block_of(page)
    # More may be written to it: what comes next may cost less.
    assert "disabled" not in page.split('class="send"')[1].split("</span>\n")[0]
    for place in (f'id="status-{session.pk}"', "data-session-row"):
        assert "Waiting for budget" in page.split(place)[1].split("</a>")[0]

    other = make_session(alice, project, parent=session)
    write(other, SessionStatus(state="busy"))
    page = client_for(alice).get(f"/t/acme/s/{session.pk}").content.decode()
    assert "Waiting for budget" not in page


def test_a_reached_budget_of_a_member_stops_only_them(
    alice: User, bob: User, team: Team, session: Session, budgets: None, client_for: ClientFor
) -> None:
    make_usage(team, bob, cost=Decimal(2))
    url = f"/t/acme/s/{session.pk}"
    page = client_for(bob).get(url).content.decode()
    assert "Your budget is reached: $2.00 of $2.00" in reason_of(page)
    assert "disabled" not in page.split('id="prompt"')[1].split(">")[0]
    refused = client_for(bob).post(f"{url}/prompt", {"text": "More"}, headers=HTMX)
    assert refused.status_code == 422
    sent = client_for(alice).post(f"{url}/prompt", {"text": "More"}, headers=HTMX)
    assert sent.status_code == 204


def test_no_session_is_begun_with_a_reached_budget(
    bob: User, team: Team, project: Project, budgets: None, client_for: ClientFor
) -> None:
    make_usage(team, bob, cost=Decimal(2))
    browser = client_for(bob)
    page = browser.get("/t/acme/").content.decode()
    assert "budget is reached" in reason_of(page)
    form = {"text": "Keep me", "project": project.pk}
    refused = browser.post("/t/acme/start", form, headers=HTMX)
    assert refused.status_code == 422
    assert "Keep me</textarea>" in refused.content.decode()
    assert not Session.objects.exists()


def test_from_four_fifths_on_the_field_warns_the_member_and_admins_of_the_team(
    alice: User, bob: User, team: Team, session: Session, budgets: None, client_for: ClientFor
) -> None:
    url = f"/t/acme/s/{session.pk}"
    make_usage(team, bob, cost=Decimal("1.60"))
    page = client_for(bob).get(url).content.decode()
    assert "80 % of your budget for this month is spent: $1.60 of $2.00." in page
    assert "for this month is spent" not in client_for(alice).get(url).content.decode()
    make_usage(team, None, cost=Decimal("6.40"))
    warned = client_for(alice).get(url).content.decode()
    assert "80 % of the team&#x27;s budget for this month is spent: $8.00 of $10.00." in warned


def test_the_context_says_what_is_left_for_the_reader_and_the_team(
    bob: User, team: Team, session: Session, budgets: None, client_for: ClientFor
) -> None:
    make_usage(team, bob, cost=Decimal("0.50"))
    url = f"/t/acme/s/{session.pk}?panel=context"
    pane = client_for(bob).get(url, headers=HTMX).content.decode()
    assert "$1.50 of $2.00" in pane
    assert "$9.50 of $10.00" in pane


def test_a_page_takes_few_queries(
    alice: User, budgets: None, client_for: ClientFor, django_assert_max_num_queries: Any
) -> None:
    browser = client_for(alice)
    browser.get(PAGE)
    with django_assert_max_num_queries(16):
        assert browser.get(PAGE).status_code == 200
