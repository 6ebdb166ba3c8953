"""What plugins do as `client`, in the name and with the rights of who has prompted.

They act in the tree of their session, and write in it and its sub-agents. What they write is marked
as theirs, is said with the agent and the model of the prompt that is worked on, under the rules of
the session, and no turn that it begins acts again: a plugin neither gives itself rights nor keeps a
session busy for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from opencode_web.lib.counters import count
from opencode_web.lib.errors import Conflict, Invalid
from opencode_web.lib.json import JsonObject, object_of
from providers.llm.messages import ModelRef
from sessions.access import ProjectAccess, SessionAccess
from sessions.actions.compaction import request_compaction
from sessions.actions.control import request_stop
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.sessions import create_session, update_session
from sessions.events.messages import UserMessage
from sessions.models import Message, Session, State
from sessions.repository.plugins import is_by_plugins
from sessions.wire import session_to_wire

MAX_ACTS = 5
MAX_ACTS_OF_TURN = 20
_MAX_TEXTS = 20
_DAY_S = 86_400


@dataclass(frozen=True)
class Act:
    """What is done to a session; `prompt` is the message that is worked on, in `session`."""

    session: Session
    target: SessionAccess
    prompt: Message
    args: JsonObject

    @property
    def info(self) -> UserMessage:
        return UserMessage.model_validate(self.prompt.data)


def count_act(session: Session, prompt: Message) -> None:
    """Raises: Conflict where plugins may not act, or have acted too often."""
    origin = _origin(session, prompt)
    if origin is None:
        raise Conflict("A turn that a plugin has begun cannot act.")
    if count(f"plugin-acts.{origin.pk}", window_s=_DAY_S).number > MAX_ACTS_OF_TURN:
        raise Conflict(f"Plugins can act at most {MAX_ACTS_OF_TURN} times in a turn.")


def _origin(session: Session, prompt: Message) -> Message | None:
    """Returns: what a person has said at the top of the tree, from which a turn has come; None when
    a plugin has written on the way, or the conversation is being summed up, which plugins ask for,
    too."""
    if prompt.parts.filter(type="compaction").exists():
        return None
    found, at = _said(prompt), session.parent
    while found is not None and at is not None:
        newest = Message.objects.filter(session=at, role="user").order_by("-seq").first()
        # A sub-agent of which nobody knows who has begun it counts as a plugin's.
        found, at = _said(newest), at.parent
    return found


def _said(prompt: Message | None) -> Message | None:
    """Returns: the message, or the one before it that the server goes on with; None when a plugin
    has written that."""
    while prompt is not None:
        parts = [part.data for part in prompt.parts.all()]
        if any(is_by_plugins(part) for part in parts):
            return None
        if any(part["type"] != "compaction" and not part.get("synthetic") for part in parts):
            return prompt
        prompts = Message.objects.filter(session=prompt.session_id, role="user")
        prompt = prompts.filter(seq__lt=prompt.seq).order_by("-seq").first()
    return None


def _require_below(act: Act) -> None:
    """Above, and in what others have begun there, rules may hold that are not those of the turn.

    Raises: Conflict."""
    at: Session | None = act.target.session
    while at is not None and at.pk != act.session.pk:
        at = at.parent
    if at is None:
        raise Conflict("Plugins write only in their session and its sub-agents.")


def _create(act: Act) -> object:
    _require_below(act)
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
        raise Invalid(
            "Plugins do not wait for answers here, because a turn outlasts a hook: use promptAsync "
            "and the event session.idle, or noReply."
        )
    _write(act, reply=False)
    return {}


def _prompt_async(act: Act) -> object:
    _write(act, reply=act.args.get("noReply") is not True)
    return None


def _write(act: Act, *, reply: bool) -> None:
    _require_below(act)
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
