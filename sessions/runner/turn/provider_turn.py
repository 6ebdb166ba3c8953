"""One try of a provider turn: stream events to parts, and say how it ended."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from decimal import Decimal

from opencode_web.lib.db import in_db
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.reasons import Cause
from opencode_web.lib.telemetry import Operation, operation
from opencode_web.lib.text import clean_json, clean_text
from providers.actions import learn_bound
from providers.health import AddressResting
from providers.llm.errors import ProviderError, RefusedFiles
from providers.llm.events import (
    Failed,
    Finished,
    FinishReason,
    ReasoningDelta,
    ReasoningEnd,
    TextDelta,
    TextEnd,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
)
from providers.pricing import charge_for
from providers.stream import stream
from sessions.agents.fallback_models import Chosen
from sessions.events.messages import CUT_AT_LENGTH, MessageError, Tokens
from sessions.events.parts import (
    ReasoningPart,
    RetryPart,
    StepFinishPart,
    TextPart,
    ToolPart,
    ToolPending,
)
from sessions.events.reasons import TurnReason, told_by_error, told_error
from sessions.events.types import (
    MessageUpdated,
    PartRemoved,
    PartUpdated,
    SessionEvent,
    SessionFailed,
    SessionStatus,
    SessionUsed,
)
from sessions.runner.calls.guarded_calls import Repetition, guard_calls
from sessions.runner.calls.guards import Monologue
from sessions.runner.calls.repairs import repair_calls
from sessions.runner.compaction.summary import summary_events
from sessions.runner.files.changes import turn_summary
from sessions.runner.log.fallback import failed_part, fallback_parts, next_model
from sessions.runner.log.funds import settle_counted_turn, settle_cut_turn, to_tokens
from sessions.runner.log.held_inputs import hold_inputs
from sessions.runner.log.lease import Lease
from sessions.runner.log.refused_files import Refusal, refusal_of
from sessions.runner.log.settle import completed, fail_call, now_ms
from sessions.runner.log.steps import ProviderTurn
from sessions.runner.log.text_writer import TextWriter, append_events
from sessions.runner.offers.mcp_names import name_servers
from sessions.runner.offers.plugin_hooks import SessionPlugins
from sessions.runner.turn.meter import Meter
from sessions.runner.turn.plugin_request import with_plugins
from sessions.runner.turn.plugin_texts import completer, goes_on
from sessions.runner.turn.retries import cut_error, final_error, wait_before_retry_s, wire_error
from sessions.runner.turn.structured import settle_output
from sessions.secrets import project_redactor
from teams.models import Basis
from tools.redaction import Redactor

_CUT_OFF: dict[str, TurnReason] = {
    FinishReason.CONTENT_FILTER: TurnReason.FILTERED,
    FinishReason.LENGTH: TurnReason.AT_LENGTH,
}


async def run_turn(turn: ProviderTurn, lease: Lease) -> list[SessionEvent]:
    """Stream one answer into the message of `turn`.

    Returns: the closing events, for `advance` to append. A provider's fault is never raised: when
    another try can help they say so, else it becomes the error of the message. On cancellation the
    text is on disk before the CancelledError goes on.
    """
    with operation(
        "compaction" if turn.summary else "turn",
        session=turn.session.pk,
        message=turn.info.id,
        model=f"{turn.info.providerID}/{turn.info.modelID}",
    ) as done:
        return await _run_turn(turn, lease, done)


async def _run_turn(turn: ProviderTurn, lease: Lease, done: Operation) -> list[SessionEvent]:
    redactor = await in_db(project_redactor, turn.session.project_id)
    recorder = _Recorder(turn, lease, TextWriter(turn, lease, redactor), redactor)
    try:
        turn, plugins = await with_plugins(turn, lease)
        recorder.turn, recorder.plugins = turn, plugins
        recorder.writer.complete = completer(turn, lease, plugins)
        return await _try(turn, recorder, done)
    except asyncio.CancelledError:
        await asyncio.shield(recorder.writer.keep())
        await asyncio.shield(recorder.count_cut())
        raise


async def _try(turn: ProviderTurn, recorder: _Recorder, done: Operation) -> list[SessionEvent]:
    if turn.wait_s:
        await asyncio.sleep(turn.wait_s)
    if (error := await _stream_once(turn, recorder)) is None:
        done.note(calls=len(recorder.calls))
        return await recorder.closing_events()
    recorder.writer.complete = None
    done.note(attempt=turn.attempt, error=type(error).__name__)
    done.outcome = "error"
    if isinstance(error, RefusedFiles):
        refusal = await in_db(refusal_of, turn, error)
        if refusal is not None:
            return await recorder.retrying_events(error, refusal)
    final = await in_db(final_error, turn, error)
    if final is not None or isinstance(error, AddressResting):
        chosen = await in_db(next_model, turn, error)
        if chosen is not None:
            done.note(fallback=str(chosen.model.ref))
            return await recorder.falling_back_events(error, chosen)
    if final is None:
        return await recorder.retrying_events(error)
    return await recorder.failing_events(error, final)


async def _stream_once(turn: ProviderTurn, recorder: _Recorder) -> ProviderError | None:
    recorder.began = True
    async with aclosing(stream(turn.request)) as events:
        async for event in events:
            match event:
                case TextDelta(text):
                    await recorder.meter.grow(text)
                    await recorder.writer.write(TextPart, text)
                    if recorder.monologue.grow(text):
                        return Repetition()
                case ReasoningDelta(text):
                    await recorder.meter.grow(text)
                    await recorder.writer.write(ReasoningPart, text)
                case ReasoningEnd(metadata):
                    await recorder.end_block(ReasoningPart, metadata)
                case TextEnd(metadata):
                    await recorder.end_block(TextPart, metadata)
                case ToolCallStart():
                    await recorder.start_call(event)
                case ToolCallDelta(text=text):
                    # Arguments are not shown as they come, but they count.
                    await recorder.meter.grow(text)
                case ToolCallEnd():
                    recorder.end_call(event)
                case Finished():
                    recorder.finished = event
                case Failed(error):
                    recorder.failed = event
                    return error
    return None


class _Recorder:
    """Puts what the stream brings into the log."""

    def __init__(
        self, turn: ProviderTurn, lease: Lease, writer: TextWriter, redactor: Redactor
    ) -> None:
        self.turn = turn
        self.plugins: SessionPlugins | None = None
        self.writer = writer
        self.calls: dict[int, ToolPart] = {}
        # The arguments of those in which something is hidden.
        self._given: dict[str, JsonObject] = {}
        self._redactor = redactor
        # Whether the model was asked, and how that has ended.
        self.began = False
        self.finished: Finished | None = None
        self.failed: Failed | None = None
        self.monologue = Monologue()
        self.meter = Meter(turn)
        # Ids of calls with text or reasoning right before them, and how many texts there were.
        self._after_text: set[str] = set()
        self._texts = 0
        self._lease = lease

    async def count_cut(self) -> None:
        """Count an answer that is cut off from here, be it while its end is summed up."""
        if self.finished is not None:
            await in_db(settle_counted_turn, self._lease, await self._used(self.finished))
        elif self.turn.request.bound is not None:
            await in_db(settle_cut_turn, self._lease, self._cost_in_vain())

    def _cost_of_cut(self) -> Decimal:
        most = self.turn.request.most_after(self.meter.received_bytes)
        return most if self.began else Decimal(0)

    def _cost_in_vain(self) -> Decimal:
        if self.failed is None:  # it was ended from here
            return self._cost_of_cut()
        return Decimal(0) if self.failed.is_free else self.turn.request.most

    def _used_in_vain(self) -> list[SessionEvent]:
        """Returns: what a failed try may have cost, where a budget holds."""
        cost = self._cost_in_vain()
        return [self.turn.used(cost, Tokens(), Basis.BOUND)] if cost else []

    async def _used(self, finished: Finished) -> SessionUsed:
        """What an answer has cost that has come to its end."""
        request, usage = self.turn.request, finished.usage
        tokens, charge = to_tokens(usage), charge_for(finished, request)
        if request.bound is not None and charge.basis is Basis.COUNTED and not usage.total_tokens:
            # The provider does not count.
            return self.turn.used(self._cost_of_cut(), tokens, Basis.BOUND)
        if request.bound is not None and (factors := request.bound.raised(usage, charge.cost)):
            await in_db(learn_bound, self.turn.session.project.team, request.model.ref, factors)
        return self.turn.used(charge.cost, tokens, charge.said_basis)

    async def end_block(
        self, kind: type[TextPart] | type[ReasoningPart], metadata: JsonObject | None
    ) -> None:
        events = await self.writer.end(kind, metadata)
        if events:
            await in_db(append_events, self._lease, events)

    async def start_call(self, event: ToolCallStart) -> None:
        closed = await self.writer.close()
        part = ToolPart(
            id=new_id("prt"),
            sessionID=self.turn.session.pk,
            messageID=self.turn.info.id,
            callID=clean_text(event.id),
            tool=clean_text(event.name),
            state=ToolPending(),
        )
        self.calls[event.index] = part
        if len(self.writer.opened) != self._texts:
            self._texts = len(self.writer.opened)
            self._after_text.add(part.id)
        await in_db(append_events, self._lease, [*closed, PartUpdated(part=part)])

    def end_call(self, event: ToolCallEnd) -> None:
        # `raw` stays only when it could not be read: the call is then answered with what is wrong.
        unread = clean_text(event.raw) if event.arguments is None else ""
        given = {clean_text(key): clean_json(item) for key, item in (event.arguments or {}).items()}
        part = self.calls[event.index]
        shown = self._redactor.json(given, keys=False)
        if shown is not given:
            self._given[part.id] = given
        state = ToolPending(input=shown, raw=self._redactor.text(unread))
        update: dict[str, object] = {"state": state}
        if event.metadata:
            update["metadata"] = {**(part.metadata or {}), **event.metadata}
        self.calls[event.index] = part.model_copy(update=update)

    async def closing_events(self) -> list[SessionEvent]:
        """The end of a stream that came to its end. Without calls the step is closed too."""
        assert self.finished is not None
        if self.turn.summary is not None:
            return await self._summary_events(self.finished)
        used = await self._used(self.finished)
        output = settle_output(self.turn, list(self.calls.values()))
        called = repair_calls(self.turn, output.calls)
        called = await name_servers(self.turn, called)
        called = guard_calls(self.turn, called, after_text=self._after_text)
        is_open = any(isinstance(part.state, ToolPending) for part in called)
        finish = "tool-calls" if called else self.finished.reason.value
        error = output.error or cut_off(finish, by_budget=self.turn.request.is_cut)
        info = self.turn.info.model_copy(
            update={
                "finish": finish,
                "tokens": used.tokens,
                "cost": float(used.cost),
                "structured": output.structured,
            }
        )
        events = await self.writer.close()
        if self._given:
            await in_db(hold_inputs, called, self._given)
        events += [PartUpdated(part=part) for part in called]
        limit = self.turn.request.model.limit.context
        taken = {"context": used.tokens.total, "context_limit": limit}
        events.append(used.model_copy(update=taken))
        if error is not None:
            events.append(SessionFailed(error=error))
        if not is_open:
            info = completed(info, error=error)
            step = StepFinishPart(
                id=new_id("prt"),
                sessionID=info.sessionID,
                messageID=info.id,
                reason=finish,
                cost=float(used.cost),
                tokens=used.tokens,
            )
            events.append(PartUpdated(part=step))
            events += await turn_summary(self.turn.session, info.parentID)
        events.append(MessageUpdated(info=info))
        return events

    async def _summary_events(self, finished: Finished) -> list[SessionEvent]:
        """The end of a compaction. The turn that it interrupts gets its changes summed up."""
        closed = await self.writer.close()
        return [
            *closed,
            *await turn_summary(self.turn.session, self.turn.prompt_id),
            *summary_events(
                self.turn,
                text=self.writer.said,
                calls=list(self.calls.values()),
                finish=finished.reason,
                used=await self._used(finished),
                goes_on=await goes_on(self.turn, self._lease, self.plugins),
            ),
        ]

    async def retrying_events(
        self, error: ProviderError, refusal: Refusal | None = None
    ) -> list[SessionEvent]:
        """The end of a try that is followed by another: what it wrote is gone, why is said.

        Nobody sees a text twice: not the person, not the model, no client. `refusal`: the files
        that the next one is made without.
        """
        wait_s = wait_before_retry_s(self.turn, error)
        until = now_ms() + int(wait_s * 1000)
        said = refusal.error if refusal else wire_error(self.turn, error, advise=False)
        part = RetryPart(
            id=new_id("prt"),
            sessionID=self.turn.session.pk,
            messageID=self.turn.info.id,
            attempt=self.turn.attempt,
            error=said,
            time={"created": now_ms(), "next": until},
        )
        status = SessionStatus(
            state="busy",
            waits_for="retry",
            until=until,
            attempt=self.turn.attempt,
        ).saying(told_by_error(said))
        marked = refusal.events if refusal else []
        return [*await self._taken_back(), *marked, PartUpdated(part=part), status]

    async def falling_back_events(self, error: ProviderError, chosen: Chosen) -> list[SessionEvent]:
        """The end of a try that another model goes on after: as with a retry, which is due now."""
        ref = chosen.model.ref
        left = {"providerID": ref.provider_id, "modelID": ref.model_id, "variant": ref.variant}
        parts = [
            *fallback_parts(self.turn.info, chosen),
            failed_part(self.turn, chosen, error),
        ]
        status = SessionStatus(state="busy", waits_for="retry", until=now_ms(), attempt=1)
        return [
            *await self._taken_back(),
            *(PartUpdated(part=part) for part in parts),
            MessageUpdated(info=self.turn.info.model_copy(update=left)),
            status.saying(told_by_error(parts[-1].error)),
        ]

    async def _taken_back(self) -> list[SessionEvent]:
        """What a try wrote that another one takes the place of is removed; its cost counts."""
        await self.writer.close()  # whatever it still had to write is written
        message_id = self.turn.info.id
        written = [*self.writer.opened, *(part.id for part in self.calls.values())]
        removed = [PartRemoved(message_id=message_id, part_id=part_id) for part_id in written]
        return [*removed, *self._used_in_vain()]

    async def failing_events(self, error: ProviderError, final: MessageError) -> list[SessionEvent]:
        """The end of a stream that failed for good: what came stays, calls are not made."""
        events = await self.writer.close({"interrupted": True})
        if self.writer.said.strip() and self.turn.summary is None:
            final = cut_error(error, final)
        events += [fail_call(part, f"Not run: {error.message}") for part in self.calls.values()]
        events += self._used_in_vain()
        events += await turn_summary(self.turn.session, self.turn.prompt_id)
        events.append(MessageUpdated(info=completed(self.turn.info, error=final)))
        events.append(SessionFailed(error=final))
        return events


def cut_off(finish: str, *, by_budget: bool = False) -> MessageError | None:
    """Returns: the error of an answer that came to an end, but not to its own."""
    reason = _CUT_OFF.get(finish)
    if by_budget and finish == FinishReason.LENGTH:
        reason = TurnReason.AT_BUDGET
    if reason is None:
        return None
    name = "ContentFilterError" if finish == FinishReason.CONTENT_FILTER else CUT_AT_LENGTH
    return told_error(Cause(reason), name=name)
