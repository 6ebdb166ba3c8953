"""What an agent changes for a comment in Linear, in a pull request on the project's forge."""

from __future__ import annotations

from typing import Any

import pytest

from sessions.models import Checkout, Integration, Session
from teams.models import User
from tests.sessions.factories import script
from tests.sessions.integrations.conftest import Shop, run
from tests.sessions.integrations.linear_board import board_of, link
from tests.sessions.integrations.test_reviews import ON_GITHUB
from tests.sessions.runner.drains import allow_bash

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


@ON_GITHUB
def test_an_issue_gets_a_pull_request_that_names_it(
    shop: Shop, alice: User, bob: User, settings: Any
) -> None:
    with board_of(alice, shop.outside.project, settings, pulls=True) as board:
        link(board, bob)
        call = {"tool": "bash", "input": {"command": "echo 1 >new.py", "description": "Change"}}
        board.say(f"/oc {script([call], [{'text': 'Mended.'}])}")
        session = Session.objects.get()
        allow_bash(session)
        run(session)
        # A worktree of its own: the forge knows its branch once it is pushed.
        branch = Checkout.objects.get(session=session).branch
        shop.outside.server.branches.add(branch)
        shop.settle()
        made = shop.outside.server.pulls[-1]
        assert made["title"] == "The till is wrong"
        assert made["body"].startswith("Mended.\n\nCloses ENG-7\n")
        assert shop.head(branch)
        [shown] = board.answers
        assert shown.startswith("Mended.")
        assert f"**Pull request:** [#{made['number']}](" in shown
        # The forge's own integration is another one, and has heard of nothing.
        assert Integration.objects.count() == 2
        assert shop.outside.answers == []
