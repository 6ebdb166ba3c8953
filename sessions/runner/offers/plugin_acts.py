"""What plugins do as `client`, in the name and with the rights of who has prompted.

They act in the tree of their session. What they write is marked as theirs, is said with the agent,
the model and the tools of the prompt that is worked on, and no turn that it begins acts again: a
plugin neither gives itself rights nor keeps a session busy for ever.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from opencode_web.lib.errors import Conflict, Invalid
from opencode_web.lib.json import JsonObject, object_of
from providers.llm.messages import ModelRef
from sessions.access import ProjectAccess, SessionAccess
from sessions.actions.compaction import request_compaction
from sessions.actions.control import request_stop
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.sessions import create_session, update_session
from sessions.events.messages import UserMessage
from sessions.models import Message, Part, Session, State
from sessions.repository.plugins import NOTES, WROTE
from sessions.wire import session_to_wire

MAX_ACTS = 5
MAX_ACTS_OF_TURN = 20
_MAX_TEXTS = 20
_MAX_KNOWN = 1_000
_acts: OrderedDict[str, int] = OrderedDict()


@dataclass(frozen=True)
class Act:
    """What is done to a session; `prompt` is the message that is worked on."""

    target: SessionAccess
    prompt: Message
    args: JsonObject

    @property
    def info(self) -> UserMessage:
        return UserMessage.model_validate(self.prompt.data)


def count_act(session: Session, prompt: Message) -> None:
    """Raises: Conflict where plugins may not act, or have acted too often."""
    if _is_begun_by_plugins(session, prompt):
        raise Conflict("A turn that a plugin has begun cannot act.")
    count = _acts.pop(prompt.pk, 0) + 1
    _acts[prompt.pk] = count
    while len(_acts) > _MAX_KNOWN:
        _acts.popitem(last=False)
    if count > MAX_ACTS_OF_TURN:
        raise Conflict(f"Plugins can act at most {MAX_ACTS_OF_TURN} times in a turn.")


def _is_begun_by_plugins(session: Session, prompt: Message) -> bool:
    """Also a turn of a sub-agent that was started in such a turn."""
    at: Session | None = session
    newest: Message | None = prompt
    while at is not None:
        if newest is not None:
            first = Part.objects.filter(message=newest, type="text").order_by("seq", "pk").first()
            notes = (first.data.get("metadata") or {}).get(NOTES) if first is not None else None
            if isinstance(notes, list) and any(
                isinstance(note, dict) and note.get("did") == WROTE for note in notes
            ):
                return True
        at = at.parent
        if at is not None:
            newest = Message.objects.filter(session=at, role="user").order_by("-seq").first()
    return False


def _create(act: Act) -> object:
    parent = act.target.session
    access = ProjectAccess(act.target.project, act.target.team, act.target.principal)
    title = act.args.get("title")
    made = create_session(
        access,
        title=title if isinstance(title, str) else "",
        agent=act.info.agent,
        permission=parent.permission,
        parent=parent,
    )
    return session_to_wire(made)


def _prompt(act: Act) -> object:
    if act.args.get("noReply") is not True:
        raise Invalid("Plugins do not wait for answers here: use promptAsync, or noReply.")
    _write(act, reply=False)
    return {}


def _prompt_async(act: Act) -> object:
    _write(act, reply=act.args.get("noReply") is not True)
    return None


def _write(act: Act, *, reply: bool) -> None:
    given, info, session = act.args.get("parts"), act.info, act.target.session
    if not isinstance(given, list) or not 0 < len(given) <= _MAX_TEXTS:
        raise Invalid(f"parts is no list of 1 to {_MAX_TEXTS} texts.")
    parts: list[JsonObject] = []
    for one in given:
        text = one.get("text") if isinstance(one, dict) and one.get("type") == "text" else None
        if not isinstance(text, str):
            raise Invalid("Plugins only prompt with parts of the type text.")
        parts.append({"type": "text", "text": text})
    # A session at work reads what needs no answer with its next step, and the rest in its turn.
    is_idle = session.state == State.IDLE
    draft = PromptDraft(
        parts=parts,
        agent=info.agent,
        model=ModelRef(info.model.providerID, info.model.modelID, info.model.variant),
        delivery="queue" if reply else "steer",
        tools=info.tools,
        by_plugins=True,
    )
    admit_prompt(act.target, draft, reply=reply or not is_idle)


def _update(act: Act) -> object:
    title = act.args.get("title")
    if not isinstance(title, str):
        raise Invalid("Plugins change only the title of a session.")
    return session_to_wire(update_session(act.target, title=title))


def _summarize(act: Act) -> object:
    request_compaction(act.target)
    return True


ACTS: dict[str, Callable[[Act], object]] = {
    "session.create": _create,
    "session.prompt": _prompt,
    "session.promptAsync": _prompt_async,
    "session.abort": lambda act: request_stop(act.target),
    "session.update": _update,
    "session.summarize": _summarize,
}


def parent_of(args: JsonObject) -> JsonObject:
    """Returns: the arguments of `session.create` as they name the session that it is done to."""
    return {**args, "id": args.get("parentID") or object_of(args, "body").get("parentID")}
