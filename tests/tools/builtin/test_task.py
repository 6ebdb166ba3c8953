from __future__ import annotations

import pytest

from tests.fakes import FakeToolContext
from tools.base import ToolError


async def test_it_asks_for_the_agent_and_hands_the_task_over(context: FakeToolContext) -> None:
    result = await context.call(
        "task", description="Find it", prompt="Where is x?", subagent_type="explore"
    )
    (ask,) = context.asks
    assert (ask.permission, ask.patterns, ask.always) == ("task", ("explore",), ("*",))
    (subtask,) = context.subtasks
    assert (subtask.prompt, subtask.agent, subtask.task_id) == ("Where is x?", "explore", None)
    assert result.title == "Find it"
    assert result.output == (
        '<task id="ses_child" state="completed">\n<task_result>\ndid Where is x?\n'
        "</task_result>\n</task>"
    )


async def test_a_task_needs_its_words(context: FakeToolContext) -> None:
    with pytest.raises(ToolError, match="prompt"):
        await context.call("task", description="Find it", prompt="", subagent_type="explore")
    assert context.subtasks == []
