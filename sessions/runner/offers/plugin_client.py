"""What plugins get as `client`: with the rights of who has prompted, in this project.

Nothing of the server is in the sandbox, neither an address nor a token: each call comes over the
pipe of the process, and is answered as long as the hook or tool that made it is at work.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

from django.db.models import Q, QuerySet

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError, Forbidden, Invalid, NotFound
from opencode_web.lib.json import JsonObject, JsonValue, object_of
from opencode_web.lib.text import clean_text
from providers.catalog import Model
from providers.defaults import best_model
from providers.effective import keyless_providers
from providers.resolve import list_providers
from sessions.access import SessionAccess, access_session
from sessions.agents.loader import agent_to_wire, ordered_agents
from sessions.browse.ask import browse
from sessions.browse.file_scope import Where
from sessions.browse.operations import (
    FIND_FILES,
    FIND_TEXT,
    LIST_FILES_CHANGED,
    LIST_FOLDER,
    READ_FILE,
)
from sessions.config.effective import config_data, effective_data, project_config
from sessions.config.known_keys import split_unknown
from sessions.config.public import public_config
from sessions.git.branch import branch_of
from sessions.models import Message, Part, Session, State
from sessions.rules.in_force import agent_ruleset
from sessions.runner.offers.plugin_acts import ACTS, MAX_ACTS, Act, count_act, parent_of
from sessions.todos import load_todos
from sessions.visibility import sessions_in
from sessions.wire import (
    SESSION_COLUMNS,
    message_to_wire,
    project_to_wire,
    session_to_wire,
    status_to_wire,
)
from teams.auth import authenticate_for
from teams.models import Role
from tools.errors import ToolError

logger = logging.getLogger(__name__)

# Asked whenever plugins hear of something.
_NEWEST_PROMPT = CompiledQuery(
    lambda session_id: (
        Message.objects.filter(session=session_id, role="user")
        .select_related("author")
        .order_by("-seq")[:1]
    ),
    str,
)
_NOBODY = "client is not available: nobody is there in whose name it reads."
MAX_CALLS = 100
MAX_SAID = 3
MAX_SAID_CHARS = 200
MAX_LISTED = 100
MAX_BYTES = 4 * 1024 * 1024

Read = Callable[[SessionAccess, JsonObject], Any]  # Any: typed dicts, which are JSON
Look = Callable[[Where, JsonObject], Awaitable[Any]]  # Any: as above


class PluginClient:
    """Answers the calls of one hook or tool of plugins in a session.

    `message_id` is the prompt that is worked on or the answer to it; empty for the newest prompt.
    """

    def __init__(self, session: Session, message_id: str = "") -> None:
        self._session = session
        self._message_id = message_id
        self._calls = 0
        self._acts = 0
        # What plugins have said to people, until somebody has noted it.
        self.said: list[str] = []

    async def __call__(self, name: str, given: JsonObject) -> JsonObject:
        """Returns: `{data}`, or `{error}` as clients of the API know it.

        Raises: ToolError for what plugins are not offered, or for too much of it.
        """
        self._calls += 1
        if self._calls > MAX_CALLS:
            raise ToolError(f"A hook can call client at most {MAX_CALLS} times.")
        args = given
        for key in ("body", "path", "query"):
            args = {**args, **object_of(given, key)}
        try:
            value = await self._read(name, args)
        except AppError as exc:
            return {"error": exc.to_json()}
        if await asyncio.to_thread(_is_large, value):
            raise ToolError(
                f"The answer to client.{name} is larger than {MAX_BYTES >> 20} MiB. Ask for less, "
                "for example with a limit."
            )
        return {"data": value}

    async def _read(self, name: str, args: JsonObject) -> JsonValue:
        value: JsonValue
        if (read := _READS.get(name)) is not None:
            value = await in_db(lambda: read(self.access(), args))
        elif (look := _LOOKS.get(name)) is not None:
            access = await in_db(self.access)
            cautious = not access.team.can(Role.MEMBER)
            value = await look(Where.of_session(access.session, cautious=cautious), args)
        elif (act := ACTS.get(name)) is not None:
            value = await in_db(self._act, act, args, name)
        elif name == "tui.showToast":
            text = clean_text(_text(args, "message"))[:MAX_SAID_CHARS]
            if len(self.said) < MAX_SAID and text:
                self.said.append(text)
            value = True
        else:
            raise ToolError(f"client.{name} is not available to plugins.")
        return value

    def _act(self, act: Callable[[Act], Any], args: JsonObject, name: str) -> JsonValue:
        access, prompt = self.access(), self._prompt()
        if not access.team.can(Role.MEMBER):
            raise Forbidden("Whoever has prompted may only read here.")
        self._acts += 1
        if self._acts > MAX_ACTS:
            raise ToolError(f"A hook can act at most {MAX_ACTS} times.")
        named = _named(access, parent_of(args) if name == "session.create" else args)
        target = access_session(access.principal, named.pk, need=Role.MEMBER)
        count_act(access.session, prompt)
        done: JsonValue = act(Act(access.session, target, prompt, args))
        logger.info("plugin.acted session=%s act=%s target=%s", access.session.pk, name, named.pk)
        return done

    def access(self) -> SessionAccess:
        """Asked again for each call: rights end when they end."""
        author = self._prompt().author
        if author is None or not author.is_active:
            raise ToolError(_NOBODY)
        person = authenticate_for(author, self._session.project.team)
        return access_session(person, self._session.pk)

    def _prompt(self) -> Message:
        prompt = _NEWEST_PROMPT.first(self._session.pk)
        if self._message_id and (prompt is None or prompt.pk != self._message_id):
            answer = Message.objects.filter(session=self._session, pk=self._message_id).first()
            asked = answer.data.get("parentID") if answer is not None else None
            prompts = Message.objects.filter(session=self._session, role="user")
            prompt = prompts.filter(pk=asked or self._message_id).select_related("author").first()
        if prompt is None:
            raise ToolError(_NOBODY)
        return prompt


def _is_large(value: JsonValue) -> bool:
    return len(json.dumps(value)) > MAX_BYTES


def _named(access: SessionAccess, args: JsonObject) -> Session:
    """Returns: the session itself, one that it belongs to, or one of its sub-agents."""
    session_id = str(args.get("id") or args.get("sessionID") or access.session.pk)
    if session_id == access.session.pk:
        return access.session
    found = access_session(access.principal, session_id).session
    if found.top_id != access.session.top_id:
        raise NotFound("Session", session_id)
    return found


def _text(args: JsonObject, name: str) -> str:
    value = args.get(name)
    if not isinstance(value, str):
        raise Invalid(f"{name} is missing, or no text.")
    return value


def _limit(args: JsonObject) -> int:
    value = args.get("limit")
    return max(1, min(value, MAX_LISTED)) if isinstance(value, int) else MAX_LISTED


def told_sessions(access: SessionAccess) -> QuerySet[Session]:
    """Returns: the sessions of the project of which plugins may hear.

    Of private ones only those of their own tree: what a plugin learns it can say in this session,
    which others read.
    """
    own = Q(pk=access.session.top_id) | Q(root=access.session.top_id)
    is_open = Q(root=None, is_private=False) | Q(root__is_private=False)
    return sessions_in(access.team).filter(own | is_open, project=access.project)


def _sessions(access: SessionAccess, args: JsonObject) -> object:
    rows = told_sessions(access).only(*SESSION_COLUMNS)
    found = list(rows.order_by("-updated_at", "pk")[: _limit(args)])
    for row in found:
        row.project = access.project
    return [session_to_wire(row) for row in found]


def _children(access: SessionAccess, args: JsonObject) -> object:
    rows = sessions_in(access.team).filter(parent=_named(access, args))
    found = rows.select_related("project").order_by("created_at", "pk")[:MAX_LISTED]
    return [session_to_wire(row) for row in found]


def _statuses(access: SessionAccess, args: JsonObject) -> object:
    rows = told_sessions(access).exclude(state=State.IDLE)
    return {row.pk: status_to_wire(row) for row in rows[:MAX_LISTED]}


def _messages(access: SessionAccess, args: JsonObject) -> object:
    """The newest, the oldest of them first."""
    session = _named(access, args)
    newest = Message.objects.visible(session).order_by("-seq")[: _limit(args)]
    return _with_parts(list(newest)[::-1])


def _message(access: SessionAccess, args: JsonObject) -> object:
    session, message_id = _named(access, args), _text(args, "messageID")
    found = Message.objects.visible(session).filter(pk=message_id).first()
    if found is None:
        raise NotFound("Message", message_id)
    return _with_parts([found])[0]


def _with_parts(messages: list[Message]) -> list[object]:
    parts: dict[str, list[Part]] = defaultdict(list)
    for part in Part.objects.filter(message__in=messages).order_by("seq", "pk"):
        parts[part.message_id].append(part)
    return [message_to_wire(one, parts[one.pk]) for one in messages]


def _paths(access: SessionAccess, args: JsonObject) -> object:
    session = access.session
    empty = {"home": "", "state": "", "config": ""}
    return {**empty, "worktree": session.worktree, "directory": session.directory}


def _agents(access: SessionAccess, args: JsonObject) -> object:
    project, folder = access.project, access.session.folder
    config = project_config(project, folder)
    return [
        agent_to_wire(agent, agent_ruleset(project, agent, config, folder))
        for agent in ordered_agents(config)
    ]


def shown_config(session: Session) -> JsonObject:
    """Returns: the settings in force where a session works, without secrets."""
    return public_config(split_unknown(effective_data(session.project, session.folder))[0])


def _providers(access: SessionAccess, args: JsonObject) -> object:
    """Those that the person can use now, without anything that reaches them."""
    user, data = access.principal.user, config_data(access.project)
    found = list_providers(access.project.team, data, user=user)
    keyless = keyless_providers(found)
    usable = [one for one in found if one.id not in keyless and one.models]
    return {
        "all": [
            {
                "id": one.id,
                "name": one.name,
                "source": one.source,
                "env": [],
                "options": {},
                "models": {key: _model(one.id, model) for key, model in one.models.items()},
            }
            for one in usable
        ],
        "default": {one.id: best_model(one).id for one in usable},
        "connected": [one.id for one in usable],
    }


def _model(provider_id: str, model: Model) -> JsonObject:
    limit = {"context": model.limit.context, "output": model.limit.output}
    return {"id": model.id, "providerID": provider_id, "name": model.name, "limit": {**limit}}


def _branch(access: SessionAccess, args: JsonObject) -> object:
    folder = access.session.folder
    if not folder:
        return {"branch": branch_of(access.project)}
    rows = access.project.checkouts.filter(folder=folder)
    return {"branch": rows.values_list("branch", flat=True).first() or ""}


_READS: dict[str, Read] = {
    "session.list": _sessions,
    "session.get": lambda access, args: session_to_wire(_named(access, args)),
    "session.children": _children,
    "session.status": _statuses,
    "session.todo": lambda access, args: load_todos(_named(access, args).pk),
    "session.messages": _messages,
    "session.message": _message,
    "project.current": lambda access, args: project_to_wire(access.project),
    "path.get": _paths,
    "vcs.get": _branch,
    "app.agents": _agents,
    "config.get": lambda access, args: shown_config(access.session),
    "provider.list": _providers,
}
_LOOKS: dict[str, Look] = {
    "file.list": lambda where, args: browse(where, LIST_FOLDER, path=_text(args, "path")),
    "file.read": lambda where, args: browse(where, READ_FILE, path=_text(args, "path")),
    "file.status": lambda where, args: browse(where, LIST_FILES_CHANGED),
    "find.text": lambda where, args: browse(where, FIND_TEXT, pattern=_text(args, "pattern")),
    "find.files": lambda where, args: browse(
        where, FIND_FILES, query=_text(args, "query"), kind="", limit=_limit(args)
    ),
}
