"""Microsoft Entra: an application asks for itself, for the models of Azure.

Source: https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

from ...secret import Secret
from ...texts import gettext_noop
from ..attempts import in_seconds
from ..errors import BadInput, SignedOut, SignInError
from ..grants import Grant
from ..http import Http

_LOGIN = "https://login.microsoftonline.com"
_OPENAI_SCOPE = "https://cognitiveservices.azure.com/.default"
_FOUNDRY_SCOPE = "https://ai.azure.com/.default"
_FOUNDRY = ".services.ai.azure.com"
# The id of a tenant, or one of its domains. It becomes a part of the address.
TENANT = re.compile(
    r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[\w-]+(?:\.[\w-]+)+", re.A
)
BAD_TENANT = gettext_noop(
    "Enter a tenant ID or a domain of the tenant, such as contoso.onmicrosoft.com."
)
_REFUSED = gettext_noop(
    "Microsoft Entra rejected the application. Check the tenant, the application ID and the secret."
)


@dataclass(frozen=True, slots=True)
class Application:
    """An application that is registered in a tenant."""

    tenant: str
    client_id: str
    client_secret: Secret

    def check(self) -> None:
        """Raises: BadInput for what is no tenant."""
        if not TENANT.fullmatch(self.tenant):
            raise BadInput({"tenant": BAD_TENANT})


def entra_scope(npm: str, base_url: str | None) -> str:
    """Returns: what a token has to be for; Claude is served by another service than GPT."""
    host = urlsplit(base_url or "").hostname or ""
    is_foundry = host.endswith(_FOUNDRY) or npm == "@ai-sdk/anthropic"
    return _FOUNDRY_SCOPE if is_foundry else _OPENAI_SCOPE


async def entra_grant(application: Application, scope: str, http: Http) -> Grant:
    """Returns: a grant whose `secrets` hold the token as `entraToken`.

    Raises: SignedOut where the application is refused; BadInput; Unavailable; SignInError.
    """
    application.check()
    form = {
        "grant_type": "client_credentials",
        "client_id": application.client_id,
        "client_secret": application.client_secret.reveal(),
        "scope": scope,
    }
    reply = await http.ask("POST", f"{_LOGIN}/{application.tenant}/oauth2/v2.0/token", form=form)
    if not reply.is_success:
        is_refused = reply.status in {HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED}
        raise SignedOut(_REFUSED) if is_refused else SignInError
    token = Secret(reply.text("access_token"))
    return Grant(
        token,
        expires_at=in_seconds(reply.seconds("expires_in") or 0.0),
        account=application.client_id,
        secrets={"entraToken": token},
    )
