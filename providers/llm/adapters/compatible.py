"""Servers that speak plain Chat Completions."""

from __future__ import annotations

from ..auth import bearer
from ..errors import RefusedRequest
from ..messages import ProviderRequest
from ..protocols.chat import Chat, Dialect
from ..route import Protocol, Route, register
from ..texts import gettext_noop

NO_ADDRESS = gettext_noop("This provider has no address: set its base URL in the settings.")
_PLAIN = Chat(Dialect(marks="claude"))


def chat_route(request: ProviderRequest, protocol: Protocol, base_url: str = "") -> Route:
    """Returns: a route to `/chat/completions` below the address. Raises: RefusedRequest."""
    address = (request.model.base_url or base_url).rstrip("/")
    if not address:
        raise RefusedRequest(NO_ADDRESS)
    return Route(protocol, f"{address}/chat/completions", bearer(request.model.api_key))


def zen_headers(request: ProviderRequest) -> dict[str, str]:
    """Returns: what OpenCode's own gateway wants in place of the headers of a session."""
    if request.model.ref.provider_id != "opencode":
        return {}
    return {
        "x-session-affinity": "",
        "x-session-id": "",
        "x-opencode-session": request.session_id,
        "x-opencode-request": request.prompt_id,
        "x-opencode-project": request.project_id,
        "x-opencode-client": "opencode-web",
    }


def _compatible(request: ProviderRequest) -> Route:
    route = chat_route(request, _PLAIN)
    return Route(route.protocol, route.url, route.auth, zen_headers(request))


register("@ai-sdk/openai-compatible", _compatible)
