"""Headers that every response of the site has: pages, REST, streams, files, downloads and refusals.

Scripts, styles and fonts are parts of pages and never pages themselves. They have only those that
count for them: on the first visit the others would be a third of what they weigh.

What a response says itself stays. Previews are other sites at hosts of their own and get none.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings

_PERMISSIONS = (
    *("accelerometer", "browsing-topics", "camera", "display-capture", "geolocation", "gyroscope"),
    *("hid", "magnetometer", "midi", "payment", "serial", "usb"),
)
# A file that is opened by itself loads nothing and shows in no frame.
_INERT = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_HEADERS = {
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"same-origin",
    b"content-security-policy": _INERT.encode(),
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"x-permitted-cross-domain-policies": b"none",
    # The microphone is for dictating; everything that is not named is as the browser has it.
    b"permissions-policy": ", ".join(
        [*(f"{name}=()" for name in _PERMISSIONS), "microphone=(self)"]
    ).encode(),
}


_PARTS = (b"text/javascript", b"text/css", b"font/")
_OF_PARTS = {
    name: _HEADERS[name] for name in (b"x-content-type-options", b"cross-origin-resource-policy")
}


class SecureHeaders:
    """Add the headers that a response lacks."""

    def __init__(self, application: Callable[[Any, Any, Any], Awaitable[Any]]) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:  # as ASGI's
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return

        async def send_with_headers(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ())]
                named = {name.lower(): value for name, value in headers}
                is_part = named.get(b"content-type", b"").lower().startswith(_PARTS)
                wanted = _wanted(_OF_PARTS if is_part else _HEADERS)
                added = [one for one in wanted.items() if one[0] not in named]
                message = {**message, "headers": [*headers, *added]}
            await send(message)

        await self._application(scope, receive, send_with_headers)


def _wanted(headers: dict[bytes, bytes]) -> dict[bytes, bytes]:
    if not settings.SECURE_HSTS_SECONDS:
        return headers
    # Static files and refusals do not pass the middleware that knows how the request came. Browsers
    # ignore this header over plain HTTP.
    lasting = f"max-age={settings.SECURE_HSTS_SECONDS}"
    return {**headers, b"strict-transport-security": lasting.encode()}
