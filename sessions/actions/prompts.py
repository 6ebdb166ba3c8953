from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.db import transaction
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from pydantic import ValidationError

from opencode_web.lib.compiled import CompiledRows
from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.ids import is_id, new_id
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import clean_json, clean_text
from providers.llm.messages import ModelRef
from providers.resolve import default_model, parse_ref, resolve_model
from sessions.access import SessionAccess
from sessions.actions.admission import find_closure, require_admission
from sessions.agents.fallback_models import models_of, usable_model
from sessions.agents.loader import Agent, choose_agent, load_agents
from sessions.commands.marks import KEY, Mark, with_mark
from sessions.config.effective import config_data, session_config
from sessions.config.model import Config
from sessions.events.hidden import hide_in_event
from sessions.events.inbox import Delivery, InputAdmitted
from sessions.events.mentions import KEY as PEOPLE
from sessions.events.mentions import with_people
from sessions.events.messages import MessageModel, MessageTime, UserMessage
from sessions.events.parts import PART, AgentPart, AnyPart, FilePart, SubtaskPart, TextPart
from sessions.events.store import append, lock_session
from sessions.events.types import SessionEvent, SessionStatus
from sessions.files import READ, resolve_file_part
from sessions.inbox import find_input, promotion_events
from sessions.models import Event, Message, Session, SessionInput, State
from sessions.output_format import read_format
from sessions.part_ids import is_any_taken, with_ascending_ids
from sessions.repository.plugins import NOTES, WROTE, PluginNote
from sessions.wake import wake
from sessions.wire import to_ms
from teams.audit import AuditAction, record
from teams.models import Role, User

# What a model cannot take of a longer text is kept as a file: see sessions.runner.log.long_texts.
MAX_TEXT_CHARS = 5 * 1024 * 1024
_MESSAGE = CompiledRows(lambda one: Message.objects.filter(pk=one).values_list("pk"), str)
_INPUT_TYPES = ("text", "file", "agent", "subtask")


@dataclass(frozen=True)
class PromptDraft:
    """What somebody wants to say.

    Each part is a wire part input: type and content, an id at most.
    """

    parts: list[JsonObject]
    message_id: str | None = None
    agent: str | None = None
    model: ModelRef | None = None
    delivery: Delivery = "steer"
    system: str | None = None
    tools: dict[str, bool] | None = None
    format: JsonObject | None = None
    # Of the command that the first text came of.
    command: Mark | None = None
    # What a person has typed of it, where `@` and a name mentions people.
    typed: str = ""
    # Plugins have written it in the person's name.
    by_plugins: bool = False


def admit_prompt(
    access: SessionAccess, draft: PromptDraft, *, resume: bool = True, reply: bool = True
) -> SessionInput:
    """Accept a prompt durably, then wake the session.

    Repeating a message id with the same content and delivery returns the first input, whatever
    became of it, and wakes again; with others it is a conflict. `resume=False` admits without
    waking. `reply=False` writes the message straight into an idle session's history without a turn.

    Raises: Invalid for unusable parts, agent or model; Conflict for a message id in use and when
    the session takes no prompts (`require_admission`); NotFound for an unknown model, and below
    member.
    Source: FEAT-0001 FR-01.
    """
    if not access.team.can(Role.MEMBER):
        # Callers fetch with need=MEMBER; a viewer's access object must not get further by mistake.
        raise NotFound("Session", access.session.pk)
    session = access.session
    draft = _as_admitted_before(session, draft)
    config = session_config(session)
    agent = choose_agent(config, draft.agent or session.agent or None)
    ref = (
        draft.model
        or _agent_model(agent)
        or session_model(session, config, user=access.principal.user)
    )
    team = session.project.team
    data, user = config_data(session.project), access.principal.user
    usable_model(session.project, models_of(config, agent, ref), user=user)
    read_format(draft.format)
    info = UserMessage(
        id=_message_id(draft.message_id),
        sessionID=session.pk,
        time=MessageTime(created=to_ms(timezone.now())),
        agent=agent.name,
        model=MessageModel(providerID=ref.provider_id, modelID=ref.model_id, variant=ref.variant),
        system=clean_text(draft.system) if draft.system else None,
        tools=draft.tools,
        format=draft.format,
    )
    agents = load_agents(config)
    parts = build_parts(draft.parts, session=session, message_id=info.id, agents=agents)
    for part in parts:
        if isinstance(part, SubtaskPart) and part.model is not None:
            wanted = ModelRef(part.model.providerID, part.model.modelID)
            resolve_model(team, wanted, config=data, user=user)
    if draft.command is not None and isinstance(first := parts[0], TextPart):
        parts[0] = with_mark(first, draft.command)
    if draft.typed and isinstance(first := parts[0], TextPart):
        author = access.principal.user
        parts[0] = with_people(first, draft.typed, session=session, author=author)
    if draft.by_plugins:
        note = PluginNote("", "client", WROTE).to_json()
        parts[0] = parts[0].model_copy(update={"metadata": {NOTES: [note]}})
    event = InputAdmitted(
        author_id=access.principal.user.pk, delivery=draft.delivery, info=info, parts=parts
    )
    return admit_input(session.pk, event, resume=resume, reply=reply)


