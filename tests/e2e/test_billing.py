"""Somebody is made a billing contact while they look at a session, and goes on from there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from bench.npm import Unavailable
from tests.e2e.axe import find_faults, install_axe
from tests.e2e.browser import in_chromium
from tests.e2e.installation import Installation
from tests.e2e.rest import body, new_session, script, wait_for
from tests.e2e.test_budgets import PRICED
from tests.e2e.test_together import bobs as bobs
from tests.e2e.test_together import open_both, set_role

pytestmark = [*in_chromium, pytest.mark.deep]


@pytest.fixture
def pages(signed_in: BrowserContext, bobs: BrowserContext) -> Iterator[tuple[Page, Page]]:
    both = signed_in.new_page(), bobs.new_page()
    problems: list[str] = []
    for page in both:
        page.on("pageerror", lambda error: problems.append(str(error)))
    yield both
    for page in both:
        page.close()
    assert problems == []


def spend(server: Installation, session: str) -> None:
    with server.client() as client:
        client.patch("/config", json=PRICED).raise_for_status()
        client.post(f"/session/{session}/prompt_async", json=body(script([{"text": "done"}])))
        wait_for(lambda: client.get(f"/session/{session}").json()["tokens"]["output"] > 0)


def look(page: Page, name: str) -> None:
    try:
        axe = install_axe()
    except Unavailable as exc:
        pytest.skip(f"axe-core: {exc}")
    assert list(find_faults(page, name, axe)) == []


def test_fr_02_who_becomes_billing_loses_the_work_at_once_and_keeps_the_money(
    server: Installation, pages: tuple[Page, Page]
) -> None:
    ada, bob = pages
    session = open_both(server, pages)
    spend(server, session)
    address = bob.url
    set_role(server, ada, "billing")
    notice = bob.get_by_text("You no longer have access")
    expect(notice).to_be_visible()
    assert bob.goto(address).status == 404  # type: ignore[union-attr]
    expect(bob.get_by_text("your role in Till team is billing contact")).to_be_visible()
    look(bob, "billing-not-found")

    bob.get_by_role("link", name="Go to your teams").click()
    expect(bob).to_have_url(re.compile("/usage$"))
    expect(bob.locator("#usage-members")).to_contain_text("ada@team")
    with bob.expect_download() as begun:
        bob.get_by_role("link", name="Download as CSV").click()
    assert f"ada@team-{server.teams}.example.com" in begun.value.path().read_text()
    nav = bob.get_by_role("navigation", name="Settings").get_by_role("link")
    assert nav.all_inner_texts() == ["Members", "Roles", "Usage", "Budgets", "Approvals"]
    expect(bob.get_by_role("link", name="Inbox")).to_have_count(0)
    expect(bob.locator("#live")).to_be_hidden()
    look(bob, "billing-usage")

    bob.keyboard.press("Control+k")
    found = bob.locator("dialog[open] [role=option]")
    names = ("Go to", "Show commands", "Sign out", "Documentation", "Install app", "Usage")
    shown = [re.compile(f"^{name}") for name in names]
    expect(found).to_have_text(shown)
    bob.keyboard.type("budg")
    expect(found).to_have_text([re.compile("Budgets")])
    look(bob, "billing-palette")
    bob.keyboard.press("Enter")
    expect(bob).to_have_url(re.compile("/settings/budgets$"))
    bob.get_by_label("For the whole team").fill("25")
    bob.get_by_label("For one session").fill("2.5")
    bob.get_by_role("button", name="Save").first.click()
    expect(bob.get_by_text("Saved. Sessions that wait")).to_be_visible()
    expect(bob.get_by_text("of $25.00").first).to_be_visible()
    expect(bob.get_by_text("$2.50")).to_be_visible()
    look(bob, "billing-budgets")

    bob.keyboard.press("?")
    keys = bob.get_by_role("dialog", name="Commands and shortcuts").locator("dt:visible")
    expect(keys).to_have_text(
        ["Go to the next pane", "Usage", "Search and navigate", "Show commands and shortcuts"]
    )
    bob.keyboard.press("Escape")
    bob.keyboard.press("g")
    bob.keyboard.press("h")
    expect(bob).to_have_url(re.compile("/usage$"))
    bob.set_viewport_size({"width": 390, "height": 844})
    bob.get_by_label("switch team").click()
    menu = bob.locator(".menu[open] a.menu-item")
    expect(menu).to_have_text([re.compile(one) for one in ("Till", "Members", "Usage")])
    menu.get_by_text("Members").click()
    expect(bob.get_by_role("heading", name="Members", level=1)).to_be_visible()
    expect(bob.locator("table.people")).to_contain_text("ada@team")
    expect(bob.get_by_role("button", name="Create link")).to_have_count(0)
    look(bob, "billing-members")
    # A session of another day finds the same.
    with server.client() as client:
        later = new_session(client)
    assert bob.request.get(f"{server.url}/t/{server.team}/s/{later}").status == 404
    assert bob.request.get(f"{server.url}/session/{later}").status == 404
    set_role(server, ada, "member")
    assert bob.request.get(f"{server.url}/t/{server.team}/s/{later}").status == 200


# What a shell of the server runs to have the month nearly spent.
_SPEND = """
from decimal import Decimal
from django.contrib.auth import get_user_model
from teams.models import Team
from teams.tasks import note
from tests.factories import make_usage
team = Team.objects.get(pk={team!r})
bob = get_user_model().objects.get(email="bob@team-{teams}.example.com")
make_usage(team, bob, cost=Decimal("8.50"))
make_usage(team, None, cost=Decimal("0.10"))
note()
"""


def test_fr_02_a_warning_stands_until_it_is_put_away_and_is_kept(
    server: Installation, pages: tuple[Page, Page]
) -> None:
    ada, bob = pages
    home = f"{server.url}/t/{server.team}/"
    ada.goto(home)
    expect(ada.locator("#budget-notices")).to_have_count(0)
    with server.client() as client:
        client.put("/budget", json={"team": 10, "each": 8.5}).raise_for_status()
    server.run(_SPEND.format(team=server.team, teams=server.teams))
    ada.goto(home)
    expect(ada.locator("#budget-notices form")).to_have_count(2)
    look(ada, "budget-notices-home")
    bob.goto(home)
    own = bob.locator("#budget-notices form").filter(has_text="your budget")
    expect(own).to_have_text(re.compile("100 % of your budget for this month is spent: .8.50 of"))
    own.get_by_role("button", name="Dismiss this warning").click()
    expect(own).to_have_count(0)
    expect(bob).to_have_url(re.compile(f"/t/{server.team}/|/t/till-team"))

    ada.goto(home + "usage")
    look(ada, "budget-notices-usage")
    ada.get_by_role("link", name="Open the budgets").first.click()
    expect(ada.locator("#budget-notices form")).to_have_count(2)
    look(ada, "budget-notices-budgets")
    for left in (1, 0):
        ada.get_by_role("button", name="Dismiss this warning").first.click()
        expect(ada.locator("#budget-notices form")).to_have_count(left)
    expect(ada.get_by_text("86 % of the team's budget")).to_be_visible()
    with server.client() as client:
        client.put("/budget", json={}).raise_for_status()
