from __future__ import annotations

from dataclasses import dataclass, field
from os.path import normpath
from pathlib import Path
from urllib.parse import quote

from django.db import transaction
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from opencode_web.lib.ids import is_id
from opencode_web.lib.json import JsonObject
from providers.llm.messages import ModelRef
from providers.resolve import parse_ref
from sessions.access import SessionAccess
from sessions.actions.past_sessions import past_parts
from sessions.actions.prompts import PromptDraft, admit_input, admit_prompt
from sessions.agents.loader import load_agents
from sessions.commands.catalog import Command, load_commands
from sessions.commands.marks import Mark, Subtask, read_mark
from sessions.commands.template import (
    TemplatePiece,
    fill,
    mentions,
    order_arguments,
    split_lines,
)
from sessions.config.effective import session_config
from sessions.config.model import Config
from sessions.events.inbox import Delivery, InputAdmitted
from sessions.events.store import lock_session
from sessions.inbox import parts_of, pending_inputs
from sessions.mcp.servers import prompts_of_servers
from sessions.models import Event, SessionInput, State
from sessions.secrets import keys_in
from sessions.skills import session_skills
from teams.models import Role

MAX_SHELL_PARTS = 20
MAX_ARGUMENTS_CHARS = 100_000
_MAX_NAMES = 50
_MAX_MENTIONS = 20
_UNTRUSTED = "(Not run, because nobody has trusted this repository's files: `{}`)"
_BY_PLUGIN = "(Not run, because a plugin has written this command: `{}`)"


@dataclass(frozen=True)
class CommandCall:
    """A command as somebody calls it. `files` are parts that come with it."""

    name: str
    arguments: str
    message_id: str | None = None
    agent: str | None = None
    model: ModelRef | None = None
    delivery: Delivery = "steer"
    files: list[JsonObject] = field(default_factory=list)


def run_command(access: SessionAccess, call: CommandCall) -> SessionInput:
    """Admit the prompt that a command becomes. Nothing of it is run before its turn.

    Repeating a message id with the same command and arguments returns the first, whatever became
    of the command since.

    Raises: Invalid for an unknown command, with those there are; and as `admit_prompt`.
    """
    if not access.team.can(Role.MEMBER):
        raise NotFound("Session", access.session.pk)
    before = _called_before(access, call)
    if before is not None:
        return admit_input(access.session.pk, before)
    config = session_config(access.session)
    commands = session_commands(access, config)
    command = commands.get(call.name)
    if command is None:
        names = list(commands)
        more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        raise Invalid(
            _('Command not found: "{name}". Available commands: {names}{more}').format(
                name=call.name[:100], names=", ".join(names[:_MAX_NAMES]), more=more
            )
        )
    return admit_prompt(access, _draft(access, call, command, config))


_TYPED = "The following tool was executed by the user"


@transaction.atomic
def run_shell(
    access: SessionAccess,
    line: str,
    *,
    message_id: str | None = None,
    agent: str | None = None,
    model: ModelRef | None = None,
) -> SessionInput:
    """Have a shell line run that somebody typed. The agent reads it and its output later.

    It runs in the sandbox. What the rules deny is denied; nobody is asked, since whoever may type
    it may allow it.

    Raises: Conflict while the session works or waits; Invalid for an empty line; as `admit_prompt`.
    """
    if not line.strip():
        raise Invalid(_("Enter a command."))
    if keys_in(access.project, line):
        # With a mark in its place it would be another command.
        raise Invalid(
            _(
                "This command contains a key, which would be stored with it. Save the key as a "
                "secret of the project and use its variable, such as $NAME."
            )
        )
    session = lock_session(access.session.pk)
    again = message_id is not None and session.inputs.filter(pk=message_id).exists()
    if not again and (session.state != State.IDLE or pending_inputs(session.pk)):
        raise Conflict(_("The session is busy. Stop it, or wait until it is done."))
    draft = PromptDraft(
        parts=[{"type": "text", "text": _TYPED, "synthetic": True}],
        message_id=message_id,
        agent=agent,
        model=model,
        command=Mark("", line, (TemplatePiece(line, is_shell=True),), typed=True),
    )
    return admit_prompt(access, draft)


def session_commands(access: SessionAccess, config: Config) -> dict[str, Command]:
    """Returns: what can be called here, by name."""
    prompts = prompts_of_servers(access.session.project, config.mcp, access.principal.user.pk)
    return load_commands(config, session_skills(access.session, config).skills.values(), prompts)


