from __future__ import annotations

from tools.base import Params, Tool, ToolResult, load_description
from tools.context import ToolContext


class InvalidParams(Params):
    """The call that could not be made, and why."""

    tool: str
    error: str


async def run(params: InvalidParams, context: ToolContext) -> ToolResult:
    """Tell the model what was wrong with its call, as a completed result."""
    del context
    return ToolResult(
        title="Invalid Tool",
        output=f"The arguments provided to the tool are invalid: {params.error}",
        metadata={"truncated": False},
    )


TOOL = Tool("invalid", InvalidParams, run, "invalid", load_description(__file__))
