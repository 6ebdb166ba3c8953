"""Compaction: a summary takes the place of the older history when the model reads the session.

    overflow ─▶ room_for ─┬─ old outputs of tools are pruned: that was enough
                          └─ start_compaction: a user message that asks, and an empty answer
                               └─▶ run_turn: one request of the agent `compaction`, no tools
                                     └─▶ closing_events: SessionCompacted, the epoch ends, go on

The record stays whole: people and clients see every message. A compaction that fails or is stopped
changes nothing, and one whose worker has died is made again, like any turn without calls.
"""

from __future__ import annotations

from decimal import Decimal

from opencode_web.lib.errors import AppError, Conflict
from opencode_web.lib.ids import new_id
from opencode_web.lib.reasons import Cause
from providers.account_model import with_options
from providers.llm.errors import OverflowError_
from providers.llm.messages import ModelRef, ProviderRequest, ResolvedModel, Text
from providers.llm.messages import UserMessage as ModelPrompt
from providers.resolve import parse_ref
from providers.tokens import estimate, estimate_message
from sessions.agents.fallback_models import models_of
from sessions.agents.loader import load_agents
from sessions.config.effective import session_config
from sessions.config.model import Config
from sessions.events.messages import AssistantMessage, MessageTime, Tokens, UserMessage
from sessions.events.parts import PART, CompactionPart, StepStartPart, ToolCompleted, ToolPart
from sessions.events.reasons import TurnReason
from sessions.events.store import append
from sessions.events.types import MessageUpdated, PartUpdated, SessionUsed
from sessions.models import Compaction, Part, Session
from sessions.rules.in_force import Setup
from sessions.runner.compaction.context_window import (
    MAX_IN_VAIN,
    MAX_TAIL,
    Output,
    Size,
    is_full,
    prunable,
    tail_budget,
    tail_start,
    usable_tokens,
)
from sessions.runner.compaction.transcript import write_task
from sessions.runner.context.epoch import replace_epoch
from sessions.runner.log.answers import new_answer, ref_of
from sessions.runner.log.fallback import choose_model, say_skipped
from sessions.runner.log.funds import fund_turn
from sessions.runner.log.history import Prompted
from sessions.runner.log.model_history import History, HistoryEntry, load_history, newest_compaction
from sessions.runner.log.settle import now_ms
from sessions.runner.log.steps import ProviderTurn, Summary

AGENT = "compaction"


class ContextFull(AppError):
    """Room cannot be made any more; going on would only cost money."""

    wire_name = "ContextOverflowError"


def room_for(
    session: Session, prompt: Prompted, model: ResolvedModel, setup: Setup, *, used: int
) -> ProviderTurn | None:
    """Make room in a locked session whose next request would take up `used` tokens: too many.

    Returns: the compaction that has to be made first; None when the request can be made,
    after pruning or because nothing else helps.
    Raises: ContextFull.
    """
    config = setup.config
    if config.compaction.prune and _prune(session, model, config, used=used):
        return None
    # The newest answer is a summary: whether that is enough, only the next request can tell.
    if not has_answered(session):
        return None
    if is_in_vain(session):
        raise ContextFull(Cause(TurnReason.CONTEXT_FULL))
    return start_compaction(session, prompt, setup)


def can_compact(session: Session) -> bool:
    """Whether a request that the provider refused as too long is made again after a compaction.

    Not when it has just been compacted: then it does not help.
    """
    config = session_config(session).compaction
    return config.auto and has_answered(session) and not is_in_vain(session)


def has_answered(session: Session) -> bool:
    """Whether the model has finished an answer since the newest compaction."""
    newest = newest_compaction(session)
    answers = session.messages.visible(session).filter(role="assistant", data__has_key="finish")
    if newest is not None:
        answers = answers.filter(seq__gt=newest.seq)
    return answers.exclude(data__has_key="summary").exists()


def is_in_vain(session: Session) -> bool:
    """Whether the last compactions in a row have made too little room."""
    rows = Compaction.objects.filter(session=session, seq__lt=session.visible_before)
    newest = list(rows.order_by("-seq").values_list("in_vain", flat=True)[:MAX_IN_VAIN])
    return len(newest) == MAX_IN_VAIN and all(newest)


def _prune(session: Session, model: ResolvedModel, config: Config, *, used: int) -> bool:
    """Take old outputs of tools out of what the model reads, if that makes room.

    It changes what earlier requests said, so the provider's cache is lost and a new epoch begins.
    The record keeps the outputs.
    """
    found = _outputs(load_history(session))
    chosen = [found[index] for index in prunable([output for output, _ in found])]
    left = used - sum(output.tokens for output, _ in chosen)
    if not chosen or is_full(left, model.limit, config.compaction):
        return False
    limit = model.limit.context
    append(session, [PartUpdated(part=_pruned(part)) for _, part in chosen])
    append(
        session, [SessionUsed(cost=Decimal(0), tokens=Tokens(), context=left, context_limit=limit)]
    )
    replace_epoch(session, reason="pruning")
    return True


def _outputs(history: History) -> list[tuple[Output, ToolPart]]:
    found: list[tuple[Output, ToolPart]] = []
    turns = 0
    for entry in reversed(history.entries):
        turns += entry.is_prompt
        for part in reversed(entry.parts):
            if isinstance(part, ToolPart) and isinstance(part.state, ToolCompleted):
                is_pruned = part.state.time.compacted is not None
                tokens = estimate(part.state.output)
                found.append((Output(part.tool, tokens, turns, is_pruned), part))
    return found[::-1]


