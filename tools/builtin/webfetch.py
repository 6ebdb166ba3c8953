from __future__ import annotations

import base64
import re
from collections.abc import Awaitable, Callable, Mapping
from html import unescape
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from opencode_web.lib.json import JsonObject
from opencode_web.lib.outbound import FetchError, check_url
from opencode_web.lib.page import Page, StatusError, TooLarge, fetch_page
from tools.base import Attachment, Params, Tool, ToolError, ToolResult, load_description
from tools.context import PermissionAsk, ToolContext
from tools.files.file_kind import SAMPLE_BYTES, attachment_mime, is_binary
from tools.web.conversion import convert_html

# Source of the figures, the agents and the kinds of answers: OpenCode 1.18.
_MAX_BYTES = 5 * 1024 * 1024
_DEFAULT_TIMEOUT_S = 30.0
_MAX_TIMEOUT_S = 120.0
_BROWSER = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/143.0.0.0 Safari/537.36"
)
# What a guard that wants a browser to prove itself lets pass more often.
_PLAIN = "opencode"

Format = Literal["text", "markdown", "html"]
_Ask = Callable[[str], Awaitable[None]]
_ACCEPT: Mapping[Format, str] = MappingProxyType(
    {
        "markdown": "text/markdown;q=1.0, text/x-markdown;q=0.9, text/plain;q=0.8, "
        "text/html;q=0.7, */*;q=0.1",
        "text": "text/plain;q=1.0, text/markdown;q=0.9, text/html;q=0.8, */*;q=0.1",
        "html": "text/html;q=1.0, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.1",
    }
)
_HTML = frozenset({"text/html", "application/xhtml+xml"})
# For people only: how the page calls itself, near its beginning.
_TITLE = re.compile(r"<title[^<>]{0,200}>([^<]{1,300})", re.IGNORECASE)
_TITLE_CHARS = 64 * 1024
_TEXT_SUFFIXES = ("+json", "+xml", "+yaml", "+text")
_TEXT_TYPES = frozenset(
    f"application/{name}"
    for name in (
        *("json", "xml", "yaml", "x-yaml", "toml", "javascript", "x-javascript", "ecmascript"),
        *("typescript", "graphql", "sql", "x-sh", "x-httpd-php", "x-ndjson", "jsonlines", "rtf"),
        *("x-www-form-urlencoded", "x-tex", "x-python", "x-ruby", "x-perl"),
    )
)


class WebfetchParams(Params):
    """An address, and how its page is wanted."""

    url: str = Field(description="Address of the page, with http:// or https://.")
    format: Format = Field(
        "markdown", description="How HTML comes back: markdown (default), text or html."
    )
    timeout: float | None = Field(
        None, gt=0, description="Seconds to wait for the page, 30 by default, 120 at most."
    )


async def run(params: WebfetchParams, context: ToolContext) -> ToolResult:
    """Fetch a page of text, a picture or a PDF."""
    if not params.url.lower().startswith(("http://", "https://")):
        raise ToolError("URL must start with http:// or https://")
    try:
        url = check_url(params.url)
    except FetchError as exc:
        raise ToolError(f"{params.url[:500]} cannot be fetched: {exc}.") from exc
    metadata: JsonObject = {"url": url, "format": params.format}
    if params.timeout is not None:
        metadata["timeout"] = params.timeout

    async def ask(address: str) -> None:
        ask = PermissionAsk("webfetch", (address,), metadata={**metadata, "url": address})
        await context.ask(ask)

    await ask(url)
    page = await _fetch(url, params, ask)
    return await _result(url, page, params.format)


async def _fetch(url: str, params: WebfetchParams, ask: _Ask) -> Page:
    timeout_s = min(params.timeout or _DEFAULT_TIMEOUT_S, _MAX_TIMEOUT_S)

    async def fetch(agent: str) -> Page:
        headers = {
            "user-agent": agent,
            "accept": _ACCEPT[params.format],
            "accept-language": "en-US,en;q=0.9",
        }
        return await fetch_page(
            url,
            headers=headers,
            timeout_s=timeout_s,
            max_bytes=_MAX_BYTES,
            # A rule about one address is no rule about those it leads to.
            on_redirect=ask,
        )

    try:
        try:
            return await fetch(_BROWSER)
        except StatusError as exc:
            if exc.status != 403 or exc.headers.get("cf-mitigated") != "challenge":
                raise
            return await fetch(_PLAIN)
    except StatusError as exc:
        raise ToolError(f"{url} was not fetched: {exc}.{_advice(exc.status)}") from exc
    except TooLarge as exc:
        raise ToolError(
            f"Response too large (exceeds 5MB limit): {url}. Download it in the shell if you need "
            "it, or fetch a part of it."
        ) from exc
    except FetchError as exc:
        raise ToolError(f"{url} cannot be fetched: {exc}.") from exc


def _advice(status: int) -> str:
    match status:
        case 401 | 403 | 407:
            return " It is not open to everybody; do not try to get around that."
        case 404 | 410:
            return " Check the address, or search for the page."
        case 429:
            return " Wait before you ask that server again."
        case _:
            return ""


async def _result(url: str, page: Page, wanted: Format) -> ToolResult:
    sample = page.body[:SAMPLE_BYTES]
    title = f"{url} ({page.mime or 'no content type'})"
    metadata: JsonObject = {"status": page.status, "bytes": len(page.body), "mime": page.mime}
    if page.url != url:
        metadata["url"] = page.url
    if mime := attachment_mime(sample):
        kind = "PDF" if mime == "application/pdf" else "Image"
        data = f"data:{mime};base64,{base64.b64encode(page.body).decode('ascii')}"
        return ToolResult(
            title, f"{kind} fetched successfully", metadata, (Attachment(mime, data),)
        )
    if not _is_text(page, sample):
        raise ToolError(
            f"{page.url} is {page.mime or 'a binary file'}: neither text nor a picture that can be "
            "shown. Download it in the shell if you need it."
        )
    text = page.text()
    if page.mime in _HTML and (found := _TITLE.search(text[:_TITLE_CHARS])):
        metadata["title"] = " ".join(unescape(found[1]).split())
    if page.mime in _HTML and wanted != "html":
        text = await convert_html(text, wanted, base=page.url)
    return ToolResult(title, text or "(The page is empty.)", metadata)


def _is_text(page: Page, sample: bytes) -> bool:
    mime = page.mime
    if mime.startswith("text/") or mime in _HTML or mime == "image/svg+xml":
        return True
    if mime in _TEXT_TYPES or mime.endswith(_TEXT_SUFFIXES):
        return True
    # Source files often come without a type, or as anything at all.
    unsaid = mime in {"", "application/octet-stream", "binary/octet-stream"}
    return unsaid and not is_binary("", sample)


TOOL = Tool("webfetch", WebfetchParams, run, "webfetch", load_description(__file__))
