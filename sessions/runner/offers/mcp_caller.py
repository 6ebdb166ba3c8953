"""Who calls a tool of an MCP server: a call of a session, and the people behind it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from opencode_web.lib.json import JsonObject
from tools.base import QuestionDismissed
from tools.context import Question, ToolContext
from tools.mcp.elicitation import read_form, to_result
from tools.redaction import Redactor

# How often a person is asked again for one that is not valid.
_TRIES = 3
_CANCEL: JsonObject = {"action": "cancel"}


@dataclass(frozen=True)
class SessionCaller:
    """A `tools.mcp.tool_call.Caller`. `redactor` knows what the server was given, and may say."""

    server: str
    context: ToolContext
    redactor: Redactor
    has_asked: bool

    @property
    def call_id(self) -> str:
        return f"{self.context.message_id}/{self.context.call_id}"

    async def show(self, progress: str) -> None:
        await self.context.progress(metadata={"output": self.redactor.text(progress)})

    async def ask(self, params: JsonObject, asked: int) -> tuple[JsonObject, int]:
        """See `Caller.ask`. An answer that is not valid is asked for again, with the reason."""
        shown = self.redactor.json(params)
        form = read_form(self.server, shown)
        if form is None:
            return _CANCEL, asked
        result, problem = _CANCEL, ""
        for _ in range(_TRIES):
            questions = [_with(problem, one) for one in form.questions]
            try:
                answers = await self.context.ask_user(questions, number=asked)
            except QuestionDismissed:
                return _CANCEL, asked + 1
            asked += 1
            result, problem = to_result(form, answers)
            if not problem:
                break
        return result, asked


def _with(problem: str, question: Question) -> Question:
    if not problem:
        return question
    return replace(question, question=f"{question.question}\n\n({problem})")
