from __future__ import annotations

import pytest
from pytest_django import Settings

from opencode_web.checks import require_sound_settings
from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from sessions.config.model import parse_settings
from sessions.config.network import project_network
from sessions.models import Project
from tools.sandbox.hosts import Reach, parse_target

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

NONE: JsonObject = {"policy": "none"}
OPEN: JsonObject = {"policy": "open"}


def listed(*hosts: str) -> JsonObject:
    return {"policy": "allow-list", "hosts": [*hosts]}


@pytest.mark.parametrize(
    ("server", "of_team", "of_project", "reach", "reached"),
    [
        (("allow-list",), None, None, "none", ""),
        (("open",), None, None, "none", ""),
        (("open",), OPEN, None, "open", ""),
        (("open",), OPEN, NONE, "none", ""),
        (("open",), OPEN, listed("a.test"), "allow-list", "a.test"),
        (("open",), listed("a.test", "b.test"), OPEN, "allow-list", "a.test b.test"),
        (("open",), NONE, OPEN, "none", ""),
        # Nothing is wider than the level above, list by list.
        (("allow-list",), listed("a.test"), listed("b.test"), "allow-list", ""),
        (
            ("allow-list",),
            listed("a.test", "b.test"),
            listed("b.test", "c.test"),
            "allow-list",
            "b.test",
        ),
        (("allow-list", "b.test"), listed("a.test", "*"), None, "allow-list", "b.test"),
        (("allow-list", "b.test"), OPEN, None, "allow-list", "b.test"),
        (("open", "b.test"), OPEN, None, "open", ""),
        (("allow-list",), OPEN, None, "none", ""),
        (("none",), OPEN, listed("a.test"), "none", ""),
        # What cannot be read allows nothing.
        (("open",), {"policy": "all"}, None, "none", ""),
        (("open",), OPEN, "open", "none", ""),
        (("open",), OPEN, listed("a test"), "none", ""),
        (("open",), [], None, "none", ""),
    ],
)
def test_a_project_reaches_the_least_of_what_server_team_and_project_allow(
    project: Project,
    settings: Settings,
    server: tuple[str, ...],
    of_team: JsonObject | None,
    of_project: JsonObject | None,
    reach: str,
    reached: str,
) -> None:
    settings.SANDBOX_NETWORK, *settings.SANDBOX_HOSTS = server
    project.team.config = {} if of_team is None else {"network": of_team}
    project.config = {} if of_project is None else {"network": of_project}
    network = project_network(project)
    assert network.reach == Reach(reach)
    assert (network.hosts is not None) == (reach == "allow-list")
    if network.hosts is not None:
        names = ("a.test", "b.test", "c.test")
        allowed = [one for one in names if not network.hosts.refusal(parse_target(one, 443))]
        assert allowed == reached.split()
        assert "proxy" in network.sentence


@pytest.mark.parametrize(
    ("network", "why"),
    [
        ({"policy": "all"}, "network.policy"),
        ({}, "network.policy"),
        (listed("https://a.test/"), "no host"),
        ({**OPEN, "host": ["a.test"]}, "network.host"),
    ],
)
def test_wrong_settings_are_explained(network: JsonObject, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        parse_settings({"network": network})


@pytest.mark.parametrize(
    ("reach", "hosts", "why"),
    [("closed", [], "closed"), ("allow-list", ["https://a.test"], "name alone")],
)
def test_the_server_does_not_start_with_a_network_it_does_not_understand(
    settings: Settings, reach: str, hosts: list[str], why: str
) -> None:
    settings.SANDBOX_NETWORK, settings.SANDBOX_HOSTS = reach, hosts
    with pytest.raises(SystemExit, match=f"(?s){why}.*E009"):
        require_sound_settings()
