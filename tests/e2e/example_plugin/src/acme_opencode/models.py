"""ACME's own models: Chat Completions at another path, and a sign-in by a code from its portal."""

from __future__ import annotations

import os
from collections.abc import Mapping

from opencode_web.plugin import PluginProvider
from providers.llm.auth import header
from providers.llm.messages import ProviderRequest
from providers.llm.protocols.chat import Chat, Dialect
from providers.llm.route import Route
from providers.llm.secret import Secret
from providers.llm.sign_in import Begun, Grant, Http, Method, SignIn
from providers.llm.sign_in.errors import BadCode

ADDRESS = os.environ.get("ACME_MODELS", "https://models.acme.example")
_CHAT = Chat(Dialect())


def route(request: ProviderRequest) -> Route:
    key = header("x-acme-key", request.model.api_key)
    return Route(_CHAT, f"{ADDRESS}/acme/talk", key)


class Portal(SignIn):
    async def begin(
        self, method: str, inputs: Mapping[str, str], http: Http, *, redirect_uri: str = ""
    ) -> Begun:
        return Begun("https://portal.acme.example/code", "Copy the code.", {"wanted": "sesame"})

    async def finish(self, state: Mapping[str, object], pasted: str, http: Http) -> Grant:
        if pasted != state["wanted"]:
            raise BadCode
        return Grant(Secret(f"key-for-{pasted}"), account="ada")


PROVIDER = PluginProvider(
    "acme",
    {
        "name": "ACME models",
        "npm": "acme-models",
        "env": ["ACME_KEY"],
        "doc": "https://models.acme.example/docs",
        "models": {
            "anvil": {
                "name": "Anvil",
                "tool_call": True,
                "limit": {"context": 100_000, "output": 10_000},
                "cost": {"input": 1, "output": 2},
            }
        },
    },
    adapter=route,
    sign_in=Portal("acme", Method("portal", "code", "ACME portal")),
)
