"""The title of a session by a small model, beside the session's own work.

A session first has the first line of its prompt as its title (`titles`). After its first turn it is
asked for a better one, once. Nothing waits for it, and its failure is only logged.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError
from opencode_web.lib.marks import defuse
from opencode_web.lib.telemetry import operation
from opencode_web.lib.text import clean_text
from providers.catalog import SCRIPTED_NPM
from providers.funding import FundedRequest, fund
from providers.llm.limits import thinking_budget
from providers.llm.messages import ModelRef, ProviderRequest, ResolvedModel, Text, UserMessage
from providers.resolve import parse_ref
from providers.small_model import small_model
from sessions.agents.fallback_models import OF_PROVIDER, models_of, usable_model
from sessions.agents.loader import Agent, load_agents
from sessions.config.effective import effective_data, session_config
from sessions.config.model import Config
from sessions.events.store import append, lock_session
from sessions.events.types import SessionEvent, SessionUpdated
from sessions.models import Run, Session, SessionInput
from sessions.repository.trust import files_of
from sessions.runner.drain.titles import title_from
from sessions.runner.log.single_request import SingleAnswer, ask_once, settle_single

TIMEOUT_S = 30.0
MAX_PROMPT_CHARS = 4_000
# What a model that reasons may need before it comes to the one line, beside a budget it is given.
MAX_OUTPUT_TOKENS = 2_000
MAX_TITLE_CHARS = 100
_FRAMES = ("prompt",)
_THINKING = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)


@dataclass(frozen=True)
class _Task:
    # The title that is to be replaced, and no other.
    provisional: str
    request: FundedRequest
    author_id: int | None
    # Who is asked when its model does not answer.
    rest: tuple[ModelRef, ...] = ()


async def write_title(session_id: str) -> None:
    """Name a session whose title is still the first line of its prompt.

    A model is asked once for each session, whatever comes of it.
    """
    with operation("title", session=session_id) as done:
        try:
            task = await in_db(_take, session_id)
            if task is None:
                done.outcome = "not_wanted"
                return
            while task is not None:
                answer = SingleAnswer()
                try:
                    async with asyncio.timeout(TIMEOUT_S):
                        answer = await ask_once(task.request)
                finally:
                    done.outcome = await asyncio.shield(in_db(_settle, session_id, task, answer))
                failed = isinstance(answer.error, OF_PROVIDER)
                task = await in_db(_go_on, session_id, task) if failed and task.rest else None
        except (AppError, TimeoutError) as exc:
            done.outcome = type(exc).__name__


@transaction.atomic
def _take(session_id: str) -> _Task | None:
    """Claim the one request, and build it.

    Raises: AppError when the model cannot be used or paid for; then a later turn asks again.
    """
    if not Run.objects.filter(session=session_id, title_due=True).update(title_due=False):
        return None
    session = _session(session_id)
    first = _first_prompt(session)
    if first is None or session.title != title_from(first):
        return None
    config = session_config(session)
    agent = load_agents(config).get("title")
    if agent is None:
        return None
    return _task(session, first, agent, _models(session, first, agent, config))


@transaction.atomic
def _go_on(session_id: str, task: _Task) -> _Task | None:
    """Build the request for the next model. Raises: AppError when there is no further one."""
    session = _session(session_id)
    agent, first = load_agents(session_config(session)).get("title"), _first_prompt(session)
    return _task(session, first, agent, task.rest) if agent and first else None


def _session(session_id: str) -> Session:
    return Session.objects.select_related("project__team").get(pk=session_id)


def _first_prompt(session: Session) -> SessionInput | None:
    prompts = session.inputs.filter(status=SessionInput.Status.PROMOTED).select_related("author")
    return prompts.order_by("admitted_seq").first()


def _task(
    session: Session, prompt: SessionInput, agent: Agent, refs: Sequence[ModelRef]
) -> _Task | None:
    model = usable_model(session.project, refs, user=prompt.author).model
    # The scripted demo is no model: the first line of the prompt names its sessions.
    if model.npm == SCRIPTED_NPM:
        return None
    funded = fund(
        _build_request(session, prompt, agent, model),
        session.project.team,
        call_id=_reservation(session.pk),
        user_id=prompt.author_id,
        project_id=session.project_id,
    )
    rest = tuple(refs[refs.index(model.ref) + 1 :])
    return _Task(session.title, funded, prompt.author_id, rest)


def _reservation(session_id: str) -> str:
    return f"title.{session_id}"


def _models(session: Session, prompt: SessionInput, agent: Agent, config: Config) -> list[ModelRef]:
    """Raises: AppError when the model cannot be used any more."""
    if agent.model:
        ref = parse_ref(agent.model, variant=agent.variant or None)
    else:
        model = prompt.data["info"]["model"]
        ref = ModelRef(model["providerID"], model["modelID"])
        data = effective_data(session.project, files_of(session))
        ref = small_model(session.project.team, ref, data, user=prompt.author)
    return models_of(config, agent, ref)


def _build_request(
    session: Session, prompt: SessionInput, agent: Agent, resolved: ResolvedModel
) -> ProviderRequest:
    said = "\n\n".join(
        part["text"]
        for part in prompt.data["parts"]
        if part["type"] == "text" and not part.get("synthetic")
    )
    said = defuse(said[:MAX_PROMPT_CHARS], _FRAMES)
    text = f"The conversation begins with:\n\n<prompt>\n{said}\n</prompt>"
    limit = MAX_OUTPUT_TOKENS + thinking_budget(resolved.options)
    return ProviderRequest(
        model=resolved,
        system=(agent.prompt,),
        messages=(UserMessage((Text(text),)),),
        tools=(),
        session_id=session.pk,
        temperature=agent.temperature,
        top_p=agent.top_p,
        max_output_tokens=min(limit, resolved.limit.output or limit),
        purpose="title",
    )


@transaction.atomic
def _settle(session_id: str, task: _Task, answer: SingleAnswer) -> str:
    """Set the title unless a person has, and count what it cost. Returns: the outcome."""
    session = lock_session(session_id)
    events: list[SessionEvent] = []
    events += settle_single(
        session,
        task.request,
        answer,
        call_id=_reservation(session_id),
        author_id=task.author_id,
    )
    title = clean_title(answer.text)
    if title and session.title == task.provisional:
        events.append(SessionUpdated(title=title))
    append(session, events)
    return "completed" if session.title == title else "kept"


def clean_title(answer: str) -> str:
    """Returns: the first line that a model's answer says, cut; "" when it says nothing.

    Source: behaviour facts 4.8.
    """
    lines = (line.strip(" \t#*\"'`") for line in _THINKING.sub("", answer).splitlines())
    title = " ".join(clean_text(next((line for line in lines if line), "")).split())
    return title if len(title) <= MAX_TITLE_CHARS else f"{title[: MAX_TITLE_CHARS - 3]}..."
