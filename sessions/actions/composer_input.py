"""What somebody typed in the browser: a prompt, `/name …` of a command, or `!` and a shell line."""

from __future__ import annotations

from dataclasses import replace

from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from sessions.access import SessionAccess
from sessions.actions.commands import (
    CommandCall,
    mentioned_parts,
    run_command,
    run_shell,
    session_commands,
)
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.commands.template import mentions, parse_line
from sessions.config.effective import session_config
from sessions.config.model import Config
from sessions.mcp.servers import mentionable_resources
from sessions.models import SessionInput

SHELL = "!"
_MAX_RESOURCES = 20


def admit_typed(access: SessionAccess, draft: PromptDraft) -> SessionInput:
    """Admit a draft whose first part is the text, and whose others are attached files.

    `@` and the name of a file, folder or agent there is points the agent to it; so do a server and
    the address of a resource, as it was last listed for this person. `@` and the name of a person
    who sees the session mentions them.

    Raises: Invalid for a shell line with files; as `run_shell`, `run_command` and `admit_prompt`.
    """
    text = str(draft.parts[0].get("text", ""))
    files = draft.parts[1:]
    if text.startswith(SHELL):
        if files:
            raise Invalid(_("Shell commands cannot have files. Send them with a message."))
        return run_shell(
            access,
            text.removeprefix(SHELL).strip(),
            message_id=draft.message_id,
            agent=draft.agent,
            model=draft.model,
        )
    config = session_config(access.session)
    line = parse_line(text)
    if line is None or line[0] not in session_commands(access, config):
        # Else a path, or a word that begins so.
        named = mentioned_parts(access, text, config) + _resource_parts(access, text, config)
        return admit_prompt(access, replace(draft, parts=[*draft.parts, *named], typed=text))
    call = CommandCall(
        name=line[0],
        arguments=line[1],
        message_id=draft.message_id,
        agent=draft.agent,
        model=draft.model,
        delivery=draft.delivery,
        files=[*files, *_resource_parts(access, line[1], config)],
    )
    return run_command(access, call)


def _resource_parts(access: SessionAccess, text: str, config: Config) -> list[JsonObject]:
    """Of what a person has typed only: nobody is asked whether it may be read."""
    names = [name for name in mentions(text) if ":" in name][:_MAX_RESOURCES]
    if not names:
        return []
    project, user_id = access.session.project, access.principal.user.pk
    known = mentionable_resources(project, config.mcp, user_id)
    return [_resource_part(known[name], f"@{name}", text) for name in names if name in known]


def _resource_part(resource: JsonObject, written: str, text: str) -> JsonObject:
    start = text.find(written)
    return {
        "type": "file",
        "mime": resource.get("mimeType") or "text/plain",
        "filename": resource["name"],
        "url": resource["uri"],
        "source": {
            "type": "resource",
            "clientName": resource["client"],
            "uri": resource["uri"],
            "text": {"value": written, "start": start, "end": start + len(written)},
        },
    }
