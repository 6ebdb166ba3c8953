"""A team with a session in each state, so that every page has something on it."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import BrowserContext

from tests.e2e.installation import Installation
from tests.e2e.rest import approve_everything, ask, body, new_session, script, wait_for

_MARKDOWN = """Here is what I found.

## Causes

1. `total()` keeps the discount, see [the manual](https://example.org/manual).
2. A *second* cause with **weight**.

| amount | discount |
| --- | --- |
| 10.00 | 10 % |

> Quoted from the readme.

```python
def total(self) -> int:
    return self.subtotal() * (100 - self.discount_percent) // 100
```
"""
Names = dict[str, str]
_BROKEN = "raise SystemExit('no such till')"


def _work(folder: Path) -> str:
    (folder / "unused.txt").write_text("once\n")
    patch = "*** Begin Patch\n*** Update File: unused.txt\n@@\n-once\n+twice\n*** End Patch"
    old, new = (f"self.subtotal() * {part} // 100" for part in ("self.discount_percent", "90"))
    todos = [
        {"content": "Read the till", "status": "completed", "priority": "high"},
        {"content": "Mend the discount", "status": "in_progress", "priority": "medium"},
    ]
    return script(
        [
            {"reasoning": "The till keeps the discount. First I look."},
            {"text": "I look first."},
            {"tool": "read", "input": {"filePath": "till.py"}},
            {"tool": "grep", "input": {"pattern": "discount"}},
            {"tool": "glob", "input": {"pattern": "*.py"}},
            {"tool": "todowrite", "input": {"todos": todos}},
        ],
        [
            {"tool": "bash", "input": {"command": "echo one; echo two", "description": "Count"}},
            {"tool": "bash", "input": {"command": f'python3 -c "{_BROKEN}"'}},
            {"tool": "write", "input": {"filePath": "notes.md", "content": "# Notes\n\nOne.\n"}},
            {"tool": "read", "input": {"filePath": "missing.py"}},
        ],
        [{"tool": "edit", "input": {"filePath": "till.py", "oldString": old, "newString": new}}],
        [{"tool": "apply_patch", "input": {"patchText": patch}}],
        [{"text": _MARKDOWN}],
    )


def _folder(client: httpx.Client) -> Path:
    return Path(client.get("/path").json()["worktree"])


def make_world(server: Installation, client: httpx.Client) -> Names:
    """Returns: the id of a session for each state, and what else the addresses of pages name."""
    names = {"team": server.team, "project": server.project}

    def begin(state: str, *steps: list[dict[str, Any]]) -> str:
        session = names[state] = new_session(client)
        client.post(f"/session/{session}/prompt_async", json=body(script(*steps)))
        return session

    stop = threading.Event()
    approving = approve_everything(client, stop)
    names["done"] = new_session(client)
    ask(client, names["done"], _work(_folder(client)))
    names["edit"] = _part_of(client, names["done"], "edit")
    names["parent"] = new_session(client)
    work = script([{"tool": "read", "input": {"filePath": "till.py"}}], [{"text": "Looked."}])
    given = {"description": "Look at the till", "prompt": work, "subagent_type": "general"}
    ask(client, names["parent"], script([{"tool": "task", "input": given}], [{"text": "Done."}]))
    names["child"] = client.get(f"/session/{names['parent']}/children").json()[0]["id"]
    names["reverted"] = new_session(client)
    turn = ask(client, names["reverted"], script([{"text": "Taken back."}]))
    client.post(
        f"/session/{names['reverted']}/revert", json={"messageID": turn["info"]["parentID"]}
    )
    stop.set()
    approving.join()

    names["empty"] = new_session(client)
    begin("asking", [{"tool": "bash", "input": {"command": "rm -r build"}}])
    options = [{"label": "Red", "description": "Like a fire."}, {"label": "Blue"}]
    questions = [
        {"question": "Which colour?", "header": "Colour", "options": options},
        {"question": "Which others?", "header": "More", "options": options, "multiple": True},
    ]
    begin("questioned", [{"tool": "question", "input": {"questions": questions}}])
    refused = {"status": 401, "message": "The key is wrong."}
    begin("failed", [{"text": "Half an "}, {"error": refused}])
    limited = {"status": 429, "message": "Too many requests.", "retry_after_s": 600}
    begin("retrying", [{"error": limited}])
    running = begin("running", [{"text": "This takes long."}, {"delay_ms": 600_000}])
    states = {"running": "busy", "retrying": "retry"}
    wait_for(lambda: _are(client, {names[one]: kind for one, kind in states.items()}))
    wait_for(lambda: len(client.get("/permission").json()) == 1)
    wait_for(lambda: len(client.get("/question").json()) == 1)
    for text in ("And then the readme.", "And the tests."):
        client.post(f"/session/{running}/prompt_async", json=body(text))
    return names


def _part_of(client: httpx.Client, session: str, tool: str) -> str:
    messages = client.get(f"/session/{session}/message").json()
    parts = [part for message in messages for part in message["parts"]]
    return next(str(part["id"]) for part in parts if part.get("tool") == tool)


def _are(client: httpx.Client, wanted: dict[str, str]) -> bool:
    found = client.get("/session/status").json()
    return all(found.get(one, {}).get("type") == kind for one, kind in wanted.items())


def share(client: httpx.Client, session: str) -> str:
    """Returns: the token in the address of a public page of the session."""
    client.patch("/global/config", json={"sharing": {"links": "public"}})
    answer = client.post(f"/session/{session}/share")
    assert answer.status_code == 200, answer.text
    return str(answer.json()["share"]["url"]).rsplit("/", 1)[1]


def make_belongings(server: Installation, client: httpx.Client, browser: BrowserContext) -> Names:
    """Returns: what the team has beside its sessions, by the name in the addresses of pages."""
    plan = {"name": "Nightly", "prompt": "Look at the till.", "cron": "0 3 * * *"}
    hook = {"url": "http://127.0.0.1:9/hook", "events": ["session.idle"]}
    schedule = client.post("/schedule", json=plan)
    webhook = client.post("/webhook", json=hook)
    assert (schedule.status_code, webhook.status_code) == (200, 200), schedule.text + webhook.text
    settings = f"{server.url}/t/{server.team}/settings/"
    shop = {"command": ["python3", "till.py"], "environment": {"TOKEN": "{env:TOKEN}"}}
    files = {"type": "local", "command": ["mcp-files", "/srv"], "enabled": False}
    client.patch("/global/config", json={"mcp": {"files": files}})
    client.patch("/config", json={"mcp": {"shop": shop}})
    skill = {"name": "till", "description": "How tills work.", "text": "# Tills\n\nThey count."}
    guest = {"email": "guest@example.com", "role": "member", "days": "7"}
    page = f"{server.url}/t/{server.team}/p/{server.project}/"
    on_github = {"remote_url": "https://github.com/acme/till.git"}
    _submit(browser, page, "publishing", on_github, "()")
    integration = client.put(f"/project/{server.project}/integration", json={})
    assert integration.status_code == 200, integration.text
    rule = {"trigger": "issue_opened", "prompt": "Look at {url}."}
    rules = [client.post(f"/project/{server.project}/integration/rule", json=rule) for _ in "12"]
    return {
        "forge_rule": str(rules[1].json()["id"]),
        "schedule": str(schedule.json()["id"]),
        "webhook": str(webhook.json()["id"]),
        "skill": _submit(browser, f"{settings}skills/", "new", skill, r"/skills/s/([^/\"]+)\""),
        "service": _submit(
            browser, settings, "services", {"name": "Robot", "role": "member"}, r"/services/(\d+)\""
        ),
        "group": _submit(
            browser, settings, "groups", {"name": "Reviewers"}, r"/groups/(tgr_\w+)/members"
        ),
        "invite": _submit(browser, settings, "invites", guest, r"/invite/([^\"<\s]+)"),
        "provider": "demo",
        "mcp_client": _register(client),
    }


def _register(client: httpx.Client) -> str:
    wanted = {"redirect_uris": ["http://127.0.0.1/callback"], "client_name": "Claude Code"}
    return str(client.post("/oauth/register", json=wanted).json()["client_id"])


def _submit(browser: BrowserContext, base: str, path: str, form: dict[str, str], found: str) -> str:
    """Send a form as the page would. Returns: what the pattern finds on the page that follows."""
    page = browser.request.get(base)
    cookies = {cookie["name"]: cookie["value"] for cookie in browser.cookies(base)}
    assert page.ok, page.status
    headers = {"X-CSRFToken": cookies["csrftoken"], "Origin": base.split("/t/")[0]}
    answer = browser.request.post(base + path, form=form, headers=headers)
    match = re.search(found, answer.text())
    assert match, f"{answer.status} {answer.url}"
    return match[1]
