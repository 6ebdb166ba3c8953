from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from sessions.config.effective import project_config
from sessions.mcp.servers import digest_of
from sessions.models import McpServer, Project, Session
from sessions.rules.in_force import session_setup
from sessions.runner.offers.mcp_tools import offered_mcp
from teams.models import Team, User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


def tool(name: str) -> dict[str, object]:
    return {"name": f"shop_{name}", "remote": name, "description": f"Does {name}", "parameters": {}}


@pytest.fixture
def path(project: Project) -> str:
    project.config = {
        "mcp": {"shop": {"command": ["shop"]}},
        "permission": {"bash": "ask", "shop_stock": {"*": "deny", "tea": "allow"}},
    }
    project.save()
    McpServer.objects.create(
        project=project,
        name="shop",
        digest=digest_of(project_config(project).mcp["shop"]),
        tools=[tool("stock"), tool("order"), tool("burn")],
        asked_at=timezone.now(),
    )
    return f"/t/acme/p/{project.pk}/mcp/s/shop/tools"


def offered(session: Session) -> set[str]:
    session = Session.objects.select_related("project__team").get(pk=session.pk)
    return {one.name for one in offered_mcp(session, session_setup(session, "build"), None)}


def seen_on(browser: Client, path: str) -> str:
    found = re.search(r'name="seen" value="([^"]*)"', browser.get(path).content.decode())
    assert found is not None
    return found[1]


def test_a_tool_is_switched_off_and_another_allowed(
    path: str, project: Project, session: Session, adam: User, client_for: ClientFor
) -> None:
    """FEAT-0008 FR-03."""
    browser = client_for(adam)
    assert path in browser.get(f"/t/acme/p/{project.pk}/mcp").content.decode()
    assert offered(session) == {"shop_stock", "shop_order", "shop_burn"}
    sent = {"rule-shop_order": "allow", "rule-shop_burn": "deny", "rule-shop_stock": "deny"}
    seen = seen_on(browser, path)
    assert browser.post(path, {**sent, "seen": seen}).status_code == 302
    project.refresh_from_db()
    # What was there keeps its place: of rules the order counts.
    assert list(project.config["permission"].items()) == [  # type: ignore[union-attr]
        ("bash", "ask"),
        ("shop_stock", {"*": "deny", "tea": "allow"}),
        ("shop_order", "allow"),
        ("shop_burn", "deny"),
    ]
    assert offered(session) == {"shop_stock", "shop_order"}
    page = browser.get(path).content.decode()
    assert "Not offered" in page
    assert "Allowed" in page
    # Somebody else has changed them since.
    assert browser.post(path, {**sent, "seen": seen}).status_code == 409
    again = {"rule-shop_burn": "", "seen": seen_on(browser, path)}
    assert browser.post(path, again).status_code == 302
    assert offered(session) == {"shop_stock", "shop_order", "shop_burn"}


def test_who_is_no_admin_reads_it_alone(
    path: str, project: Project, team: Team, bob: User, adam: User, client_for: ClientFor
) -> None:
    browser = client_for(bob)
    page = browser.get(path).content.decode()
    assert "Does burn" in page
    assert "Team admins can change this." in page
    before = project.config
    assert browser.post(path, {"rule-shop_burn": "allow", "seen": ""}).status_code == 403
    wrong = {"rule-shop_burn": "everything", "seen": seen_on(client_for(adam), path)}
    assert client_for(adam).post(path, wrong).status_code == 400
    project.refresh_from_db()
    assert project.config == before
