"""An MCP server, from its form to the card of a call and the command that its prompt is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import of_page
from tests.e2e.installation import Installation
from tests.e2e.rest import ask, body, new_session, script, text_of, wait_for
from tests.e2e.test_workspace import settle
from tests.tools.mcp.servers import canned, living

pytestmark = [*of_page, pytest.mark.deep]
# One red point.
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJ"
    "RU5ErkJggg=="
)
ANSWERS = {
    "initialize": {"capabilities": {"tools": {}, "prompts": {}, "resources": {}}},
    "tools/list": {
        "tools": [
            {
                "name": "stock",
                "description": "Says what is there.",
                "inputSchema": {"properties": {"item": {"type": "string"}}},
            }
        ]
    },
    "tools/call": {
        "content": [
            {"type": "text", "text": "3 bags of tea"},
            {"type": "image", "mimeType": "image/png", "data": PNG},
        ]
    },
    "prompts/list": {
        "prompts": [
            {"name": "restock", "description": "Orders more.", "arguments": [{"name": "item"}]}
        ]
    },
    "resources/list": {
        "resources": [
            {"uri": "shop://hours", "name": "Opening hours", "description": "When it is open."}
        ]
    },
    "resources/read": {"contents": [{"uri": "shop://hours", "text": "9 to 5"}]},
    "prompts/get": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Order more $1."}}]
    },
}


def last_prompt(client: httpx.Client, session: str) -> dict[str, Any]:
    messages: list[dict[str, Any]] = client.get(f"/session/{session}/message").json()
    return [one for one in messages if one["info"]["role"] == "user"][-1]


def test_a_server_is_set_up_accepted_called_and_its_prompt_offered(
    page: Page, client: httpx.Client, server: Installation
) -> None:
    team = f"{server.url}/t/{server.team}"
    command = canned(Path(client.get("/path").json()["worktree"]), ANSWERS)
    page.goto(f"{team}/settings/mcp/")
    page.get_by_role("link", name="New server").click()
    page.get_by_label("Type").select_option(label="A remote server")
    expect(page.get_by_label("Command", exact=True)).to_be_hidden()
    page.get_by_label("Type").select_option(label="A program in the sandbox")
    expect(page.get_by_label("Address")).to_be_hidden()
    page.get_by_label("Name").fill("shop")
    page.get_by_label("Command", exact=True).fill(" ".join(command))
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("shop saved")).to_be_visible()

    page.goto(f"{team}/p/{server.project}/mcp")
    expect(page.get_by_text("Not accepted yet")).to_be_visible()
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_text("shop can run these files")).to_be_visible()

    session = new_session(client)
    ask(client, session, script([{"text": "Hello."}]))
    work = script([{"tool": "shop_stock", "input": {"item": "tea"}}], [{"text": "Enough."}])
    client.post(f"/session/{session}/prompt_async", json=body(work))

    page.goto(f"{team}/s/{session}")
    card = page.locator("[data-permission]")
    expect(card).to_contain_text("Allow shop: stock?")
    expect(card.locator("pre")).to_have_text('{ "item": "tea" }')
    row = page.locator("details[data-tool=shop_stock]")
    expect(row.locator("summary b")).to_have_text("shop: stock")
    settle(page)
    card.get_by_role("button", name="Allow once").click()
    expect(page.get_by_role("log")).to_contain_text("Enough.")
    row.locator("summary").click()
    expect(row.locator("dd")).to_have_text("tea")
    expect(row.locator("pre")).to_have_text("3 bags of tea")
    picture = row.get_by_role("img")
    expect(picture).to_be_visible()
    expect(picture).to_have_js_property("naturalWidth", 1)

    page.locator("#prompt").press_sequentially("/shop")
    offered = page.get_by_role("option", name="/shop:restock")
    expect(offered).to_contain_text("item · Orders more.")
    offered.click()
    expect(page.locator("#prompt")).to_have_value("/shop:restock item=")

    page.locator("#prompt").fill("")
    page.locator("#prompt").press_sequentially("@hours")
    offered = page.get_by_role("option", name="Opening hours")
    expect(offered).to_contain_text("shop · When it is open.")
    offered.click()
    expect(page.locator("#prompt")).to_have_value("@shop:shop://hours ")
    page.locator("#prompt").fill(f"@shop:shop://hours {script([{'text': 'From nine.'}])}")
    page.locator("#prompt").press("Enter")
    expect(page.get_by_role("log")).to_contain_text("From nine.")
    turn = page.locator("[data-turn]").last
    expect(turn.locator(".prompt-mention")).to_have_text("@shop:shop://hours")
    expect(turn.locator(".prompt-files")).to_have_text("Opening hours · shop")
    # The log has the answer's words from the prompt on, before it is read.
    wait_for(lambda: "\n9 to 5\n" in text_of(last_prompt(client, session)))
    [named] = [part for part in last_prompt(client, session)["parts"] if part["type"] == "file"]
    assert (named["source"]["clientName"], named["source"]["uri"]) == ("shop", "shop://hours")
    source = {"type": "resource", "clientName": "shop", "uri": "shop://hours"}
    part = {"type": "file", "mime": "text/plain", "url": "shop://hours", "source": source}
    given = body(script([{"text": "Again."}]))
    client.post(f"/session/{session}/message", json={**given, "parts": [*given["parts"], part]})
    expect(page.get_by_role("log")).to_contain_text("Again.")
    expect(page.locator(".prompt-files").last).to_have_text("hours · shop")

    page.goto(f"{team}/p/{server.project}/mcp")
    expect(page.get_by_text("Connected")).to_be_visible()
    page.get_by_text("1 tool").click()
    expect(page.get_by_text("Says what is there.")).to_be_visible()
    page.get_by_role("button", name="Turn off").click()
    expect(page.get_by_text("shop turned off.")).to_be_visible()
    assert client.get("/mcp").json() == {"shop": {"status": "disabled"}}
    client.patch("/config", json={"mcp": None})
    client.patch("/global/config", json={"mcp": None})


def test_a_server_asks_the_model_when_a_person_allows_it(
    page: Page, client: httpx.Client, server: Installation
) -> None:
    team = f"{server.url}/t/{server.team}"
    command = living(Path(client.get("/path").json()["worktree"]))
    page.goto(f"{team}/p/{server.project}/mcp/new")
    page.get_by_label("Name", exact=True).fill("living")
    page.get_by_label("Command", exact=True).fill(" ".join(command))
    page.get_by_label("Model access").select_option(label="Ask each time")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Can ask the model, each time with permission.")).to_be_visible()
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_text("living can run these files")).to_be_visible()

    session = new_session(client)
    said = {"type": "text", "text": f"Name a tea. {script([{'text': 'Sencha'}])}"}
    message = {"messages": [{"role": "user", "content": said}], "maxTokens": 50}
    steps = [{"tool": "living_sample", "input": {"message": message}}], [{"text": "Enough."}]
    client.post(f"/session/{session}/prompt_async", json=body(script(*steps)))
    page.goto(f"{team}/s/{session}")
    card = page.locator("[data-permission]")
    expect(card).to_contain_text("Allow living: sample?")
    settle(page)
    card.get_by_role("button", name="Allow once").click()
    expect(card).to_contain_text("Let the model answer the MCP server living?")
    expect(card.locator("pre")).to_contain_text("User: Name a tea.")
    settle(page)
    card.get_by_role("button", name="Allow once").click()
    row = page.locator("details[data-tool=living_sample]")
    expect(row.locator("summary")).to_contain_text("asked the model:")
    row.locator("summary").click()
    expect(row.locator("pre")).to_contain_text("Sencha")
    client.patch("/config", json={"mcp": None})
