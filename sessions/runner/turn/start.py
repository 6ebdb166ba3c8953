"""The safe provider-turn boundary: choose agent and model, and put the new answer into the log."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from opencode_web.lib.errors import Forbidden, Invalid
from opencode_web.lib.ids import new_id
from opencode_web.lib.reasons import Cause
from providers.account_model import with_options
from providers.llm.messages import ProviderRequest
from providers.tokens import estimate_request
from sessions.agents.fallback_models import models_of
from sessions.authors import may_prompt
from sessions.events.messages import AssistantMessage
from sessions.events.parts import StepStartPart
from sessions.events.reasons import TurnReason
from sessions.events.store import append
from sessions.events.types import MessageUpdated, PartUpdated, SessionStatus
from sessions.models import Session, State
from sessions.repository.skill_indexes import outdated_indexes
from sessions.rules.in_force import Setup, session_setup
from sessions.runner.compaction.compact import room_for, start_compaction, start_summary
from sessions.runner.compaction.context_window import is_full
from sessions.runner.context.epoch import Context, prepare_context
from sessions.runner.log.answers import new_answer, ref_of
from sessions.runner.log.fallback import choose_model, say_skipped
from sessions.runner.log.funds import fund_turn, wait_no_longer
from sessions.runner.log.history import Answer, Prompted
from sessions.runner.log.model_history import load_history
from sessions.runner.log.settle import completed
from sessions.runner.log.steps import (
    McpListing,
    McpUpdates,
    Next,
    PageFetch,
    ProviderTurn,
    SkillFetch,
    ToolDescriptions,
)
from sessions.runner.offers.custom_tools import descriptions_wanted
from sessions.runner.offers.mcp_tools import listing_wanted
from sessions.runner.offers.mcp_updates import updates_wanted
from sessions.runner.turn.request import build_request, context_inputs
from sessions.runner.turn.step_limit import end_with_text, is_last_step
from sessions.runner.turn.structured import wanted_output, with_output_tool


def start_turn(
    session: Session,
    prompt: Prompted,
    *,
    again: AssistantMessage | None = None,
    overflowed: bool = False,
) -> ProviderTurn | PageFetch | SkillFetch | ToolDescriptions | McpListing | McpUpdates:
    """Append the empty answer to a locked session and build its request from the history.

    Agent and model are those of the newest prompt, so a switch acts on the next turn. When the
    history is too long for the model, or its provider has said so (`overflowed`), the answer is to
    be the summary of a compaction, and the turn goes on behind it.
    `again` is an answer of which nothing is there, because its try has failed: it is filled now,
    unless something has to be told to the model behind it.

    Returns: another step than a ProviderTurn, with nothing appended, when something has to be known
    first; never for `again`.
    Raises: AppError when the author, the agent or the model may no longer be used, and when no room
    can be made; BudgetReached, which may be different later; UnpricedModel.
    Source: FEAT-0001 FR-04, FR-07, FEAT-0002 FR-06.
    """
    if not may_prompt(prompt.author, session):
        raise Forbidden(Cause(TurnReason.AUTHOR_GONE))
    setup = session_setup(session, prompt.info.agent)
    config, agent = setup.config, setup.agent
    if prompt.compacts:
        return start_summary(session, prompt, setup, again=again)
    if overflowed:
        return start_compaction(session, prompt, setup, overflow=True)
    chosen = choose_model(
        session, prompt, models_of(config, agent, ref_of(prompt.info)), again=again
    )
    model = with_options(chosen.model, agent.options)
    author_id = prompt.author.pk if prompt.author else None
    if again is None and (step := _needed_first(session, setup, author_id)) is not None:
        return step
    inputs = context_inputs(session, prompt.info, author_id, setup=setup, model=model)
    context = prepare_context(session, inputs, fetches=again is None)
    if context.missing:
        # No transaction may wait for the network.
        return PageFetch(context.missing)
    history = load_history(session).all
    request = build_request(
        session,
        author_id,
        setup=setup,
        model=model,
        context=context,
        history=history,
        prompt_id=prompt.info.id,
    )
    # Until a provider has counted how long the history is, it is estimated.
    used = session.context_tokens or estimate_request(request)
    if again is None and is_full(used, model.limit, config.compaction):
        compaction = room_for(session, prompt, model, setup, used=used)
        if compaction is not None:
            return compaction
        context, history = prepare_context(session, inputs), load_history(session).all
        request = build_request(
            session, author_id, setup=setup, model=model, context=context, history=history
        )
    turn = _begin(session, prompt, setup, request, context, again=again)
    if config.brought.runs_plugins:
        turn = replace(turn, history=history)
    say_skipped(session, turn.info, chosen)
    return turn


def count_tries(step: Next, failed: Answer) -> Next:
    """Returns: the step as the next try of an answer that has failed before."""
    if isinstance(step, ProviderTurn):
        return replace(step, attempt=failed.failed_tries + 1)
    return step


def _needed_first(
    session: Session, setup: Setup, author_id: int | None
) -> SkillFetch | ToolDescriptions | McpListing | McpUpdates | None:
    team_id, config = session.project.team_id, setup.config
    if old := outdated_indexes(team_id, config.skills.urls):
        return SkillFetch(team_id, old)
    return (
        descriptions_wanted(session, config)
        or listing_wanted(session, config, author_id)
        or updates_wanted(session, setup, author_id)
    )


def _begin(
    session: Session,
    prompt: Prompted,
    setup: Setup,
    request: ProviderRequest,
    context: Context,
    *,
    again: AssistantMessage | None,
) -> ProviderTurn:
    output, agent = wanted_output(session, prompt.info), setup.agent
    no_calls = None
    if is_last := is_last_step(session, agent):
        request = end_with_text(request, agent)
        no_calls = Cause(TurnReason.NO_STEP_LEFT, {"steps": agent.steps or 0})
    if output is not None:
        request = with_output_tool(request, output, is_last=is_last)
    author_id = prompt.author.pk if prompt.author else None
    funded = fund_turn(session, request, author_id=author_id, prompt_id=prompt.info.id)
    filled = None if context.events else again
    info = filled or new_answer(session, prompt.info, request.model.ref)
    turn = ProviderTurn(
        session=session,
        setup=setup,
        info=info,
        request=funded,
        author_id=author_id,
        no_calls=no_calls,
        output=output,
    )
    if filled is not None:
        return turn
    start = StepStartPart(id=new_id("prt"), sessionID=session.pk, messageID=info.id)
    left = [MessageUpdated(info=completed(again))] if again is not None else []
    append(session, [*context.events, *left, MessageUpdated(info=info), PartUpdated(part=start)])
    return turn


def require_folder(session: Session) -> None:
    """Raises: Invalid when the folder of the worktree that the session works in is gone."""
    root, folder = os.path.realpath(session.worktree), os.path.realpath(session.directory)
    if session.path and not (Path(folder).is_relative_to(root) and Path(folder).is_dir()):
        raise Invalid(Cause(TurnReason.FOLDER_GONE, {"path": session.path}))


def go_on(session: Session) -> None:
    """Say that the session works, when it was idle or suspended before."""
    if session.state != State.BUSY or session.waits_for:
        # Another model may go on than the one whose line it has stood in.
        wait_no_longer(session)
        append(session, [SessionStatus(state="busy")])
