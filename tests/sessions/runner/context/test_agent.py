from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sessions.agents.loader import Agent, load_agents
from sessions.agents.texts import read_text
from sessions.config.model import Config
from sessions.runner.context import agent, mode
from sessions.runner.context.registry import observe, render_baseline, render_changes
from tests.sessions.runner.context.inputs import BUILD, make_inputs

AGENTS = load_agents(Config())
REVIEWER = Agent(name="reviewer", description="", mode="all", prompt="You review code.")


def test_the_agents_own_instructions_replace_those_of_the_family(tmp_path: Path) -> None:
    inputs = make_inputs(tmp_path, agent=AGENTS["build"], api_model="gemini-2.5-pro")
    assert agent.SOURCE.observe(inputs, None) == read_text("gemini")
    assert agent.SOURCE.observe(replace(inputs, agent=BUILD), None) == "You write code."


def test_a_switch_within_the_family_tells_nothing(tmp_path: Path) -> None:
    inputs = make_inputs(tmp_path, agent=AGENTS["build"], api_model="claude-sonnet-4-5")
    other = replace(inputs, api_model="claude-opus-4-5")
    assert observe(other, {}) == observe(inputs, {})


def test_a_switch_of_the_agent_tells_its_instructions(tmp_path: Path) -> None:
    inputs = make_inputs(tmp_path, agent=AGENTS["build"])
    old = observe(inputs, {})
    text = render_changes(old, observe(replace(inputs, agent=REVIEWER), old))
    assert text.endswith("no longer by the earlier ones:\n\nYou review code.")


def test_plan_mode_is_told_when_it_begins_and_ends(tmp_path: Path) -> None:
    inputs = make_inputs(tmp_path, agent=AGENTS["build"])
    build = observe(inputs, {})
    plan = observe(replace(inputs, agent=AGENTS["plan"]), build)
    text = read_text("plan").replace("{plan}", inputs.plan_path)
    assert render_changes(build, plan).split("\n\n", 1)[1] == text
    assert f"`{inputs.plan_path}`" in text
    assert render_changes(plan, build).split("\n\n", 1)[1] == read_text("build_switch")
    assert text in render_baseline(plan)[1]
    assert mode.SOURCE.observe(inputs, None) is None


def test_every_agent_is_told_how_the_server_works(tmp_path: Path) -> None:
    inputs = make_inputs(tmp_path, agent=REVIEWER)
    first, rest = render_baseline(observe(inputs, {}))
    assert first == "You review code."
    assert rest.startswith(read_text("basics"))
