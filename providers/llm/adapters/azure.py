"""Azure OpenAI: the models of a resource of one's own."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

from ..auth import bearer, header
from ..errors import RefusedRequest
from ..messages import ProviderRequest
from ..protocols.openai_chat import OpenAIChat
from ..protocols.responses import Dialect, Responses
from ..protocols.responses_items import Items
from ..route import Auth, Protocol, Route, register
from ..texts import gettext_noop

NO_RESOURCE = gettext_noop(
    "This Azure provider has no address. Set resourceName or the base URL in its settings."
)
BAD_RESOURCE = gettext_noop(
    "The resourceName of this Azure provider is not valid. Use letters, digits and hyphens."
)
RESOURCE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}")
_DEFAULT_VERSION = "v1"


class AzureItems(Items):
    """A deployment's tools give text only."""

    has_files_in_output = False


_NAMESPACE = "azure"
_RESPONSES = Responses(Dialect(namespace=_NAMESPACE), AzureItems(_NAMESPACE))
_CHAT = OpenAIChat()


def _azure(request: ProviderRequest) -> Route:
    """Raises: RefusedRequest."""
    model = request.model
    # As the settings write it: any text but a denial.
    is_chat = model.connection.get("useCompletionUrls", "").lower() not in {"", "false", "0"}
    protocol: Protocol = _CHAT if is_chat else _RESPONSES
    path = "chat/completions" if is_chat else "responses"
    return Route(protocol, _url(request, path), azure_auth(request, "api-key"))


def azure_auth(request: ProviderRequest, key_header: str) -> Auth:
    """Returns: a token of Entra before a key, which goes into the header of the wire."""
    if token := request.model.secrets.get("entraToken"):
        return bearer(token)
    return header(key_header, request.model.api_key)


def _url(request: ProviderRequest, path: str) -> str:
    model = request.model
    version = model.connection.get("apiVersion", "")
    address = (model.base_url or "").rstrip("/")
    if not address:
        resource = model.connection.get("resourceName", "")
        if not resource:
            raise RefusedRequest(NO_RESOURCE)
        if not RESOURCE_NAME.fullmatch(resource):
            raise RefusedRequest(BAD_RESOURCE)
        address = f"https://{resource}.openai.azure.com/openai/v1"
    if (urlsplit(address).hostname or "").endswith(".openai.azure.com"):
        version = version or _DEFAULT_VERSION
    query = f"?api-version={quote(version, safe='')}" if version else ""
    return f"{address}/{path}{query}"


register("@ai-sdk/azure", _azure)
