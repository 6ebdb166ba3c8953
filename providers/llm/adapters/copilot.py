"""GitHub Copilot: a wire by model, and headers that say who has asked for what.

Source: recorded from OpenCode's requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..auth import bearer
from ..errors import RefusedRequest
from ..hosts import host_of
from ..json import JsonObject
from ..messages import (
    ProviderRequest,
    Reasoning,
    SystemMessage,
    UserMessage,
)
from ..protocols.anthropic_messages import Dialect as MessagesDialect
from ..protocols.anthropic_messages import Messages
from ..protocols.copilot_chat import NAMESPACE, CopilotChat
from ..protocols.responses import NAMES, Dialect, Responses
from ..protocols.responses_items import Items
from ..protocols.turns import with_some_tool
from ..route import Route, register
from .compatible import chat_route
from .openai import responses_route

COPILOT_URL = "https://api.githubcopilot.com"
API_VERSION = "2026-06-01"
_GPT = re.compile(r"gpt-(\d+)")
_MESSAGES_PATH = "/v1/messages"
_RESPONSES_PATH = "/responses"


class CopilotItems(Items):
    """Reasoning is not taken back."""

    has_files_in_output = False

    def reasoning(self, thoughts: list[Reasoning]) -> Iterator[JsonObject]:
        """Yield nothing."""
        return iter(())


class CopilotResponses(Responses):
    """With a tool that does nothing where the history needs one."""

    def encode(self, request: ProviderRequest) -> JsonObject:
        """Returns: the body."""
        return super().encode(with_some_tool(request))


_RESPONSES = CopilotResponses(
    Dialect(
        namespace=NAMESPACE,
        limit="asked",
        sampling="never",
        schema_of=lambda tool: tool.schema,
        option_names={name: wire for name, wire in NAMES.items() if name != "include"},
    ),
    CopilotItems(NAMESPACE),
)
_CHAT = CopilotChat()
_MESSAGES = Messages(MessagesDialect(betas=("interleaved-thinking-2025-05-14",), eager_tools=False))


def _copilot(request: ProviderRequest) -> Route:
    """Raises: RefusedRequest."""
    request = replace(request, model=replace(request.model, base_url=_address(request)))
    headers = copilot_headers(request)
    path = path_of(request)
    if path == _MESSAGES_PATH:
        url = f"{request.model.base_url}{path}"
        return Route(_MESSAGES, url, bearer(request.model.api_key), headers)
    if path == _RESPONSES_PATH:
        return responses_route(request, _RESPONSES, COPILOT_URL, headers)
    return replace(chat_route(request, _CHAT, COPILOT_URL), headers=headers)


def enterprise_url(domain: str) -> str:
    """Returns: where the models of a GitHub Enterprise are served. Raises: ValueError."""
    return f"https://copilot-api.{host_of(domain)}"


def _address(request: ProviderRequest) -> str:
    base = (request.model.base_url or COPILOT_URL).rstrip("/")
    domain = request.model.connection.get("enterpriseUrl", "")
    # What is known of Copilot in general says less than where this account is.
    if base != COPILOT_URL or not domain:
        return base
    try:
        return enterprise_url(domain)
    except ValueError as exc:
        raise RefusedRequest(str(exc)) from exc


def path_of(request: ProviderRequest) -> str:
    """Returns: where a model is called: as Copilot's own list of models says, else by its id.

    `supported_endpoints` of the connection are those paths of the list, set apart by spaces.
    """
    listed = request.model.connection.get("supported_endpoints", "").split()
    for path in (_MESSAGES_PATH, _RESPONSES_PATH):
        if path in listed:
            return path
    is_on_responses = not listed and speaks_responses(request.model.api_model)
    return _RESPONSES_PATH if is_on_responses else "/chat/completions"


def speaks_responses(model_id: str) -> bool:
    """Whether a model is called by Responses: GPT from 5 on, but for one."""
    found = _GPT.match(model_id)
    return found is not None and int(found[1]) >= 5 and not model_id.startswith("gpt-5-mini")


def copilot_headers(request: ProviderRequest) -> Mapping[str, str]:
    """Returns: what Copilot is told of a call: whose it is, and what is in it."""
    headers = {
        "openai-intent": "conversation-edits",
        "x-github-api-version": API_VERSION,
        "x-interaction-id": request.session_id,
        "x-initiator": "user" if _is_from_person(request) else "agent",
    }
    if request.purpose == "title":
        headers["x-interaction-type"] = "agent-session-name-generation"
    if any(file.is_image for file in request.files):
        headers["copilot-vision-request"] = "true"
    return headers


def _is_from_person(request: ProviderRequest) -> bool:
    """Only a person's prompts are billed as such; the rest of a turn is the agent's."""
    if request.purpose == "compaction" or request.parent_session_id:
        return False
    spoken = [one for one in request.messages if not isinstance(one, SystemMessage)]
    return bool(spoken) and isinstance(spoken[-1], UserMessage)


register("@ai-sdk/github-copilot", _copilot)
