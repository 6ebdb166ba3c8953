"""xAI by a SuperGrok subscription: on its page, or with a code.

Source: https://auth.x.ai/.well-known/openid-configuration.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace

from ..texts import gettext_noop
from .base import register_sign_in
from .claims import email_in, expiry_in
from .grants import Grant
from .http import Reply
from .methods import Method, key_method
from .oauth import OAuth, Server

_ISSUER = "https://auth.x.ai/oauth2"


class XAI(OAuth):
    """Signs in at xAI."""

    refresh_early_s = 120.0

    def server(self, inputs: Mapping[str, str]) -> Server:
        """Returns: xAI's."""
        return Server(
            client_id="b1a00492-073a-47ea-816f-4c329264a828",
            authorize_url=f"{_ISSUER}/authorize",
            token_url=f"{_ISSUER}/token",
            device_url=f"{_ISSUER}/device/code",
            revoke_url=f"{_ISSUER}/revoke",
            redirect_uri="http://127.0.0.1:56121/callback",
            scope="openid profile email offline_access grok-cli:access api:access",
            params={
                "nonce": secrets.token_urlsafe(16),
                "plan": "generic",
                "referrer": "opencode",
            },
        )

    def grant(self, reply: Reply, inputs: Mapping[str, str]) -> Grant:
        """Returns: a grant that ends when the answer says, or the token itself."""
        grant = super().grant(reply, inputs)
        ends = grant.expires_at or expiry_in(reply.body.get("access_token"))
        return replace(grant, expires_at=ends, account=email_in(reply))


register_sign_in(
    XAI(
        "xai",
        Method("browser", "code", gettext_noop("xAI Grok OAuth (SuperGrok Subscription)")),
        Method("device", "device", gettext_noop("xAI Grok OAuth (Headless / Remote / VPS)")),
        key_method("API key"),
    )
)
