from __future__ import annotations

from typing import Any

import pytest

from opencode_web.lib.errors import Invalid
from sessions.agents.loader import (
    agent_to_wire,
    choose_agent,
    find_agent,
    load_agents,
    ordered_agents,
)
from sessions.config.model import Config


def config(**data: Any) -> Config:
    return Config.model_validate(data)


def test_the_built_in_agents() -> None:
    agents = load_agents(config())
    facts = [(agent.name, agent.mode, agent.hidden) for agent in agents.values()]
    assert facts == [
        ("build", "primary", False),
        ("plan", "primary", False),
        ("general", "subagent", False),
        ("explore", "subagent", False),
        ("compaction", "primary", True),
        ("title", "primary", True),
        ("summary", "primary", True),
    ]
    assert agents["title"].temperature == 0.5
    assert all(agent.description and agent.native for agent in agents.values())


def test_the_notes_of_a_compaction_have_their_sections_in_order() -> None:
    prompt = load_agents(config())["compaction"].prompt
    headings = [line.lstrip("# ") for line in prompt.splitlines() if line.startswith("##")]
    assert headings == [
        *("Objective", "Important Details", "Work State", "Completed", "Active", "Blocked"),
        *("Next Move", "Relevant Files"),
    ]


@pytest.mark.parametrize(
    ("data", "names"),
    [
        ({}, ["build", "compaction", "explore", "general", "plan", "summary", "title"]),
        ({"default_agent": "plan"}, ["plan", "build", "compaction", "explore"]),
        ({"agent": {"build": {"disable": True}}}, ["plan", "compaction", "explore"]),
        ({"agent": {"audit": {"mode": "primary"}}}, ["build", "audit", "compaction"]),
    ],
)
def test_the_default_agent_is_listed_first_and_the_others_by_name(
    data: dict[str, Any], names: list[str]
) -> None:
    listed = [agent.name for agent in ordered_agents(config(**data))]
    assert listed[: len(names)] == names


@pytest.mark.parametrize("name", ["nobody", "explore", "title"])
def test_a_default_that_people_cannot_choose_is_refused(name: str) -> None:
    settings = config(default_agent=name)
    with pytest.raises(Invalid, match=f'"{name}".*Available agents: build, plan'):
        choose_agent(settings, None)
    assert choose_agent(settings, "plan").name == "plan"
    assert find_agent(settings, "gone").name == "build"


def test_an_unknown_agent_is_refused_with_those_there_are() -> None:
    with pytest.raises(Invalid, match=r'Agent not found: "x"\. Available agents: build, plan'):
        choose_agent(config(), "x")


def test_a_server_keeps_an_agent_when_the_settings_disable_all() -> None:
    both = {name: {"disable": True} for name in ("build", "plan")}
    assert choose_agent(config(agent=both), None).name == "build"


def test_settings_change_an_agent_and_reach_the_wire() -> None:
    own = {"maxSteps": 3, "model": "a/b", "variant": "high", "color": "accent", "hidden": True}
    settings = config(agent={"build": {**own, "options": {"seed": 7}}, "plan": {"hidden": False}})
    agent = load_agents(settings)["build"]
    wire = agent_to_wire(agent, ())
    assert (agent.steps, agent.options, agent.description != "") == (3, {"seed": 7}, True)
    assert wire["model"] == {"providerID": "a", "modelID": "b"}
    assert {key: wire[key] for key in ("steps", "variant", "color", "options", "hidden")} == {
        "steps": 3,
        "variant": "high",
        "color": "accent",
        "options": {},
        "hidden": True,
    }
