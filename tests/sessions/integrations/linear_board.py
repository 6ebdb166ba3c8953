"""A project whose issues are in Linear: people comment there, and it delivers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.test import Client
from django.utils import timezone

from opencode_web.lib.loop import submit
from sessions.integrations.rules import RuleDraft, create_rule
from sessions.integrations.trackers import TrackerDraft, connect_tracker, probe_tracker
from sessions.models import InboundDelivery as Delivery
from sessions.models import Integration, IntegrationRule, LinkedAccount, Project
from teams.access import access_team
from teams.actions.services import create_service
from teams.models import Role, User
from tests.sessions.integrations.linear_server import (
    BOB,
    KEY,
    SECRET,
    FakeLinear,
    Json,
    linear,
    signed,
)
from tests.sessions.integrations.outside import SAYS, Outside, reach


@dataclass
class Board(Outside):
    server: FakeLinear
    project: Project
    row: Integration
    client: Client = field(default_factory=Client)

    @property
    def page(self) -> str:
        return f"/t/acme/p/{self.project.pk}/trackers/linear"

    def send(self, sent: Json, *, secret: str = SECRET, **changed: str) -> Any:
        """Deliver it; `changed` are other headers."""
        body, headers = signed(sent, secret=secret)
        return self.client.post(
            f"/integrations/{self.row.pk}",
            body,
            content_type="application/json",
            headers={**headers, **changed},
        )

    def deliver(self, sent: Json) -> Delivery:
        """Deliver it, and do what that asks for, but for the turn."""
        answer = self.send(sent)
        assert answer.status_code == 200, answer.content
        self.work()
        return Delivery.objects.get(pk=answer.json()["delivery"])

    def say(self, text: str, **more: Any) -> Delivery:
        return self.deliver(self.server.says(text, **more))

    @property
    def answers(self) -> list[str]:
        """What the server has written there, by the id that it has for each."""
        own = set(self.row.replies.exclude(comment="").values_list("comment", flat=True))
        return [one["body"] for pk, one in self.server.comments.items() if pk in own]

    def rule(self, by: User, trigger: str, **more: Any) -> IntegrationRule:
        draft = RuleDraft(trigger=trigger, **{"prompt": SAYS, **more})
        return create_rule(reach(by, self.project), draft, tracker="linear")


@contextmanager
def board_of(owner: User, project: Project, settings: Any, **more: Any) -> Iterator[Board]:
    """Linear, with a project that is connected to its team ENG."""
    with linear() as server:
        settings.LINEAR_API = server.base
        draft = TrackerDraft(path="eng", token=KEY, secret=SECRET, **more)
        found = submit(probe_tracker("linear", None, draft)).result(30)
        row = connect_tracker(reach(owner, project), "linear", draft, found)
        yield Board(server, project, row)


def link(board: Board, user: User, account: str = BOB) -> LinkedAccount:
    return LinkedAccount.objects.create(
        team=board.project.team,
        user=user,
        host="linear.app/acme",
        outside_id=account,
        name=board.server.people[account]["name"],
        linked_at=timezone.now(),
    )


def service_of(board: Board, by: User) -> User:
    team = access_team(by, board.project.team_id)
    return create_service(team, name="Bot", role=Role.MEMBER).user
