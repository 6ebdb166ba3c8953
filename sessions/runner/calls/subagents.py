"""Sub-agents: a task call has a session of its own work, and waits for it without holding anything.

The call's part names its child in the transaction that starts it, so that a call which is run again
(after the child came to its end, or after a crash) never starts a second one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from opencode_web.lib.ids import new_id, new_slug
from opencode_web.lib.json import JsonObject
from sessions.agents.loader import Agent, load_agents
from sessions.commands.marks import SUBTASK, call_of
from sessions.config.model import Config
from sessions.events.inbox import InputAdmitted
from sessions.events.messages import AssistantMessage, MessageModel, MessageTime, UserMessage
from sessions.events.parts import PartModel, SubtaskPart, TextPart, ToolPart
from sessions.events.store import append, lock_session, start_log
from sessions.events.types import (
    PartUpdated,
    SessionCreated,
    SessionStatus,
    SessionUpdated,
)
from sessions.models import Session, State
from sessions.rules.in_force import inherited_rules
from sessions.runner.calls.suspension import CHILD, child_of, suspended
from sessions.runner.log.answers import model_for
from sessions.runner.log.history import newest_answer, newest_prompt
from sessions.runner.log.lease import Lease
from sessions.wake import wake
from sessions.wire import to_ms
from teams.models import User
from tools.context import Report, Subtask
from tools.errors import ToolError


@dataclass(frozen=True)
class _Order:
    """A task on its way to a sub-agent: who calls, for whom, and how deep in the tree."""

    session: Session
    task: Subtask
    agent: Agent
    caller: AssistantMessage
    # Its agent's may stand before it.
    model: MessageModel
    # Who prompted; nobody when that person is gone.
    author: User | None
    depth: int
    config: Config


def spawn(
    lease: Lease, part: ToolPart, task: Subtask, config: Config
) -> tuple[ToolPart, Report | None]:
    """Start the sub-agent of a call, or collect what it came to.

    Returns: the part as it is now, and no report while the sub-agent works.
    Raises: ToolError when it cannot be started, failed or was stopped; LeaseLost.
    """
    part, child = _ensure_child(lease, part, task, config)
    # Outside of the transaction, which has to be committed all the same.
    return part, _report(child) if child.state == State.IDLE else None


@transaction.atomic
def _ensure_child(
    lease: Lease, part: ToolPart, task: Subtask, config: Config
) -> tuple[ToolPart, Session]:
    session = lock_session(lease.session_id, token=lease.token)
    if known_id := child_of(part):
        known = session.children.filter(pk=known_id).first()
        if known is None:
            raise ToolError("The sub-agent's session was deleted. Nothing is known of its work.")
        return part, known
    caller = AssistantMessage.model_validate(session.messages.get(pk=part.messageID).data)
    order = _Order(
        session=session,
        task=task,
        agent=_agent(config, task.agent),
        caller=caller,
        model=model_for(caller, _named_model(session, part)),
        author=prompt.author if (prompt := newest_prompt(session)) is not None else None,
        depth=depth_of(session),
        config=config,
    )
    child = _resumed(order) or _created(order)
    _hand_over(order, child)
    # In one transaction with the child: a crash from here on does not settle the call.
    part = suspended(part, title=task.description, **_metadata(child, session))
    append(session, [PartUpdated(part=part)])
    return part, child


def _agent(config: Config, name: str) -> Agent:
    agents = load_agents(config)
    agent = agents.get(name)
    if agent is None or agent.hidden:
        names = ", ".join(sorted(one.name for one in agents.values() if one.is_subagent))
        raise ToolError(f"There is no agent {name!r}. Agents for tasks: {names}.")
    return agent


def _resumed(order: _Order) -> Session | None:
    """The sub-agent of before, with the rules of who calls it now.

    One that is unknown here is started anew, as OpenCode does. Raises: ToolError while it works.
    """
    session, task = order.session, order.task
    if not task.task_id or not session.children.filter(pk=task.task_id).exists():
        return None
    child = lock_session(task.task_id)
    if child.archived_at is not None:
        raise ToolError(f"The sub-agent {child.pk} is archived. Start a new one without task_id.")
    claimed = session.parts.filter(
        type="tool", data__state__status="running", data__state__metadata__sessionId=child.pk
    )
    if child.state != State.IDLE or claimed.exists():
        raise ToolError(f"The sub-agent {child.pk} is still at work. Wait for its report first.")
    append(child, [SessionUpdated(permission=_rules(order))])
    return child


def _rules(order: _Order) -> list[JsonObject]:
    may_spawn = order.depth + 1 < order.config.subagent_depth
    return inherited_rules(
        order.session, order.caller.agent, order.agent, order.config, may_spawn=may_spawn
    )


def _created(order: _Order) -> Session:
    if order.depth >= order.config.subagent_depth:
        raise ToolError(
            f"Sub-agents may not start others here: the limit of {order.config.subagent_depth} "
            "levels (`subagent_depth`) is reached. Do the work yourself."
        )
    session, agent = order.session, order.agent
    owner = order.author or session.owner
    event = SessionCreated(
        project_id=session.project_id,
        folder=session.folder or None,
        path=session.path or None,
        owner_id=owner.pk if owner else None,
        parent_id=session.pk,
        root_id=session.top_id,
        title=f"{order.task.description} (@{agent.name} subagent)"[:300],
        slug=new_slug(),
        agent=agent.name,
        permission=_rules(order),
        read_only=session.is_read_only or None,
        cost_limit=session.cost_limit,
    )
    return start_log(new_id("ses"), session.project, event)


def _hand_over(order: _Order, child: Session) -> None:
    """Give the task to the child, in the name of whoever prompted, and wake it."""
    message_id = new_id("msg")
    info = UserMessage(
        id=message_id,
        sessionID=child.pk,
        time=MessageTime(created=to_ms(timezone.now())),
        agent=order.agent.name,
        model=_model(order),
    )
    text = TextPart(
        id=new_id("prt"), sessionID=child.pk, messageID=message_id, text=order.task.prompt
    )
    append(
        child,
        [
            InputAdmitted(
                author_id=order.author.pk if order.author else None,
                delivery="queue",
                info=info,
                parts=[text],
            ),
            SessionStatus(state="busy"),
        ],
    )
    wake(child.pk, order.session.project)


def _named_model(session: Session, part: ToolPart) -> PartModel | None:
    """The model of the subtask that a call was made for, if a person named one."""
    subtask_id = (call_of(part) or {}).get(SUBTASK)
    if not isinstance(subtask_id, str):
        return None
    row = session.parts.filter(pk=subtask_id, type="subtask").first()
    return SubtaskPart.model_validate(row.data).model if row is not None else None


def _model(order: _Order) -> MessageModel:
    """The agent's own model, else the one that was named, else that of the calling answer."""
    agent = order.agent
    provider_id, _, model_id = agent.model.partition("/")
    if model_id:
        return MessageModel(providerID=provider_id, modelID=model_id, variant=agent.variant or None)
    return order.model


