"""Several calls in one. It only says which: each is then made as if the model had made it alone.

So permissions, snapshots, bounds of output and stops need nothing of their own here, and a call
that waits for a person holds up none of the others. It asks nothing itself: its calls do.
"""

from __future__ import annotations

from pydantic import AliasChoices, Field

from opencode_web.lib.json import JsonObject, JsonValue
from tools.base import Params, Tool, ToolResult, load_description
from tools.context import InnerCall, ToolContext

MAX_CALLS = 25
# They wait for others, or change what the rest of the turn is: each has to stand by itself.
NOT_INSIDE = frozenset({"batch", "task", "question", "plan_enter", "plan_exit"})


class CallParams(Params):
    """One of the calls."""

    tool: str = Field(min_length=1, max_length=200, description="The name of the tool.")
    parameters: dict[str, JsonValue] = Field(
        default={},
        validation_alias=AliasChoices("parameters", "arguments", "input"),
        description="Its arguments, as for a call by itself.",
    )


class BatchParams(Params):
    """What to call."""

    tool_calls: list[CallParams] = Field(min_length=1, description="The calls, at most 25.")


async def run(params: BatchParams, context: ToolContext) -> ToolResult:
    """Have the calls made."""
    calls = [_inner(call) for call in params.tool_calls[:MAX_CALLS]]
    left_out = len(params.tool_calls) - len(calls)
    await context.begin_calls(calls)
    count = len(calls)
    output = f"{count} call{'' if count == 1 else 's'} made. The result of each stands with it."
    if left_out:
        output += (
            f" {left_out} more than the {MAX_CALLS} that are possible at once were not made: "
            "send them in another batch."
        )
    metadata: JsonObject = {
        "totalCalls": count,
        "leftOut": left_out,
        "tools": [call.tool for call in calls],
    }
    return ToolResult(title=f"Batch of {count}", output=output, metadata=metadata)


def _inner(call: CallParams) -> InnerCall:
    name = call.tool.lower()
    refusal = f"Not run: {name} cannot be part of a batch. Call it by itself."
    return InnerCall(call.tool, call.parameters, refusal if name in NOT_INSIDE else "")


TOOL = Tool("batch", BatchParams, run, "batch", load_description(__file__))
