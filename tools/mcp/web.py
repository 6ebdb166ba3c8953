"""Requests to addresses that hostile servers name."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from opencode_web.lib.json import JsonObject
from opencode_web.lib.outbound import FetchError, check_url, guarded_client
from opencode_web.lib.outbound_policy import ais_listed
from tools.errors import ToolError

_TIMEOUT_S = 10.0
_MAX_BYTES = 256 * 1024


class Web:
    """Asks one after the other, each bounded."""

    async def checked(self, url: object) -> str:
        """Raises: ToolError for one that cannot be used. Secrets go without TLS only to
        places that operators have listed."""
        try:
            checked = check_url(str(url))
        except FetchError as exc:
            raise ToolError(f"The server's sign-in address cannot be used: {exc}.") from exc
        parts = urlsplit(checked)
        if parts.scheme == "http" and not await ais_listed(parts.hostname or "", parts.port or 80):
            raise ToolError("The server's sign-in address does not use https.")
        return checked

    async def ask(
        self,
        method: str,
        url: object,
        *,
        form: Mapping[str, str] | None = None,
        body: JsonObject | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes]:
        """Ask without following redirects. Returns: status and body. Raises: ToolError."""
        target = await self.checked(url)
        sent = {"accept": "application/json", "accept-encoding": "identity", **(headers or {})}
        data = bytearray()
        try:
            async with (
                guarded_client(timeout_s=_TIMEOUT_S, headers=sent) as client,
                client.stream(method, target, data=form, json=body) as response,
            ):
                async for chunk in response.aiter_raw():
                    data += chunk
                    if len(data) > _MAX_BYTES:
                        raise FetchError("its answer is too large")
                return response.status_code, bytes(data)
        except FetchError as exc:
            where = urlsplit(target).hostname
            raise ToolError(f"{where} cannot be reached: {str(exc).rstrip('.')}.") from exc
