"""Gemini at Google's own API and behind OpenCode's gateway.

Source: https://ai.google.dev/api; what OpenCode 1.18 sends, recorded.
"""

from __future__ import annotations

from urllib.parse import quote

from ..auth import header
from ..messages import ProviderRequest
from ..protocols.gemini import Gemini
from ..route import Route, register
from .compatible import zen_headers

_URL = "https://generativelanguage.googleapis.com/v1beta"
_GEMINI = Gemini()


def gemini_url(address: str, model_id: str) -> str:
    """Returns: where a model streams; ids with a folder of their own (tuned models) keep it."""
    path = model_id if "/" in model_id else f"models/{model_id}"
    return f"{address}/{quote(path, safe='/:@')}:streamGenerateContent?alt=sse"


def _google(request: ProviderRequest) -> Route:
    # Below /openai is Google's imitation of another wire; that address was once stored here.
    address = (request.model.base_url or _URL).rstrip("/").removesuffix("/openai")
    url = gemini_url(address, request.model.api_model)
    key = header("x-goog-api-key", request.model.api_key)
    return Route(_GEMINI, url, key, zen_headers(request))


register("@ai-sdk/google", _google)
