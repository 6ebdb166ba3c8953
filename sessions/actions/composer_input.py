"""What somebody typed in the browser: a prompt, `/name …` of a command, or `!` and a shell line."""

from __future__ import annotations

from dataclasses import replace

from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid
from sessions.access import SessionAccess
from sessions.actions.commands import (
    CommandCall,
    mentioned_parts,
    run_command,
    run_shell,
    session_commands,
)
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.commands.template import parse_line
from sessions.config.effective import session_config
from sessions.models import SessionInput

SHELL = "!"


def admit_typed(access: SessionAccess, draft: PromptDraft) -> SessionInput:
    """Admit a draft whose first part is the text, and whose others are attached files.

    `@` and the name of a file, folder or agent there is points the agent to it.

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
        named = mentioned_parts(access, text, config)
        return admit_prompt(access, replace(draft, parts=[*draft.parts, *named]))
    call = CommandCall(
        name=line[0],
        arguments=line[1],
        message_id=draft.message_id,
        agent=draft.agent,
        model=draft.model,
        delivery=draft.delivery,
        files=files,
    )
    return run_command(access, call)