@transaction.atomic
def admit_input(
    session_id: str, event: InputAdmitted, *, resume: bool = True, reply: bool = True
) -> SessionInput:
    """Put a checked input into the inbox and wake the session.

    Raises: Conflict, also when the session takes no prompts.
    """
    session = lock_session(session_id)
    event = hide_in_event(session.project, event)
    row = _earlier(session, event)
    events: list[SessionEvent] = []
    if row is None:
        require_admission(session, event.author_id)
        events.append(event)
    wakes = resume and reply and find_closure(session) is None
    is_waiting = row is None or row.status == SessionInput.Status.ADMITTED
    if wakes and is_waiting and session.state == State.IDLE:
        # Busy from here on: whoever looks sees it at once, and the beat finds it if the doorbell
        # is lost.
        events.append(SessionStatus(state="busy"))
    append(session, events)
    if row is None:
        row = find_input(event.info.id)
        if row is None:
            raise RuntimeError(f"The input {event.info.id} was not written.")
        _record(session, row, event)
        if not reply and session.state == State.IDLE:
            append(session, promotion_events(session, [row]))
    if wakes:
        wake(session.pk, session.project)
    return row


def _record(session: Session, row: SessionInput, event: InputAdmitted) -> None:
    """By reference: who may read the text finds it in the session."""
    texts = [part.text for part in event.parts if isinstance(part, TextPart)]
    data: JsonObject = {
        "message": row.pk,
        "delivery": event.delivery,
        "agent": event.info.agent,
        "model": f"{event.info.model.providerID}/{event.info.model.modelID}",
        "characters": sum(map(len, texts)),
        "parts": len(event.parts),
    }
    team, author = session.project.team, row.author
    record(AuditAction.PROMPT_ADMITTED, actor=author, team=team, target=session, data=data)


def _earlier(session: Session, event: InputAdmitted) -> SessionInput | None:
    """The input of an exact retry. Raises: Conflict."""
    row = find_input(event.info.id)
    if row is None:
        if _MESSAGE.all(event.info.id) or is_any_taken(part.id for part in event.parts):
            raise Conflict(_("This message ID or part ID is already in use."))
        return None
    # Not with the row: somebody may have edited it since.
    first = Event.objects.get(session_id=row.session_id, seq=row.admitted_seq)
    fresh = event.model_dump(mode="json", exclude_none=True)
    if row.session_id != session.pk or _content(first.data) != _content(fresh):
        raise Conflict(_("This message ID was already used with different content."))
    return row


def _as_admitted_before(session: Session, draft: PromptDraft) -> PromptDraft:
    """A retry leaves open what its first try left open; the session may have changed since."""
    if draft.message_id is None:
        return draft
    row = session.inputs.filter(pk=draft.message_id).first()
    if row is None:
        return draft
    info = UserMessage.model_validate(row.data["info"])
    model = ModelRef(info.model.providerID, info.model.modelID, info.model.variant)
    return replace(draft, agent=draft.agent or info.agent, model=draft.model or model)


