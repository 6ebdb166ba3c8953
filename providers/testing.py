"""A provider that plays a script: for the demo, tests and the benchmark. No network, no key.

    {"name": …, "turns": [[step, …], …], "otherwise": [step, …]}

The turn is chosen by the number of user messages, the step within it by the number of assistant
messages since the last of them. Past the last step it stops with a short text; past the last turn,
and before a prompt that the script is `about`, `otherwise` is played. So it keeps no state, and a
retried or recovered turn gets the same answer.

Model `tour` plays scripts/demo.json, or its translation for whoever prompts. `{models}` in a text
is the address where the team connects a model. Model `inline` plays the script between `<<script`
and `>>` in the newest user message that has one, and counts turns from that message. Of several in
one message, such as a transcript, the last counts.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from django.urls import reverse
from django.utils.translation import gettext_noop
from pydantic import ValidationError

from opencode_web.lib.db import in_db
from opencode_web.lib.languages import is_offered
from providers.llm.classify import Answer, classify
from providers.llm.errors import NetworkError, ProviderError, RefusedRequest
from providers.llm.events import (
    Failed,
    Finished,
    FinishReason,
    ReasoningDelta,
    ReasoningEnd,
    StreamEvent,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from providers.llm.json import parse_arguments
from providers.llm.messages import (
    AssistantMessage,
    Message,
    ProviderRequest,
    Text,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from providers.script import (
    CutEvent,
    DelayEvent,
    ErrorEvent,
    RawToolEvent,
    ReasoningEvent,
    Script,
    Step,
    TextEvent,
    ToolEvent,
)
from providers.tokens import estimate, estimate_request
from teams.models import Team, User

PROVIDER_ID = "demo"
PROVIDER_NAME = gettext_noop("Scripted demo (no real model)")
TOUR = "tour"
INLINE = "inline"
MODELS = {
    TOUR: gettext_noop("Tour of a first fix (scripted)"),
    INLINE: gettext_noop("Script in the prompt (scripted)"),
}

_SCRIPTS = Path(__file__).parent / "scripts"
_INLINE_SCRIPT = "<<script"
# What a request for a summary begins with, whose one message is the conversation as a text.
_TRANSCRIPT = "<conversation>"
_DECODER = json.JSONDecoder()
_PAST_THE_END = Step(events=(TextEvent(text="That is the end of this script."),))
_SUMMARY = Step(events=(TextEvent(text="A summary of the conversation so far."),))
_CUT = "The connection to the provider was cut."
_NO_SCRIPT = Script(
    turns=(),
    otherwise=(
        Step(
            events=(
                TextEvent(
                    text="This model plays a script from your message: put JSON between "
                    "`<<script` and `>>`. Its form is described in providers/script.py."
                ),
            )
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in a script a request is; both count from 0."""

    turn: int
    step: int


class ScriptedProvider:
    """Plays one script, or with none the one in the conversation.

    The demo is in the language of the person, and leads to the models of the team.
    """

    def __init__(
        self, script: Script | None, *, user_id: int | None = None, team_id: str = ""
    ) -> None:
        self._script, self._user_id, self._team_id = script, user_id, team_id

    @classmethod
    def for_model(
        cls, model_id: str, *, user_id: int | None = None, team_id: str = ""
    ) -> ScriptedProvider:
        """Return the player of a demo model; every id but `inline` plays the tour."""
        script = None if model_id == INLINE else load_demo()
        return cls(script, user_id=user_id, team_id=team_id)

    async def stream(self, request: ProviderRequest) -> AsyncGenerator[StreamEvent, None]:
        """Play the step that this conversation has come to."""
        script, models = self._script, "/"
        messages: Sequence[Message] = request.messages
        try:
            if script is None:
                script, messages = _choose(messages)
        except ValidationError as exc:
            yield Failed(RefusedRequest(f"The script is not valid: {_first_problem(exc)}"))
            return
        if script is load_demo() and self._team_id:
            language, models = await in_db(_reader_of, self._user_id, self._team_id)
            script = load_demo(language)
        place = _place_in(script, messages)
        step = _choose_step(script, place, request)
        async for event in _play(step, place, models):
            yield event
            if isinstance(event, Failed):
                return
        yield Finished(_reason(step), _usage(step, request))


def _choose(messages: Sequence[Message]) -> tuple[Script, Sequence[Message]]:
    """Return the script in a conversation, and the messages that its turns count.

    Raises: ValidationError when it is not one.
    """
    for index in reversed(range(len(messages))):
        found = _find_script(_user_text(messages[index]))
        if found is not None:
            return Script.model_validate_json(found), messages[index:]
    return _NO_SCRIPT, messages


@lru_cache(maxsize=4)
def load_demo(language: str = "") -> Script:
    """Return the script that ships with the program, in English unless there is another one."""
    own = _SCRIPTS / f"demo.{language}.json"
    path = own if is_offered(language) and own.exists() else _SCRIPTS / "demo.json"
    return Script.model_validate_json(path.read_bytes())


def _reader_of(user_id: int | None, team_id: str) -> tuple[str, str]:
    """Returns: the language of a person, and the page where the team connects a model."""
    user = User.objects.filter(pk=user_id).first() if user_id else None
    models = reverse("providers:models", kwargs={"team": Team.objects.get(pk=team_id).slug})
    return user.language if user else "", models


