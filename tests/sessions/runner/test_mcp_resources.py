from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from sessions.config.effective import project_config
from sessions.mcp.servers import resources_of_servers
from sessions.models import McpServer, Project, Session, State
from teams.models import User
from tests.sessions.factories import prompt
from tests.sessions.runner.drains import drain
from tests.sessions.runner.test_custom_tools import answer, called, states
from tests.sessions.runner.test_mcp_tools import set_up
from tests.sessions.runner.test_secrets import VALUE, give
from tests.tools.mcp.servers import canned

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
CAN = {"initialize": {"capabilities": {"resources": {}}}}
HOURS = {"uri": "shop://hours", "name": "Opening \x1b[1mhours", "mimeType": "text/plain"}


def shop(project: Project, more: dict[str, Any], name: str = "shop.py") -> dict[str, Any]:
    answers = {**CAN, "resources/list": {"resources": [HOURS, {"name": "lost"}]}, **more}
    return {"command": list(canned(Path(project.directory), answers, name))}


async def test_a_resource_is_asked_for_and_read(
    session: Session, project: Project, alice: User
) -> None:
    """FEAT-0008 FR-03."""
    held = {"contents": [{"uri": HOURS["uri"], "text": "9 to 5"}]}
    await in_db(lambda: set_up(project, shop=shop(project, {"resources/read": held})))
    read = called("read_mcp_resource", server="shop", uri=HOURS["uri"])
    await in_db(prompt, alice, session, read)
    session = await drain(session)
    assert session.state == State.WAITING
    request = await answer(alice, session)
    assert (request.permission, request.patterns) == ("read", ["mcp:shop:shop://hours"])
    assert request.metadata == {"server": "shop", "uri": "shop://hours"}
    session = await drain(session)
    [state] = await states(session)
    assert (state["status"], state["output"]) == ("completed", "9 to 5")
    config = await in_db(project_config, project)
    assert await in_db(resources_of_servers, project, config.mcp, None) == {
        "shop:Opening__1mhours": {
            "uri": "shop://hours",
            "name": "Opening [1mhours",
            "mimeType": "text/plain",
            "client": "shop",
        }
    }


async def test_what_can_be_read_is_listed_without_what_the_server_was_given(
    session: Session, project: Project, alice: User
) -> None:
    """FEAT-0008 NFR-02."""
    await in_db(give, project, alice)
    template = {"uriTemplate": "shop://shelf/{n}", "name": "SAYS"}
    server = shop(project, {"resources/templates/list": {"resourceTemplates": [template]}})
    file = Path(project.directory, server["command"][-1])
    file.write_text(file.read_text().replace("SAYS", "' + __import__('os').environ['GIVEN'] + '"))
    server["environment"] = {"GIVEN": "{env:TOKEN}"}
    none = {"command": list(canned(Path(project.directory), {}, "none.py"))}
    await in_db(lambda: set_up(project, shop=server, none=none))
    await in_db(prompt, alice, session, called("list_mcp_resource_templates"))
    session = await drain(session)
    request = await answer(alice, session)
    # Those that know no resources are not asked for any.
    assert request.patterns == ["mcp:shop:*"]
    await drain(session)
    [state] = await states(session)
    [found] = json.loads(state["output"])["resourceTemplates"]
    assert (found["server"], found["uriTemplate"]) == ("shop", "shop://shelf/{n}")
    assert VALUE not in json.dumps(state)


async def test_one_server_that_fails_leaves_what_the_others_list(
    session: Session, project: Project, alice: User
) -> None:
    other = shop(project, {}, "other.py")
    await in_db(lambda: set_up(project, shop=shop(project, {}), other=other))
    await in_db(prompt, alice, session, called("list_mcp_resources"))
    session = await drain(session)
    request = await answer(alice, session)
    assert request.patterns == ["mcp:other:*", "mcp:shop:*"]
    Path(project.directory, "other.py").write_text("changed")
    session = await drain(session)
    [state] = await states(session)
    listed = json.loads(state["output"])
    assert [one["server"] for one in listed["resources"]] == ["shop", "shop"]
    assert [one.split(":")[0] for one in listed["problems"]] == ["other"]
    await in_db(prompt, alice, session, called("list_mcp_resources", server="none"))
    await drain(session)
    assert (
        "No MCP server 'none' has resources. These have: other, shop."
        in (await states(session))[1]["error"]
    )


async def test_without_a_server_that_has_some_there_is_nothing_to_read_them_with(
    session: Session, project: Project, alice: User
) -> None:
    argv = canned(Path(project.directory), {})
    await in_db(lambda: set_up(project, shop={"command": list(argv)}))
    await in_db(prompt, alice, session, called("list_mcp_resources"))
    session = await drain(session)
    [state] = await states(session)
    assert "There is no tool 'list_mcp_resources'" in state["output"]
    assert (await in_db(McpServer.objects.get)).resources is None
