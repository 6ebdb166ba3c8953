from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from django.test import AsyncClient, Client

from opencode_web.lib.db import in_db
from teams import audit_trail
from teams.access import access_team
from teams.actions.audit import sign_chain
from teams.actions.members import change_role
from teams.audit import AuditAction, record
from teams.audit_labels import LABELS
from teams.audit_texts import SENTENCES
from teams.models import AuditEntry, Role, Team, User
from tests.factories import make_team

pytestmark = pytest.mark.django_db

ClientFor = Callable[[User | None], Client]
PAGE = "/t/acme/settings/audit"


@pytest.fixture
def trail(team: Team, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch) -> list[AuditEntry]:
    days = iter(datetime(2026, 3, day, 12, tzinfo=UTC) for day in (1, 2, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("teams.audit.timezone.now", lambda: next(days))
        return [
            record(AuditAction.SKILL_SAVED, actor=alice, team=team, data={"name": "Tür"}),
            record(AuditAction.SKILL_DELETED, actor=bob, team=team, data={"name": "=HYPERLINK(1)"}),
            record(AuditAction.RULE_CREATED, actor=None, team=team, ip="203.0.113.7"),
        ]


def actions(client: Client, **asked: str) -> list[str]:
    page = client.get(PAGE, asked).content.decode()
    return re.findall(r'<span class="chip">([\w.]+)</span>', page)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"who": "bob@"}, ["skill.deleted"]),
        ({"what": "rule.created"}, ["rule.created"]),
        ({"since": "2026-03-02", "until": "2026-03-03"}, ["rule.created", "skill.deleted"]),
        ({"until": "2026-03-01"}, ["skill.saved"]),
        ({"text": "hyperlink"}, ["skill.deleted"]),
        ({"text": "Tür"}, ["skill.saved"]),
        ({"text": "203.0.113"}, ["rule.created"]),
        ({"who": "bob", "what": "rule.created"}, []),
    ],
)
def test_the_trail_is_filtered(
    asked: dict[str, str],
    found: list[str],
    client_for: ClientFor,
    alice: User,
    trail: list[AuditEntry],
) -> None:
    assert actions(client_for(alice), **asked) == found


def test_what_matches_nothing_is_said(client_for: ClientFor, alice: User, team: Team) -> None:
    page = client_for(alice).get(PAGE, {"text": "<zebra>"}).content.decode()
    assert "No entries match this." in page
    assert "<zebra>" not in page
    assert "Download as CSV" not in page


@pytest.mark.parametrize(
    "asked",
    [{"what": "nothing.happened"}, {"since": "soon"}, {"since": "2026-02-02", "until": "2026-1-1"}],
)
def test_a_wrong_filter_is_marked(
    asked: dict[str, str], client_for: ClientFor, alice: User, team: Team
) -> None:
    response = client_for(alice).get(PAGE, asked)
    assert response.status_code == 422
    assert "field-errors" in response.content.decode()
    assert client_for(alice).get(PAGE + ".csv", asked).status_code == 400


def test_the_next_page_and_the_download_keep_the_filter(
    client_for: ClientFor, alice: User, team: Team
) -> None:
    for _ in range(51):
        record(AuditAction.SKILL_SAVED, actor=alice, team=team, data={"name": "a&b"})
    client = client_for(alice)
    page = client.get(PAGE, {"text": "a&b", "what": "skill.saved"}).content.decode()
    assert 'audit.csv?what=skill.saved&amp;text=a%26b"' in page
    older = re.search(r'href="[^"]+\?(what=skill\.saved&amp;text=a%26b&amp;before=\d+)"', page)
    assert older is not None
    assert len(re.findall("<tr>", client.get(f"{PAGE}?{older[1]}".replace("&amp;", "&")).text)) == 2


