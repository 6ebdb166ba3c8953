"""Prompts of MCP servers, as the commands that people are offered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import printable_text
from sessions.mcp.servers import prompt_name
from tools.mcp.client import Offer, arguments_of
from tools.redaction import Redactor

MAX_NAME_CHARS = 100
_MAX_DESCRIPTION_CHARS = 500
_MAX_TEMPLATE_CHARS = 64 * 1024
_ARGUMENT = re.compile(r"[\w.-]{1,60}")


def shown_prompts(offer: Offer, redactor: Redactor) -> tuple[JsonObject, ...]:
    """Returns: the prompts without the secrets that the server was given."""
    shown = (redactor.json(prompt) for prompt in offer.prompts)
    return tuple(prompt for prompt in shown if isinstance(prompt, dict))


def check_prompts(server: str, offer: Offer) -> tuple[list[JsonValue], list[str]]:
    """Returns: the prompts that can be offered, and why others are not, in sentences."""
    prompts: list[JsonValue] = []
    problems: list[str] = []
    taken: set[str] = set()
    for one in offer.prompts:
        name = prompt_name(server, str(one.get("name", "")))
        template = _template(one.get("messages"))
        if reason := _refused(name, one, template, taken):
            problems.append(reason)
            continue
        taken.add(name)
        described = printable_text(str(one.get("description") or ""))
        arguments = arguments_of(one)
        hints: list[JsonValue] = [f"${number}" for number, _ in enumerate(arguments, 1)]
        prompts.append(
            {
                "name": name,
                "description": described[:_MAX_DESCRIPTION_CHARS],
                "template": template,
                "hints": hints,
                "arguments": _argument_names(arguments),
            }
        )
    return prompts, problems


def _argument_names(arguments: Iterable[JsonObject]) -> list[JsonValue]:
    """Returns: what people write before `=`; none where a name cannot be written so."""
    names = [str(one.get("name", "")) for one in arguments]
    return [*names] if all(_ARGUMENT.fullmatch(name) for name in names) else []


def _template(messages: JsonValue) -> str:
    return printable_text("\n".join(_texts(messages)))


def _texts(messages: JsonValue) -> Iterator[str]:
    """Yields: the texts among the messages; pictures and files are left out."""
    for message in messages if isinstance(messages, list) else []:
        content = message.get("content") if isinstance(message, dict) else None
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, dict) and part.get("type") == "text":
                yield str(part.get("text", ""))


def _refused(name: str, prompt: JsonObject, template: str, taken: set[str]) -> str:
    if len(name) > MAX_NAME_CHARS:
        return f"{name[:80]} is longer than {MAX_NAME_CHARS} characters; it is not offered."
    if name in taken:
        return f"There is another prompt {name}; this one is not offered."
    if "refused" in prompt:
        return f"The prompt {name} is not offered: {prompt['refused']}"
    if not template.strip():
        return f"The prompt {name} has no text; it is not offered."
    if len(template) > _MAX_TEMPLATE_CHARS:
        return f"The prompt {name} has more than {_MAX_TEMPLATE_CHARS:,} characters."
    return ""