def _called_before(access: SessionAccess, call: CommandCall) -> InputAdmitted | None:
    """The same prompt again, for the retry of a call: its template may have changed since."""
    if call.message_id is None:
        return None
    row = access.session.inputs.filter(pk=call.message_id).first()
    if row is None:
        return None
    parts = parts_of(row)
    mark = next((mark for part in parts if (mark := read_mark(part)) is not None), None)
    if mark is None or (mark.name, mark.arguments) != (call.name, call.arguments):
        return None
    first = Event.objects.get(session_id=row.session_id, seq=row.admitted_seq)
    return InputAdmitted.model_validate({**first.data, "delivery": call.delivery})


def _draft(
    access: SessionAccess, call: CommandCall, command: Command, config: Config
) -> PromptDraft:
    if len(call.arguments) > MAX_ARGUMENTS_CHARS:
        raise Invalid(
            _("Arguments can have at most {count} characters.").format(
                count=number_format(MAX_ARGUMENTS_CHARS, force_grouping=True)
            )
        )
    arguments = order_arguments(call.arguments, command.argument_names)
    pieces = fill(command.config.template, arguments)
    if command.source != "command":
        pieces = [TemplatePiece(piece.written) for piece in pieces]
    elif not command.runs_shell:
        said = _BY_PLUGIN if command.by_plugin else _UNTRUSTED
        pieces = [
            TemplatePiece(said.format(piece.text)) if piece.is_shell else piece for piece in pieces
        ]
    shell = [piece for piece in pieces if piece.is_shell]
    if len(shell) > MAX_SHELL_PARTS:
        raise Invalid(
            _("A command can have at most {count} shell parts.").format(count=MAX_SHELL_PARTS)
        )
    own = command.config
    agents = load_agents(config)
    chosen = agents.get(own.agent or "")
    if own.agent and chosen is None:
        names = ", ".join(sorted(name for name, agent in agents.items() if not agent.hidden))
        raise Invalid(
            _(
                'The command {name} needs the agent "{agent}", which is not available here. '
                "Agents: {names}"
            ).format(name=command.name, agent=own.agent, names=names)
        )
    wants_subtask = own.subtask
    if wants_subtask is None:
        wants_subtask = chosen is not None and chosen.mode == "subagent"
    doer = own.agent or call.agent or access.session.agent or "general"
    mark = Mark(
        command.name,
        call.arguments,
        tuple(pieces) if shell else (),
        Subtask(doer, (own.description or command.name)[:200]) if wants_subtask else None,
    )
    text = "".join(piece.written for piece in pieces).strip()
    model = call.model if not (chosen and chosen.model) else None
    if own.model:
        model = parse_ref(own.model, variant=own.variant)
    return PromptDraft(
        parts=[
            {"type": "text", "text": text},
            *mentioned_parts(access, _named_in(command, call, pieces), config),
            *call.files,
        ],
        message_id=call.message_id,
        agent=call.agent if wants_subtask or not own.agent else own.agent,
        model=model,
        delivery=call.delivery,
        command=mark,
        typed=call.arguments,
    )


def _named_in(command: Command, call: CommandCall, pieces: list[TemplatePiece]) -> str:
    """The text whose mentions count: of a server's prompt only what a person typed."""
    if command.source == "mcp":
        return call.arguments
    return " ".join(piece.text for piece in pieces if not piece.is_shell)


def mentioned_parts(access: SessionAccess, text: str, config: Config) -> list[JsonObject]:
    """Returns: parts for the files, folders, agents and sessions that the text names by `@`.

    A file can be named with lines, as in `@src/till.py#L10-20`.
    """
    root, folder = Path(access.session.worktree), Path(access.session.directory)
    agents = load_agents(config)
    parts: list[JsonObject] = []
    for name in mentions(text, agents)[:_MAX_MENTIONS]:
        path, lines = _named_path(name, root, folder), ""
        if path is None and (found := split_lines(name)) is not None:
            path, lines = _named_path(found[0], root, folder), found[1]
        if path is not None:
            is_folder = path.is_dir()
            mime = "application/x-directory" if is_folder else "text/plain"
            url = f"file://{quote(str(path))}{'' if is_folder else lines}"
            parts.append({"type": "file", "mime": mime, "filename": name, "url": url})
        elif name in agents and not agents[name].hidden:
            parts.append({"type": "agent", "name": name})
        elif is_id(name, "ses"):
            parts += past_parts(access, name)
    return parts


def _named_path(name: str, root: Path, folder: Path) -> Path | None:
    """What is there by that name, from the session's folder or else from the root of its files."""
    for base in dict.fromkeys((folder, root)):
        path = Path(normpath(base / name)) if "\0" not in name else root
        is_inside = path.is_relative_to(root) and path.resolve().is_relative_to(root.resolve())
        if path != root and is_inside and path.exists():
            return path
    return None