def _find_script(text: str) -> str | None:
    """Returns: the JSON of the last script in a text; one within another's strings is none."""
    found, at = None, 0
    while (start := text.find(_INLINE_SCRIPT, at)) >= 0:
        at = start + len(_INLINE_SCRIPT)
        at += len(text[at:]) - len(text[at:].lstrip())
        try:
            _, end = _DECODER.raw_decode(text, at)
        except json.JSONDecodeError:
            end = len(text)  # to be told what is wrong with it
        found, at = text[at:end], end
    return found


def find_place(messages: Sequence[Message]) -> _Place:
    """Count the user messages, and the answers since the last of them."""
    users = [i for i, message in enumerate(messages) if isinstance(message, UserMessage)]
    since = messages[users[-1] :] if users else messages
    answers = sum(isinstance(message, AssistantMessage) for message in since)
    return _Place(turn=max(0, len(users) - 1), step=answers)


def _place_in(script: Script, messages: Sequence[Message]) -> _Place:
    """Count from the first prompt that the script is about; without one, it is past its end."""
    begins = re.compile("|".join(rf"\b{re.escape(word)}" for word in script.about), re.IGNORECASE)
    for index, message in enumerate(messages):
        if begins.search(_user_text(message)):
            return find_place(messages[index:])
    return replace(find_place(messages), turn=len(script.turns))


def _user_text(message: Message) -> str:
    if not isinstance(message, UserMessage):
        return ""
    return "\n".join(part.text for part in message.content if isinstance(part, Text))


def _choose_step(script: Script, place: _Place, request: ProviderRequest) -> Step:
    if script.title is not None and not request.tools:
        return Step(events=(TextEvent(text=script.title),))
    if not request.tools and _user_text(request.messages[0]).startswith(_TRANSCRIPT):
        return script.summary or _SUMMARY
    is_scripted = place.turn < len(script.turns)
    steps = script.turns[place.turn] if is_scripted else script.otherwise
    if place.step >= len(steps):
        return _PAST_THE_END
    step = steps[place.step]
    newest = request.messages[-1] if request.messages else None
    if (
        step.if_error is not None
        and isinstance(newest, ToolResultMessage)
        and (newest.is_error or step.needs not in newest.output)
    ):
        return step.model_copy(update={"events": step.if_error})
    return step


async def _play(step: Step, place: _Place, models: str) -> AsyncGenerator[StreamEvent, None]:
    calls, spoke = 0, False
    for event in step.events:
        match event:
            case DelayEvent():
                await asyncio.sleep(event.delay_ms / 1000)
                continue
            case CutEvent():
                played: Iterator[StreamEvent] = iter([Failed(NetworkError(_CUT))])
            case ErrorEvent():
                played = iter([Failed(_to_error(event), is_free=not spoke)])
            case ReasoningEvent():
                played = _play_reasoning(event, step)
            case TextEvent():
                text = event.text.replace("{models}", models)
                played = (TextDelta(chunk) for chunk in _chunks(text, step))
            case ToolEvent() | RawToolEvent():
                played = _play_call(event, step, index=calls, place=place)
                calls += 1
        for item in played:
            spoke = spoke or not isinstance(item, Failed)
            if step.chunk_delay_ms and isinstance(item, TextDelta | ReasoningDelta | ToolCallDelta):
                await asyncio.sleep(step.chunk_delay_ms / 1000)
            yield item
            if isinstance(item, Failed):
                return


def _play_reasoning(event: ReasoningEvent, step: Step) -> Iterator[StreamEvent]:
    for chunk in _chunks(event.reasoning, step):
        yield ReasoningDelta(chunk)
    yield ReasoningEnd()


def _play_call(
    event: ToolEvent | RawToolEvent, step: Step, *, index: int, place: _Place
) -> Iterator[StreamEvent]:
    call_id = f"call_{place.turn + 1}_{place.step + 1}_{index + 1}"
    raw = event.raw if isinstance(event, RawToolEvent) else json.dumps(event.input)
    yield ToolCallStart(index, call_id, event.tool)
    for chunk in _chunks(raw, step):
        yield ToolCallDelta(index, chunk)
    yield ToolCallEnd(index, call_id, event.tool, parse_arguments(raw), raw)


def _chunks(text: str, step: Step) -> Iterator[str]:
    size = step.chunk_chars or max(1, len(text))
    return (text[start : start + size] for start in range(0, len(text), size))


def _to_error(event: ErrorEvent) -> ProviderError:
    """Make the error that a real answer of this status would make."""
    wait = event.error.retry_after_s
    answer = Answer(
        event.error.status,
        {} if wait is None else {"retry-after": str(wait)},
        json.dumps({"error": {"message": event.error.message}}),
    )
    return classify(None, answer=answer, secrets=(), now=datetime.now(UTC))


def _reason(step: Step) -> FinishReason:
    if step.finish is not None:
        return step.finish
    calls = any(isinstance(event, ToolEvent | RawToolEvent) for event in step.events)
    return FinishReason.TOOL_CALLS if calls else FinishReason.STOP


def _usage(step: Step, request: ProviderRequest) -> Usage:
    if step.usage is not None:
        given = step.usage
        return Usage(
            given.input, given.output, given.reasoning, given.cache_read, given.cache_write
        )
    said = [event.text for event in step.events if isinstance(event, TextEvent)]
    said += [json.dumps(event.input) for event in step.events if isinstance(event, ToolEvent)]
    thought = [event.reasoning for event in step.events if isinstance(event, ReasoningEvent)]
    return Usage(
        input_tokens=estimate_request(request),
        output_tokens=estimate("".join(said)),
        reasoning_tokens=estimate("".join(thought)),
    )


def _first_problem(exc: ValidationError) -> str:
    problem = exc.errors()[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg']}" if where else str(problem["msg"])
