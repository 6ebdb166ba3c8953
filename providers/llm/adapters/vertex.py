"""Gemini on Vertex AI.

Source: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest; what OpenCode 1.18
sends, recorded.
"""

from __future__ import annotations

import re

from ..auth import bearer, header
from ..errors import RefusedRequest
from ..messages import ProviderRequest
from ..protocols.gemini import Gemini, GeminiDialect
from ..route import Auth, Route, register
from ..texts import gettext_noop
from .google import gemini_url

NO_PROJECT = gettext_noop(
    "Vertex AI needs a project and a location: set `project` and `location` in its settings."
)
BAD_PLACE = gettext_noop(
    "The project or location of this Vertex AI provider is not valid. Use letters, "
    "digits and hyphens."
)
NO_TOKEN = gettext_noop("Vertex AI needs an access token or an API key.")
PROJECT = re.compile(r"[A-Za-z0-9][A-Za-z0-9:.-]*")
LOCATION = re.compile(r"[a-z0-9][a-z0-9-]*")
_GEMINI = Gemini(GeminiDialect(takes_files_in_results=False, marks_unsigned=True))


def vertex_host(location: str) -> str:
    """Returns: the server of a region, of a group of regions, or of all."""
    if location == "global":
        return "aiplatform.googleapis.com"
    if location in {"us", "eu"}:
        return f"aiplatform.{location}.rep.googleapis.com"
    return f"{location}-aiplatform.googleapis.com"


def vertex_address(request: ProviderRequest, version: str, publisher: str) -> str:
    """Returns: where the models of a publisher are. Raises: RefusedRequest."""
    if request.model.base_url:
        return request.model.base_url.rstrip("/")
    project = request.model.connection.get("project")
    location = request.model.connection.get("location")
    if not project or not location:
        raise RefusedRequest(NO_PROJECT)
    # The location is a part of the host's name.
    if not (PROJECT.fullmatch(project) and LOCATION.fullmatch(location)):
        raise RefusedRequest(BAD_PLACE)
    place = f"projects/{project}/locations/{location}"
    return f"https://{vertex_host(location)}/{version}/{place}/publishers/{publisher}"


def vertex_auth(request: ProviderRequest) -> Auth:
    """Returns: a token of Google's before a key. Raises: RefusedRequest for neither."""
    if token := request.model.secrets.get("accessToken"):
        return bearer(token)
    if request.model.api_key:
        return header("x-goog-api-key", request.model.api_key)
    raise RefusedRequest(NO_TOKEN)


def _vertex(request: ProviderRequest) -> Route:
    address = vertex_address(request, "v1beta1", "google")
    return Route(_GEMINI, gemini_url(address, request.model.api_model), vertex_auth(request))


register("@ai-sdk/google-vertex", _vertex)
