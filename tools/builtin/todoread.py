from __future__ import annotations

from tools.base import Params, Tool, ToolResult, load_description
from tools.builtin.todowrite import todo_result
from tools.context import PermissionAsk, ToolContext


class TodoReadParams(Params):
    """Nothing is needed."""


async def run(params: TodoReadParams, context: ToolContext) -> ToolResult:
    """Give the list back as it stands."""
    await context.ask(PermissionAsk("todoread", ("*",)))
    return todo_result(await context.read_todos())


# Who may not keep a list has none to read.
TOOL = Tool("todoread", TodoReadParams, run, "todowrite", load_description(__file__))
