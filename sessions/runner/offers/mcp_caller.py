"""Who calls a tool of an MCP server: a call of a session, and the people behind it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from opencode_web.lib.json import JsonObject
from sessions.mcp.servers import SAMPLING
from tools.base import PermissionDenied, PermissionRejected, QuestionDismissed, ToolError
from tools.context import ModelRequest, PermissionAsk, Question, ToolContext
from tools.mcp import elicitation
from tools.mcp.sampling import INTERNAL, Refusal, as_text, read_request, rejected, to_result
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
        form = elicitation.read_form(self.server, shown)
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
            result, problem = elicitation.to_result(form, answers)
            if not problem:
                break
        return result, asked

    async def sample(self, params: JsonObject, number: int) -> JsonObject:
        """See `Caller.sample`. What rules or people deny is rejected in the protocol's words."""
        request = await asyncio.to_thread(self._read, params)
        shown: JsonObject = {"server": self.server, "prompt": as_text(request), "number": number}
        # As a pattern the name could stand for others.
        always = () if set("*?") & set(self.server) else (self.server,)
        wanted = PermissionAsk(SAMPLING, (self.server,), always=always, metadata=shown, each=True)
        try:
            await self.context.confirm(wanted)
        except PermissionDenied as exc:
            raise rejected() from exc
        except PermissionRejected as exc:
            raise rejected(self.redactor.text(exc.feedback or "")) from exc
        try:
            answer = await self.context.ask_model(request)
        except ToolError as exc:
            raise Refusal(exc.message, INTERNAL) from exc
        return self.redactor.json(to_result(answer, params.get("stopSequences")))

    def _read(self, params: JsonObject) -> ModelRequest:
        return read_request(self.server, self.redactor.json(params))


def _with(problem: str, question: Question) -> Question:
    if not problem:
        return question
    return replace(question, question=f"{question.question}\n\n({problem})")
