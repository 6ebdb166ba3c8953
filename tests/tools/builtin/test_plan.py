from __future__ import annotations

import pytest

from tests.fakes import FakeToolContext
from tools.base import ToolError
from tools.context import Suspended
from tools.errors import PermissionRejected
from tools.features import Features
from tools.permissions.defaults import AGENT_DEFAULTS, DEFAULTS
from tools.registry import offered_tools

PLAN = "# Goal\n\nMend the sum.\n\n1. till.py"


def write_plan(context: FakeToolContext, text: str = PLAN) -> None:
    path = context.worktree / context.plan_path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_feat2_fr_07_each_agent_gets_the_way_out_of_its_own_mode(subtests: pytest.Subtests) -> None:
    cases = [
        ("build", Features(), {"plan_enter"}),
        ("plan", Features(), {"plan_exit"}),
        ("general", Features(), set()),
        ("explore", Features(), set()),
        ("build", Features(plan=False), set()),
        ("plan", Features(plan=False), set()),
    ]
    for agent, features, offered in cases:
        with subtests.test(agent=agent, features=features):
            tools = offered_tools(DEFAULTS + AGENT_DEFAULTS[agent], model_id="", features=features)
            assert {tool.name for tool in tools if tool.name.startswith("plan_")} == offered


async def test_the_plan_is_shown_and_yes_approves_it(context: FakeToolContext) -> None:
    write_plan(context)
    context.answers = [["Yes"]]
    result = await context.call("plan_exit")
    assert result.title == "Switching to build agent"
    assert result.metadata == {"agent": "build", "plan": context.plan_path, "truncated": False}
    (question,) = context.questions
    assert question.question == f"Approve this plan and have it carried out?\n\n{PLAN}"
    assert [option.label for option in question.options] == ["Yes", "No"]


@pytest.mark.parametrize("answer", [["No"], []])
async def test_a_no_rejects_the_plan(context: FakeToolContext, answer: list[str]) -> None:
    write_plan(context)
    context.answers = [answer]
    with pytest.raises(PermissionRejected) as error:
        await context.call("plan_exit")
    assert error.value.feedback is None


async def test_own_words_tell_the_agent_what_to_change(context: FakeToolContext) -> None:
    write_plan(context)
    context.answers = [["Leave the tests alone"]]
    with pytest.raises(PermissionRejected) as error:
        await context.call("plan_exit")
    assert error.value.feedback == "Leave the tests alone"
    assert "Leave the tests alone" in error.value.message


async def test_nobody_is_asked_about_a_plan_that_is_not_there(context: FakeToolContext) -> None:
    with pytest.raises(ToolError, match=r"Write it to \.opencode/plans/1-calm-otter\.md"):
        await context.call("plan_exit")
    write_plan(context, "  \n")
    with pytest.raises(ToolError, match="There is no plan yet"):
        await context.call("plan_exit")
    assert context.questions == []


async def test_a_plan_behind_a_link_is_not_read(context: FakeToolContext) -> None:
    secret = context.output_dir.parent / "secret.md"
    secret.write_text("key")
    path = context.worktree / context.plan_path
    path.parent.mkdir(parents=True)
    path.symlink_to(secret)
    with pytest.raises(ToolError):
        await context.call("plan_exit")
    assert context.questions == []


async def test_a_long_plan_is_shown_in_part_and_a_huge_one_refused(
    context: FakeToolContext,
) -> None:
    write_plan(context, "x" * 20_000)
    with pytest.raises(Suspended):
        await context.call("plan_exit")
    assert len(context.questions[0].question) < 12_300
    assert context.plan_path in context.questions[0].question
    write_plan(context, "x" * 300_000)
    with pytest.raises(ToolError):
        await context.call("plan_exit")


async def test_planning_is_proposed_with_its_reason(context: FakeToolContext) -> None:
    context.answers = [["Yes"]]
    result = await context.call("plan_enter", reason="It touches the whole till.")
    assert result.title == "Switching to plan agent"
    assert result.metadata["agent"] == "plan"
    assert context.questions[0].question.endswith("\n\nIt touches the whole till.")


@pytest.mark.parametrize(
    ("answer", "said"), [(["No"], "wants no plan"), (["Just do it"], "said: Just do it.")]
)
async def test_without_consent_the_work_goes_on(
    context: FakeToolContext, answer: list[str], said: str
) -> None:
    context.answers = [answer]
    result = await context.call("plan_enter")
    assert said in result.output
    assert "agent" not in result.metadata


async def test_an_unanswered_question_suspends_the_call(context: FakeToolContext) -> None:
    with pytest.raises(Suspended):
        await context.call("plan_enter")
