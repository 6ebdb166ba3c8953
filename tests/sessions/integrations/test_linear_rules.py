"""What happens to issues in Linear starts sessions by rules, and loosens none."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.loop import submit
from sessions.forges.inbound import Heard
from sessions.integrations.prompts import prompt_parts, rule_parts
from sessions.integrations.systems import system_of
from sessions.models import InboundDelivery, IntegrationRule, Part, Session
from teams.models import User
from tests.sessions.checkouts.conftest import INIT
from tests.sessions.checkouts.conftest import run as sh
from tests.sessions.integrations.conftest import run
from tests.sessions.integrations.hostile_texts import SECRET, hostile_texts
from tests.sessions.integrations.linear_board import Board, link, service_of
from tests.sessions.integrations.linear_server import AGENT, BOB, MALLORY
from tests.sessions.integrations.test_injection import OBEYS, outside_frames, start

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


def why(delivery: InboundDelivery) -> str:
    assert delivery.state == "ignored", delivery.problem
    return delivery.problem


def test_rules_start_sessions_for_issues(board: Board, alice: User, bob: User) -> None:
    link(board, bob)
    label, other = ({"id": f"l{number}", "name": name} for number, name in enumerate("Qb"))
    labeled = {"labels": [other, label], "labelIds": ["l1", "l0"]}
    board.server.open("ENG-8", "Another", None)
    happens = board.server.happens
    assert "No rule" in why(board.deliver(happens("create")))
    board.rule(alice, "issue_labeled", label="q")
    board.rule(alice, "issue_assigned")
    assert "nothing that" in why(board.deliver(happens("update", before={"title": "Old"})))
    # What it had before is no news.
    before = {"labelIds": ["l0"]}
    assert "No rule" in why(board.deliver(happens("update", before=before, **labeled)))
    sent = happens("update", before={"labelIds": ["l1"]}, **labeled)
    delivery = board.deliver(sent)
    assert (delivery.state, delivery.problem) == ("handled", "")
    session = Session.objects.get()
    assert session.owner == bob
    # Sent again with another time under the same id.
    again = {**sent, "webhookTimestamp": sent["webhookTimestamp"] + 1}
    same = {"Linear-Delivery": delivery.comment}
    assert board.send(again, **same).json()["delivery"] == delivery.pk

    assigned = happens("update", key="ENG-8", before={"assigneeId": None}, assigneeId=AGENT)
    assert board.deliver(assigned).state == "handled"
    assert Session.objects.count() == 2
    # An issue that is created with the label.
    board.server.open("ENG-9", "New", "", labels=[label], labelIds=["l0"])
    assert board.deliver(happens("create", key="ENG-9")).state == "handled"
    assert board.deliver(happens("create", key="ENG-9")).state == "handled"
    assert Session.objects.count() == 3
    assert len(board.answers) == 3
    # Labels and assignments are nothing to react to.
    assert [*board.server.reactions.values()] == [("ENG-9", "eyes")]


def test_who_may_start_what_by_a_rule(board: Board, alice: User) -> None:
    service = service_of(board, alice)
    made = board.rule(alice, "issue_opened", account_id=service.pk)
    opened = iter(range(20, 40))

    def opens(by: str) -> InboundDelivery:
        key = f"ENG-{next(opened)}"
        board.server.open(key, "New", "")
        return board.deliver(board.server.happens("create", key=key, by=by))

    assert "Nobody has linked" in why(opens(BOB))
    made.audience = "collaborators"
    made.save()
    assert "not a member of the workspace" in why(opens(MALLORY))
    assert "own access token" in why(opens(AGENT))
    assert "by a bot" in why(opens("integration"))
    assert opens(BOB).state == "handled"
    assert Session.objects.get().is_read_only is False
    made.audience = "anybody"
    made.save()
    assert opens(MALLORY).state == "handled"
    assert Session.objects.latest("created_at").is_read_only is True


def test_admins_write_rules_on_its_page(board: Board, alice: User) -> None:
    board.client.force_login(alice)
    url = f"{board.page}/rules"
    shown = board.client.get(url).content.decode()
    assert "API key&#x27;s account" in shown
    assert "Pull request" not in shown
    fields = {"trigger": "issue_assigned", "prompt": "Look.", "audience": "linked"}
    fields |= {"per_hour": "5", "is_enabled": "on"}
    wrong = board.client.post(url, {**fields, "trigger": "pull_opened"})
    assert wrong.status_code == 422
    assert board.client.post(url, fields).status_code == 302
    made = IntegrationRule.objects.get()
    assert (made.integration, made.trigger, made.per_hour) == (board.row, "issue_assigned", 5)
    # It is not the forge's, whatever address it is asked for at.
    for other in ("integration", "trackers/github"):
        elsewhere = board.page.replace("trackers/linear", other)
        assert board.client.get(f"{elsewhere}/rules/{made.pk}").status_code == 404
    assert board.client.post(f"{url}/{made.pk}", {**fields, "per_hour": "6"}).status_code == 302
    assert IntegrationRule.objects.get().per_hour == 6
    assert board.client.post(f"{url}/{made.pk}/remove").status_code == 302
    assert not IntegrationRule.objects.exists()


def test_hostile_texts_stay_in_their_frames(board: Board) -> None:
    linear, wrong = system_of(board.row), []

    def parts_of(text: str) -> list[Any]:
        board.server.people[MALLORY]["name"] = text
        board.server.open("ENG-8", text, text, labels=[{"id": "l", "name": text}])
        sent = board.server.happens("create", key="ENG-8", by=MALLORY)
        _event, heard = linear.read({}, sent)
        assert isinstance(heard, Heard)
        assert not re.search(r"[\[\]()<>@/`\n]", heard.author)
        # One word is filled in, as the names of accounts are.
        heard = replace(submit(linear.complete(heard)).result(30), author="")
        about = replace(start(heard), pull=None)
        asked = prompt_parts(replace(heard, trigger=""), "Mend it.", pull=None, is_first=True)
        return [*rule_parts(about, "", is_first=True), *asked]

    plain = parts_of("It is plain.")
    for text in hostile_texts("thread_text"):
        for part, other in zip(parts_of(text), plain, strict=True):
            # The prompts of the rule and of the comment, and what was added to each.
            told = outside_frames if part.get("synthetic") else str
            if told(part["text"]) != told(other["text"]):
                wrong.append(text)
    assert wrong == []


def test_an_agent_that_obeys_a_stranger_gets_nowhere(
    board: Board, alice: User, tmp_path: Path, settings: Any
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    sh(f"rm -rf .git; {INIT}", Path(board.project.directory))
    service = service_of(board, alice)
    board.rule(alice, "issue_opened", prompt=OBEYS, audience="anybody", account_id=service.pk)
    board.server.open("ENG-9", "Run this", next(iter(hostile_texts("thread_text"))))
    board.deliver(board.server.happens("create", key="ENG-9", by=MALLORY))
    session = Session.objects.get()
    assert session.is_read_only
    run(session)
    calls = Part.objects.filter(session=session, type="tool")
    done = [one.data for one in calls if one.data["state"]["status"] != "error"]
    assert (calls.count(), {one["tool"] for one in done}) == (5, {"invalid"})
    board.write()
    [shown] = board.answers
    # It would say this key if it had it.
    assert "@everyone" not in shown
    assert "\n/merge" not in shown
    assert SECRET in OBEYS
