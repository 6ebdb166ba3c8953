"""GitLab Duo: Claude and GPT behind GitLab's gateway.

An instance gives out tokens for the gateway that last for minutes, with headers that go with them
(`sign_in/gitlab.py`). Source: what GitLab's own provider for OpenCode sends.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ..auth import bearer
from ..errors import RefusedRequest
from ..json import JsonObject
from ..messages import ProviderRequest
from ..protocols.anthropic_messages import Messages
from ..protocols.openai_chat import OpenAIChat
from ..protocols.responses import Responses
from ..route import Protocol, Route, register
from ..texts import gettext_noop

_GATEWAY = "https://cloud.gitlab.com/ai/v1/proxy"
TOKEN = "duoToken"  # noqa: S105
HEADER_PREFIX = "x-gitlab-"
_NO_TOKEN = gettext_noop(
    "GitLab Duo needs a token that your GitLab issues for a few minutes. Sign in, or "
    "enter your personal access token again."
)
_PREFIX = "duo-chat-"
# The gateway knows these by their dates alone.
_DATED = {
    "opus-4-5": "claude-opus-4-5-20251101",
    "sonnet-4-5": "claude-sonnet-4-5-20250929",
    "haiku-4-5": "claude-haiku-4-5-20251001",
    "gpt-5-mini": "gpt-5-mini-2025-08-07",
    "gpt-5-1": "gpt-5.1-2025-11-13",
    "gpt-5-2": "gpt-5.2-2025-12-11",
    "gpt-5-4": "gpt-5.4-2026-03-05",
    "gpt-5-5": "gpt-5.5-2026-04-23",
}
_VERSION = re.compile(r"gpt-(\d+)(?:-(\d+))?")
# From here on, Chat Completions refuses tools with an effort of reasoning.
_RESPONSES_FROM = (5, 6)


class _Named(Protocol):
    """Calls a model as its vendor does."""

    def encode(self, request: ProviderRequest) -> JsonObject:
        """Returns: the body."""
        model = request.model
        name = vendor_name(model.api_model)
        npm = "@ai-sdk/anthropic" if _is_claude(name) else "@ai-sdk/openai"
        return super().encode(replace(request, model=replace(model, api_model=name, npm=npm)))  # type: ignore[safe-super]


class DuoMessages(_Named, Messages):
    """Claude."""


class DuoChat(_Named, OpenAIChat):
    """GPT up to 5.5."""


class DuoResponses(_Named, Responses):
    """Codex, and GPT from 5.6 on."""


_MESSAGES, _CHAT, _RESPONSES = DuoMessages(), DuoChat(), DuoResponses()


def vendor_name(model_id: str) -> str:
    """Returns: claude-opus-4-6 of duo-chat-opus-4-6."""
    name = model_id.removeprefix(_PREFIX)
    if not name.startswith("gpt-"):
        return _DATED.get(name, f"claude-{name}")
    return _DATED.get(name) or re.sub(r"^gpt-(\d+)-(\d+)", r"gpt-\1.\2", name)


def _is_claude(name: str) -> bool:
    return name.startswith("claude-")


def _gitlab(request: ProviderRequest) -> Route:
    """Raises: RefusedRequest."""
    secrets = request.model.secrets
    token = secrets.get(TOKEN)
    if not token:
        raise RefusedRequest(_NO_TOKEN)
    headers = {
        name: secret.reveal() for name, secret in secrets.items() if name.startswith(HEADER_PREFIX)
    }
    protocol, path = _wire_of(request.model.api_model.removeprefix(_PREFIX))
    return Route(protocol, f"{_GATEWAY}/{path}", bearer(token), headers)


def _wire_of(name: str) -> tuple[Protocol, str]:
    version = _VERSION.match(name)
    if version is None:
        return _MESSAGES, "anthropic/v1/messages"
    if "codex" in name or (int(version[1]), int(version[2] or 0)) >= _RESPONSES_FROM:
        return _RESPONSES, "openai/v1/responses"
    return _CHAT, "openai/v1/chat/completions"


register("gitlab-ai-provider", _gitlab)
