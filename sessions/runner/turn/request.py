"""One provider request, put together at the safe boundary."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from django.utils import timezone

from providers.llm.messages import ProviderRequest, ResolvedModel, ToolDefinition
from sessions.agents.loader import load_agents
from sessions.config.network import project_network
from sessions.config.web_search import with_search
from sessions.events.messages import UserMessage
from sessions.integrations.reviews import can_review
from sessions.mcp.servers import words_of_servers
from sessions.models import Session
from sessions.plan_file import plan_path
from sessions.rules.in_force import Setup
from sessions.runner.compaction.context_window import usable_tokens
from sessions.runner.context.epoch import Context
from sessions.runner.context.installed import place_of
from sessions.runner.context.source import ContextInputs
from sessions.runner.log.model_history import HistoryEntry, to_messages
from sessions.runner.offers.custom_tools import offered_custom
from sessions.runner.offers.mcp_mentions import updated_texts
from sessions.runner.offers.mcp_tools import offered_mcp
from sessions.secrets import project_redactor
from sessions.skills import shared_skills
from tools.base import Tool
from tools.permissions.rules import Action, evaluate
from tools.registry import all_tools, offered_tools


def context_inputs(
    session: Session,
    prompt: UserMessage,
    author_id: int | None,
    *,
    setup: Setup,
    model: ResolvedModel,
) -> ContextInputs:
    """What the Context Sources of this session observe now."""
    config, ruleset = setup.config, setup.ruleset
    return ContextInputs(
        project=session.project.name,
        place=place_of(session),
        directory=Path(session.directory),
        worktree=Path(session.worktree),
        agent=setup.agent,
        provider_id=model.ref.provider_id,
        api_model=model.api_model,
        config=config,
        prompt_system=prompt.system or "",
        today=today(),
        plan_path=plan_path(session),
        team_skills=shared_skills(session.project.team_id, config),
        ruleset=ruleset,
        servers=lambda: words_of_servers(session.project, config.mcp, ruleset, author_id),
        resources=lambda: updated_texts(session.pk),
        network="none" if session.is_read_only else project_network(session.project).sentence,
        redactor=lambda: project_redactor(session.project_id),
    )


def today() -> date:
    """The day in UTC."""
    return timezone.now().date()


def build_request(
    session: Session,
    author_id: int | None,
    *,
    setup: Setup,
    model: ResolvedModel,
    context: Context,
    history: Iterable[HistoryEntry],
    prompt_id: str = "",
) -> ProviderRequest:
    """The context, the history and the tools of one turn of this person."""
    config, agent, ruleset = setup.config, setup.agent, setup.ruleset
    features = with_search(config.features(), session.project.team_id, config)
    features = replace(features, review=can_review(session))
    tools = offered_tools(ruleset, model_id=model.api_model, features=features)
    tools = [*tools, *offered_custom(session, setup)]
    # A server never takes the place of a tool that is there without it.
    there = {*all_tools(), *(tool.name for tool in tools)}
    tools += [tool for tool in offered_mcp(session, setup, author_id) if tool.name not in there]
    tools = sorted(tools, key=lambda tool: tool.name)
    return ProviderRequest(
        model=model,
        system=context.system,
        messages=to_messages(
            history, model.ref, context.updates, room=usable_tokens(model.limit, config.compaction)
        ),
        tools=tuple(
            ToolDefinition(tool.name, _described(tool, setup), tool.schema()) for tool in tools
        ),
        session_id=session.pk,
        temperature=agent.temperature,
        top_p=agent.top_p,
        parent_session_id=session.parent_id or "",
        prompt_id=prompt_id,
        project_id=str(session.project_id),
    )


def _described(tool: Tool[Any], setup: Setup) -> str:  # Any: see registry
    """What a model reads about a tool; about tasks, also whom it can give them to."""
    if tool.name != "task":
        return tool.description
    agents = load_agents(setup.config)
    listed = (
        f"- {name}: {agent.description}"
        for name, agent in sorted(agents.items())
        if agent.is_subagent and evaluate("task", name, setup.ruleset) is not Action.DENY
    )
    return "\n".join((tool.description, "", "Agents:", *listed))