@pytest.mark.django_db(transaction=True)
async def test_the_download_has_every_match_and_no_formula(
    alice: User,
    trail: list[AuditEntry],
    charlie: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(audit_trail, "_CHUNK", 1)
    other = await in_db(make_team, charlie, name="Other")
    await in_db(lambda: record(AuditAction.SKILL_SAVED, actor=charlie, team=other))
    client = AsyncClient()
    await client.aforce_login(alice)
    response = await client.get(PAGE + ".csv", {"text": "skill"})
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert re.search(
        r'attachment; filename="audit-acme-[\d-]+\.csv"', response["Content-Disposition"]
    )
    body = b"".join([piece async for piece in response.streaming_content]).decode()
    rows = list(csv.reader(io.StringIO(body)))
    assert rows[0] == list(audit_trail.COLUMNS)
    assert [(row[1], row[2], row[4]) for row in rows[1:]] == [
        ("bob@example.com", "skill.deleted", "'=HYPERLINK(1)"),
        ("alice@example.com", "skill.saved", "Tür"),
    ]


def test_each_action_has_a_sentence_and_a_label() -> None:
    assert set(LABELS) == set(AuditAction)
    assert {action for action in AuditAction if action not in SENTENCES} == set()


def test_an_entry_is_a_sentence_with_links(
    client_for: ClientFor, alice: User, bob: User, team: Team
) -> None:
    member = team.memberships.get(user=bob)
    change_role(member, access=access_team(alice, team.slug), role=Role.VIEWER)
    page = client_for(alice).get(PAGE).content.decode()
    people = {
        row.user.email: f'<a href="/t/acme/settings/members#member-{row.pk}">{row.user.email}</a>'
        for row in team.memberships.select_related("user")
    }
    bobs, alices = people[bob.email], people[alice.email]
    assert f"<p>{alices} changed the role of {bobs} from member to viewer.</p>" in page
    assert "<dt>Change</dt><dd>member → viewer</dd>" in page
    assert '<option value="member.role_changed">Member role changed</option>' in page


def test_what_was_asked_for_and_how_a_test_ended_is_told_in_words(
    client_for: ClientFor, alice: User, team: Team
) -> None:
    reply = {"permission": "bash", "reply": "once"}
    record(AuditAction.PERMISSION_REPLIED, actor=alice, team=team, target=team, data=reply)
    other = {"permission": "shop_find", "reply": "reject"}
    record(AuditAction.PERMISSION_REPLIED, actor=alice, team=team, target=team, data=other)
    outcome = {"provider": "acme", "outcome": "RateLimited"}
    record(AuditAction.PROVIDER_TESTED, actor=alice, team=team, target=team, data=outcome)
    page = client_for(alice).get(PAGE).content.decode()
    assert "“Allow once” to a request for shell commands in" in page
    assert "<dt>Permission</dt><dd>shell commands</dd>" in page
    assert "“Reject” to a request for shop_find in" in page
    assert "Result: too many requests." in page


def test_a_changed_budget_is_told_in_words(client_for: ClientFor, alice: User, team: Team) -> None:
    change = {"scope": "team", "period": "week", "soft": False, "before": None, "after": "5.00"}
    other = {"scope": "each", "period": "day", "soft": True, "before": "1.00", "after": "2.00"}
    record(
        AuditAction.BUDGETS_CHANGED,
        actor=alice,
        team=team,
        target=team,
        data={"changes": [change, other]},
    )
    page = client_for(alice).get(PAGE, headers={"accept-language": "de"}).content.decode()
    told = re.findall(r"<dt>Änderungen</dt><dd>(.*?)</dd>", page)
    assert [one.split(" · ")[0] for one in told] == [
        "Änderung: … → 5.00",
        "Änderung: 1.00 → 2.00",
    ]
    assert "Zeitraum: Woche" in told[0]
    assert "Umfang: Jedes Mitglied" in told[1]


def test_an_entry_without_its_data_and_people_is_still_a_sentence(
    client_for: ClientFor, alice: User, team: Team
) -> None:
    record(AuditAction.RULE_REVOKED, actor=None, team=team)
    page = client_for(alice).get(PAGE).content.decode()
    assert "<p>The server revoked the rule for … “…”.</p>" in page


def test_what_others_wrote_is_escaped_in_a_sentence(
    client_for: ClientFor, alice: User, team: Team
) -> None:
    record(AuditAction.SKILL_SAVED, actor=alice, team=team, data={"name": "<b>{who}</b>"})
    page = client_for(alice).get(PAGE).content.decode()
    assert "saved the skill &lt;b&gt;{who}&lt;/b&gt;." in page


@pytest.mark.django_db(transaction=True)
def test_all_times_of_the_page_are_in_utc(alice: User, team: Team, client_for: ClientFor) -> None:
    record(AuditAction.SKILL_SAVED, actor=alice, team=team, data={"name": "a"})
    sign_chain(team.pk)
    page = client_for(alice).get(PAGE).content.decode()
    assert re.search(r"up to entry \d+ on [^<]+ UTC\.", page)
    # Which would be shown in the reader's zone.
    assert "data-local-time" not in page[page.index('id="main"') :]