def _content(data: JsonObject) -> JsonObject:
    """What counts as the same prompt: everything but the time, and ids the server made."""
    info = {key: value for key, value in data["info"].items() if key != "time"}  # type: ignore[union-attr]
    parts: list[JsonValue] = [
        {key: value for key, value in part.items() if key != "id"}  # type: ignore[union-attr]
        for part in data["parts"]  # type: ignore[union-attr]
    ]
    return {"info": info, "parts": parts, "delivery": data["delivery"]}


def build_parts(
    inputs: list[JsonObject], *, session: Session, message_id: str, agents: Mapping[str, Agent]
) -> list[AnyPart]:
    """Check the parts of a prompt and give each its ids. Raises: Invalid."""
    if not inputs:
        raise Invalid("A prompt needs at least one part.")
    parts: list[AnyPart] = []
    for given in inputs:
        if given.get("type") not in _INPUT_TYPES:
            raise Invalid(f"A prompt cannot have a part of type {given.get('type')!r}.")
        given_id = given.get("id")
        part_id = given_id if isinstance(given_id, str) else new_id("prt")
        if not is_id(part_id, "prt"):
            raise Invalid(f"Not a part id: {part_id}")
        given = {key: clean_json(value) for key, value in given.items()}
        if isinstance(metadata := given.get("metadata"), dict):
            # What is to be run or read is said by a command's template and by files alone, and what
            # plugins did by them; who is mentioned, by the server.
            ours = (KEY, READ, NOTES, PEOPLE)
            given["metadata"] = {key: one for key, one in metadata.items() if key not in ours}
        address = {"id": part_id, "sessionID": session.pk, "messageID": message_id}
        try:
            part = PART.validate_python({**given, **address})
        except ValidationError as exc:
            first = exc.errors()[0]
            where = ".".join(str(key) for key in first["loc"][1:])
            raise Invalid(f"parts.{where}: {first['msg']}") from exc
        parts.extend(_resolved(part, session, agents))
    if sum(len(part.text) for part in parts if part.type == "text") > MAX_TEXT_CHARS:
        most = number_format(MAX_TEXT_CHARS, force_grouping=True)
        raise Invalid(_("A prompt can have at most {count} characters.").format(count=most))
    if not any(part.type != "text" or part.text.strip() for part in parts):
        raise Invalid(_("The prompt is empty."))
    given_ids = {str(one["id"]) for one in inputs if one.get("id")}
    return with_ascending_ids(parts, given=given_ids)


def _resolved(part: AnyPart, session: Session, agents: Mapping[str, Agent]) -> list[AnyPart]:
    """The parts that one given part becomes. Raises: Invalid."""
    if isinstance(part, FilePart):
        return resolve_file_part(part, session)
    if isinstance(part, SubtaskPart):
        _require_agent(part.agent, agents)
    if not isinstance(part, AgentPart):
        return [part]
    _require_agent(part.name, agents)
    text = (
        f"The user asks for the agent {part.name}. Write a prompt for it from the message above "
        "and its context, and give it to that agent with the tool task."
    )
    address = {"sessionID": part.sessionID, "messageID": part.messageID}
    return [part, TextPart(id=new_id("prt"), **address, text=text, synthetic=True)]


def _require_agent(name: str, agents: Mapping[str, Agent]) -> None:
    if name in agents and not agents[name].hidden:
        return
    known = ", ".join(sorted(one for one, agent in agents.items() if not agent.hidden))
    raise Invalid(
        _('Agent not found: "{name}". Available agents: {names}').format(
            name=name[:100], names=known
        )
    )


def _message_id(given: str | None) -> str:
    if given is None:
        return new_id("msg")
    if not is_id(given, "msg"):
        raise Invalid(f"Not a message id: {given}")
    return given


def _agent_model(agent: Agent) -> ModelRef | None:
    return parse_ref(agent.model, variant=agent.variant or None) if agent.model else None


def session_model(session: Session, config: Config, *, user: User) -> ModelRef:
    """The model of a prompt of `user` that names none. Raises: Invalid when there is none."""
    if session.model:
        model = session.model
        return ModelRef(model["providerID"], model["id"], model.get("variant"))
    data = config_data(session.project)
    return default_model(session.project.team, wanted=config.model, config=data, user=user)
