"""Many deliveries at once: none is lost, none done twice, and each thread keeps its order."""

from __future__ import annotations

import random
from collections import defaultdict

import pytest
from django.utils import timezone

from opencode_web.lib.loop import submit
from sessions.integrations.handle import handle_due
from sessions.models import Conversation, InboundDelivery, SessionInput
from teams.models import User
from tests.sessions.integrations.conftest import Forge, link_account
from tests.sessions.integrations.slack_workspace import Workspace

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.any_database,
    pytest.mark.deep,
    pytest.mark.timeout(300),
]
THREADS = 50


def work() -> None:
    """Two workers do all that waits."""
    waiting = InboundDelivery.objects.filter(state="waiting")
    while waiting.exists():
        waiting.update(next_at=timezone.now())
        for one in [submit(handle_due()) for _ in range(2)]:
            one.result(120)


def asked() -> dict[str, list[int]]:
    """Returns: the numbers in the prompts of each thread's session, in the order of the prompts."""
    threads = dict(Conversation.objects.values_list("session_id", "thread"))
    found = defaultdict(list)
    for row in SessionInput.objects.order_by("pk"):
        found[threads[row.session_id]].append(int(row.data["parts"][0]["text"].split()[-1]))
    return found


@pytest.mark.parametrize("outside", ["github"], indirect=True)
def test_a_thousand_comments_on_fifty_issues(outside: Forge, bob: User) -> None:
    link_account(outside, bob)
    outside.server.issues = set(range(1, THREADS + 1))
    again = random.Random(7)
    for number in range(1_000):
        thread = number % THREADS + 1
        payload = outside.payload(f"/oc Do step {number}", number=thread)
        # Some come twice, in another form.
        for more in ({}, {"redelivered": True})[: 1 + (again.random() < 0.1)]:
            assert outside.send({**payload, **more}).status_code == 200
        if number % 250 == 0:
            work()
    work()
    assert set(InboundDelivery.objects.values_list("state", flat=True)) == {"handled"}
    assert InboundDelivery.objects.count() == 1_000
    expected = {f"issue/{one + 1}": list(range(one, 1_000, THREADS)) for one in range(THREADS)}
    assert asked() == expected


def test_fifty_threads_in_slack(chat: Workspace, bob: User) -> None:
    chat.link(bob, "U0BOB")
    payloads = [chat.message(f"Do step {number}") for number in range(THREADS)]
    threads = [one["event"]["ts"] for one in payloads]
    payloads += [
        chat.message(f"Do step {number}", thread=threads[number % THREADS])
        for number in range(THREADS, 4 * THREADS)
    ]
    for payload in payloads:
        for _ in range(2):
            assert chat.send(payload).status_code == 200
    work()
    assert InboundDelivery.objects.count() == len(payloads)
    assert set(InboundDelivery.objects.values_list("state", flat=True)) == {"handled"}
    assert sorted(asked().values()) == [list(range(one, 200, THREADS)) for one in range(THREADS)]
