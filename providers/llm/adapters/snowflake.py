"""Snowflake Cortex: Chat Completions at the address of an account.

Source: https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api; what OpenCode
1.18 sends, recorded.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ..errors import ProviderError, RefusedRequest
from ..json import JsonObject
from ..messages import ProviderRequest
from ..protocols.chat import Chat
from ..route import Route, register
from ..texts import gettext_noop
from .compatible import chat_route

# It becomes a part of the host's name.
ACCOUNT = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,200}[A-Za-z0-9])?"
BAD_ACCOUNT = gettext_noop("Enter a Snowflake account identifier such as myorg-myaccount.")
_NO_ACCOUNT = gettext_noop("Snowflake Cortex needs an account: set `account` in its settings.")
_COMPLETE = "conversation complete"


class Cortex(Chat):
    """With the newer name of the limit, and an error that is none."""

    def controls(self, request: ProviderRequest) -> JsonObject:
        """Returns: the limit of the answer and how it is sampled."""
        controls = super().controls(request)
        if "max_tokens" in controls:
            controls["max_completion_tokens"] = controls.pop("max_tokens")
        return controls

    def is_end(self, error: ProviderError) -> bool:
        """Whether the model, asked to go on, has nothing to add."""
        return error.status_code == 400 and _COMPLETE in error.response_body.lower()


_CORTEX = Cortex()


def cortex_url(account: str) -> str:
    """Returns: where the models of an account are served."""
    return f"https://{account}.snowflakecomputing.com/api/v2/cortex/v1"


def _snowflake(request: ProviderRequest) -> Route:
    """Raises: RefusedRequest."""
    model = request.model
    if not model.base_url:
        account = model.connection.get("account", "")
        if not re.fullmatch(ACCOUNT, account):
            raise RefusedRequest(BAD_ACCOUNT if account else _NO_ACCOUNT)
        request = replace(request, model=replace(model, base_url=cortex_url(account)))
    return chat_route(request, _CORTEX)


register("@ai-sdk/openai-compatible", _snowflake, provider_id="snowflake-cortex")
