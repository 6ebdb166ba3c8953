"""Poe: its page gives an API key, which cannot be refreshed.

Source: https://creator.poe.com/docs/external-applications/sign-in-with-poe.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..secret import Secret
from .attempts import in_seconds
from .base import register_sign_in
from .grants import Grant
from .http import Reply
from .methods import Method, key_method
from .oauth import OAuth, Server

_SERVER = Server(
    client_id="client_728290227fc048cc9262091a1ea197ea",
    authorize_url="https://poe.com/oauth/authorize",
    token_url="https://api.poe.com/token",  # noqa: S106
    # Any port of this machine is known to Poe. Nobody has to listen there.
    redirect_uri="http://127.0.0.1:1457/callback",
    scope="apikey:create",
)


class Poe(OAuth):
    """Signs in at Poe."""

    # Nothing but the page helps once it has ended, so it is used to the last.
    refresh_early_s = 0.0
    revoke_page = "https://poe.com/api/keys"

    def server(self, inputs: Mapping[str, str]) -> Server:
        """Returns: Poe's."""
        return _SERVER

    def grant(self, reply: Reply, inputs: Mapping[str, str]) -> Grant:
        """Returns: the grant of the key."""
        ends = in_seconds(reply.seconds("api_key_expires_in"))
        return Grant(Secret(reply.text("api_key")), expires_at=ends)


register_sign_in(Poe("poe", Method("browser", "code", "Poe OAuth"), key_method("API key")))