def working_calls(session: Session, parts: Sequence[ToolPart]) -> set[str]:
    """Returns: of these parts, the ids of those whose sub-agents have not come to an end."""
    children = {part.id: child for part in parts if (child := child_of(part))}
    working = session.children.filter(pk__in=children.values()).exclude(state=State.IDLE)
    ids = set(working.values_list("pk", flat=True))
    return {part_id for part_id, child in children.items() if child in ids}


def depth_of(session: Session) -> int:
    """How many sessions there are above this one."""
    depth, parent = 0, session.parent
    while parent is not None:
        depth, parent = depth + 1, parent.parent
    return depth


def _report(child: Session) -> Report:
    """What an idle child came to. Raises: ToolError."""
    answer = newest_answer(child)
    if answer is not None and answer.info.error is not None:
        error = str(answer.info.error.data.get("message", answer.info.error.name))
        raise ToolError(f"The sub-agent failed (task_id: {child.pk}): {error}")
    if answer is None or child.outcome in ("stopped", "failed", "interrupted"):
        why = child.outcome_detail or "it came to no answer"
        raise ToolError(f"The sub-agent ended without a report (task_id: {child.pk}): {why}")
    texts = [part.text for part in answer.parts if isinstance(part, TextPart) and part.text]
    text = texts[-1] if texts else "(It said nothing.)"
    parent = child.parent
    assert parent is not None
    return Report(child.pk, text, _metadata(child, parent))


def _metadata(child: Session, session: Session) -> JsonObject:
    return {CHILD: child.pk, "parentSessionId": session.pk}
