from __future__ import annotations

from pydantic import Field

from opencode_web.lib.json import JsonObject
from opencode_web.lib.marks import defuse
from tools.base import Params, Tool, ToolResult, load_description
from tools.context import PermissionAsk, Subtask, ToolContext
from tools.truncate import Keep

_FRAMES = ("task_result",)


class TaskParams(Params):
    """What a sub-agent shall do."""

    description: str = Field(
        description="The task in three to five words.", min_length=1, max_length=200
    )
    prompt: str = Field(
        description="Everything the sub-agent has to know.", min_length=1, max_length=200_000
    )
    subagent_type: str = Field(description="The agent that does it.", min_length=1, max_length=60)
    task_id: str | None = Field(None, description="A sub-agent of before that shall go on.")


async def run(params: TaskParams, context: ToolContext) -> ToolResult:
    """Have a sub-agent work, and give back its report."""
    metadata: JsonObject = {
        "description": params.description,
        "subagent_type": params.subagent_type,
    }
    await context.ask(PermissionAsk("task", (params.subagent_type,), metadata=metadata))
    report = await context.spawn(
        Subtask(
            description=params.description,
            prompt=params.prompt,
            agent=params.subagent_type,
            task_id=params.task_id,
        )
    )
    text = defuse(report.text, _FRAMES)
    output = (
        f'<task id="{report.session_id}" state="completed">\n<task_result>\n{text}\n'
        "</task_result>\n</task>"
    )
    # A report says first what was wanted and last what came of it.
    return ToolResult(params.description, output, report.metadata, keep=Keep.BOTH)


TOOL = Tool("task", TaskParams, run, "task", load_description(__file__))
