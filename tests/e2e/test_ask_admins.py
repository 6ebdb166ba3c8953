"""A member waits for an answer that only admins can give."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.browser import in_chromium, watched
from tests.e2e.installation import Installation
from tests.e2e.rest import body, new_session
from tests.e2e.test_budgets import COSTLY, PRICED
from tests.e2e.test_together import bobs as bobs

pytestmark = [*in_chromium, pytest.mark.deep]


def test_fr_02_a_member_reads_who_can_allow_more_cost_and_asks_them(
    server: Installation, signed_in: BrowserContext, bobs: BrowserContext
) -> None:
    with server.client() as client, watched(signed_in) as admins, watched(bobs) as members:
        config = {**PRICED, "limits": {"session_cost": "0.50"}}
        client.patch("/config", json=config).raise_for_status()
        session = new_session(client)
        text = json.dumps({"name": "e2e", "turns": [COSTLY] * 9, "otherwise": COSTLY[-1:]})
        sent = client.post(f"/session/{session}/prompt_async", json=body(f"<<script{text}>>"))
        sent.raise_for_status()
        members.goto(f"{server.url}/t/{server.team}/s/{session}")
        # A page of no team has the inbox of the last one.
        admins.goto(f"{server.url}/me/profile")
        card = members.locator("[data-permission]")
        expect(card).to_contain_text("ada can answer this.")
        expect(card.get_by_role("button", name="Continue")).to_be_hidden()
        status = members.locator(f"#status-{session}")
        expect(status).to_have_text("Waiting for an admin", use_inner_text=True)
        others = members.get_by_role("group", name="Waiting for others")
        expect(others.locator(f"#row-{session}")).to_be_visible()
        expect(members.locator(".topbar [data-inbox]")).to_be_hidden()
        expect(admins.locator(".topbar [data-live]")).to_have_text("Live")
        expect(admins.locator(".topbar [data-inbox]")).to_have_text("1")
        admins.get_by_role("link", name="Inbox").click()
        members.wait_for_timeout(600)
        card.get_by_role("button", name="Ask them").click()
        expect(card).to_contain_text("has asked them.")
        expect(card.get_by_role("button", name="Ask them")).to_have_count(0)

        row = admins.locator(f"#row-{session}")
        expect(row).to_contain_text("asks the admins · Cost limit: $1.00 of $0.50")
        answer = admins.locator("#inbox").get_by_role("button", name="Continue")
        expect(admins.locator("#inbox").get_by_role("button", name="Ask them")).to_be_hidden()
        # What has just been drawn anew takes no answer yet.
        admins.wait_for_timeout(600)
        answer.click()
        # The next step may cost too much again, which is another question.
        expect(card.filter(has_text="has asked them.")).to_have_count(0)
