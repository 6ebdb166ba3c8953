from __future__ import annotations

import pytest

from tools.features import Features, unsuitable_for
from tools.permissions.defaults import AGENT_DEFAULTS, DEFAULTS
from tools.registry import all_tools, offered_tools

PATCH, EDIT = {"apply_patch"}, {"edit", "write", "multiedit"}
TABLE = [
    ("gpt-5", EDIT),
    ("gpt-5.6-codex", EDIT),
    ("openai/gpt-6-mini", EDIT),
    ("GPT-5", EDIT),
    ("gpt-4", PATCH),
    ("gpt-4.1-mini", PATCH),
    ("gpt-oss-120b", PATCH),
    ("openai/gpt-oss-20b:free", PATCH),
    ("claude-sonnet-5", PATCH),
    ("gemini-3-pro", PATCH),
    ("chatgpt5", PATCH),
    ("", PATCH),
]


def test_feat2_fr_02_a_model_gets_patches_or_edits_but_not_both(subtests: pytest.Subtests) -> None:
    for model_id, unsuitable in TABLE:
        with subtests.test(model_id=model_id):
            assert unsuitable_for(model_id) == unsuitable


@pytest.mark.parametrize("model_id", ["gpt-5", "claude-sonnet-5"])
def test_every_model_can_change_files(model_id: str) -> None:
    rules = DEFAULTS + AGENT_DEFAULTS["build"]
    names = {tool.name for tool in offered_tools(rules, model_id=model_id, features=Features())}
    assert names & (PATCH | EDIT)
    assert not (names & PATCH and names & EDIT)


@pytest.mark.parametrize("tool", ["batch", "lsp", "websearch", "codesearch"])
def test_a_switched_tool_is_off_until_it_is_switched_on(tool: str) -> None:
    assert not Features().has(tool)
    assert Features(**{tool: True}).has(tool)


def test_plan_mode_is_on_unless_it_is_switched_off() -> None:
    for tool in ("plan_enter", "plan_exit"):
        assert Features().has(tool)
        assert not Features(plan=False).has(tool)


def test_tools_without_a_switch_are_always_there() -> None:
    assert all(Features().has(tool) for tool in ("read", "bash", "task", "an_mcp_tool"))


def test_the_list_is_the_same_each_time_it_is_asked_for() -> None:
    def listed() -> list[tuple[str, str, str]]:
        tools = offered_tools(DEFAULTS, model_id="claude-sonnet-5", features=Features(batch=True))
        return [(tool.name, tool.description, str(tool.schema())) for tool in tools]

    first = listed()
    assert listed() == first
    assert [name for name, *_ in first] == sorted(name for name, *_ in first)
    assert "invalid" not in [name for name, *_ in first]
    assert "invalid" in all_tools()