def _pruned(part: ToolPart) -> ToolPart:
    assert isinstance(part.state, ToolCompleted)
    time = part.state.time.model_copy(update={"compacted": now_ms()})
    return part.model_copy(update={"state": part.state.model_copy(update={"time": time})})


def start_compaction(
    session: Session, prompt: Prompted, setup: Setup, *, overflow: bool = False
) -> ProviderTurn:
    """Put a request for a summary behind the history of a locked session, and begin with it."""
    info = copy_prompt(prompt.info)
    part = CompactionPart(
        id=new_id("prt"),
        sessionID=session.pk,
        messageID=info.id,
        auto=True,
        overflow=True if overflow else None,
    )
    author_id = prompt.author.pk if prompt.author else None
    asked = append(
        session, [MessageUpdated(info=info, author_id=author_id), PartUpdated(part=part)]
    )
    asking = Prompted(info, prompt.author, asked[0].seq, compacts=True)
    return start_summary(session, asking, setup, part=part)


def start_summary(
    session: Session,
    prompt: Prompted,
    setup: Setup,
    *,
    part: CompactionPart | None = None,
    again: AssistantMessage | None = None,
) -> ProviderTurn:
    """Append the empty answer to a request for a summary, and build the provider's request.

    `again` is such an answer of which nothing is there: it is filled now.

    Raises: AppError when the model may no longer be used; Conflict when there is nothing to sum up;
    BudgetReached; UnpricedModel.
    """
    part, config = part or _part_of(prompt), setup.config
    agent = load_agents(config).get(AGENT)
    if agent is None:
        raise Conflict(Cause(TurnReason.SUMMARIES_OFF))
    model = choose_model(session, prompt, models_of(config, setup.agent, ref_of(prompt.info))).model
    own = parse_ref(agent.model, variant=agent.variant or None) if agent.model else None
    refs = models_of(config, agent, own or ref_of(prompt.info))
    chosen = choose_model(session, prompt, refs, again=again)
    writer = with_options(chosen.model, agent.options)
    usable = usable_tokens(model.limit, config.compaction)
    history = load_history(session, before=prompt.seq)
    sizes = [_size(entry, model.ref, usable) for entry in history.entries]
    budget = tail_budget(usable, config.compaction) if usable is not None else MAX_TAIL
    start = tail_start(sizes, budget=budget, turns=config.compaction.tail_turns)
    head, tail = history.entries[:start], history.entries[start:]
    if not head:
        raise Conflict("There is nothing in this conversation yet that could be summed up.")
    room = usable_tokens(writer.limit, config.compaction)
    messages = [message for entry in head for message in entry.to_messages(writer.ref, room)]
    is_shortened = _was_too_long(session, prompt)
    task = write_task(messages, earlier=history.summary, halves=is_shortened)
    request = ProviderRequest(
        model=writer,
        system=(agent.prompt,),
        messages=(ModelPrompt((Text(task),)),),
        tools=(),
        session_id=session.pk,
        temperature=agent.temperature,
        top_p=agent.top_p,
        purpose="compaction",
        parent_session_id=session.parent_id or "",
        prompt_id=prompt.info.id,
        project_id=str(session.project_id),
    )
    author_id = prompt.author.pk if prompt.author else None
    opened_by = _opened_by(history) if part.auto else None
    funded = fund_turn(session, request, author_id=author_id, prompt_id=opened_by or prompt.info.id)
    read = sum(size.tokens for size in sizes) + estimate(history.summary)
    summary = Summary(
        prompt=prompt.info,
        author_id=author_id,
        part=part.model_copy(update={"tail_start_id": tail[0].row.pk if tail else None}),
        opened_by=opened_by,
        history_from=tail[0].row.seq if tail else prompt.seq,
        before=max(session.context_tokens, read),
        kept=sum(size.tokens for size in sizes[start:]),
        read=read,
        usable=usable,
        is_shortened=is_shortened,
    )
    info = again or _summary_answer(session, prompt.info, writer.ref)
    turn = ProviderTurn(
        session=session,
        setup=setup,
        info=info,
        request=funded,
        author_id=summary.author_id,
        summary=summary,
        first=refs[0],
    )
    if again is None:
        step = StepStartPart(id=new_id("prt"), sessionID=session.pk, messageID=info.id)
        append(session, [MessageUpdated(info=info), PartUpdated(part=step)])
    say_skipped(session, info, chosen)
    return turn


def copy_prompt(info: UserMessage) -> UserMessage:
    """A message that stands in for `info`: the same agent, model and wishes."""
    return info.model_copy(
        update={"id": new_id("msg"), "time": MessageTime(created=now_ms()), "summary": None}
    )


def _was_too_long(session: Session, prompt: Prompted) -> bool:
    """Whether the provider has refused this summary as too long."""
    tries = Part.objects.filter(session=session, type="retry", seq__gt=prompt.seq)
    return tries.filter(data__error__name=OverflowError_.wire_name).exists()


def _summary_answer(session: Session, prompt: UserMessage, ref: ModelRef) -> AssistantMessage:
    return new_answer(session, prompt, ref).model_copy(
        update={"mode": AGENT, "agent": AGENT, "summary": True}
    )


def _part_of(prompt: Prompted) -> CompactionPart:
    row = Part.objects.filter(message=prompt.info.id, type="compaction").get()
    part = PART.validate_python(row.data)
    assert isinstance(part, CompactionPart)
    return part


def _opened_by(history: History) -> str | None:
    prompts = (entry.row.pk for entry in reversed(history.entries) if entry.is_prompt)
    return next(prompts, None)


def _size(entry: HistoryEntry, ref: ModelRef, room: int | None) -> Size:
    tokens = sum(estimate_message(message) for message in entry.to_messages(ref, room))
    return Size(tokens, entry.is_prompt)
