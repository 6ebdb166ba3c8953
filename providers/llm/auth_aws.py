"""How requests to Amazon prove who asks: Signature Version 4."""

from __future__ import annotations

import importlib

import httpx

from .route import Auth
from .secret import Secret

_SIGNED = ("Authorization", "X-Amz-Date", "X-Amz-Security-Token")


def sigv4(service: str, region: str, key_id: Secret, key: Secret, token: Secret | None) -> Auth:
    """Sign the address, the body and the time; nothing else of a request is bound to them."""

    def sign(request: httpx.Request) -> None:
        # They take long to load, and only those who call Bedrock need them.
        auth, requests, keys = (
            importlib.import_module(f"botocore.{name}")
            for name in ("auth", "awsrequest", "credentials")
        )
        session = token.reveal() if token else None
        credentials = keys.Credentials(key_id.reveal(), key.reveal(), session)
        content = {"content-type": request.headers["content-type"]}
        copy = requests.AWSRequest(
            request.method, str(request.url), headers=content, data=request.content
        )
        auth.SigV4Auth(credentials, service, region).add_auth(copy)
        for name in _SIGNED:
            if name in copy.headers:
                request.headers[name] = copy.headers[name]

    return sign
