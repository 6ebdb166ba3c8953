"""A page as bytes: bounded also after it was decompressed, and read in the right charset."""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from opencode_web.lib.outbound import FetchError, OnRedirect, open_page

_CHUNK_BYTES = 64 * 1024
# Where HTML and XML say their charset; what browsers look at, too.
_SNIFFED_BYTES = 1_024
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9._:-]{2,40})""")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# By the names that Python gives them. Others of its codecs are no charsets of the web, and some
# take minutes for a megabyte that was made for them.
_CHARSETS = re.compile(
    r"utf-8|utf-16(-[lb]e)?|ascii|iso8859-\d+|cp\d+|koi8-[ru]|mac-\w+|gb2312|gbk|gb18030|big5"
    r"|big5hkscs|euc_(jp|kr)|euc_jis_2004|shift_jis|shift_jis_2004|iso2022_jp|johab|hz|tis-620"
)


class StatusError(FetchError):
    """The server answered, but not with the page."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__(f"the server answered {response.status_code} {response.reason_phrase}")
        self.status = response.status_code
        self.headers = response.headers


class TooLarge(FetchError):
    """The page has more bytes than are taken."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(f"it is larger than {max_bytes / 1024 / 1024:g} MB")


@dataclass(frozen=True)
class Page:
    """`url` is where it was found after all redirects, `mime` lower-case and without parameters."""

    url: str
    mime: str
    charset: str
    body: bytes
    status: int = 200

    def text(self) -> str:
        """The body as text. The mark at its start counts, then the header, then what it says."""
        head = self.body[:_SNIFFED_BYTES]
        declared = _DECLARED.search(head)
        names = [name for mark, name in _MARKS if head.startswith(mark)]
        names += [self.charset, declared[1].decode("ascii") if declared else ""]
        for name in filter(None, names):
            try:
                known = codecs.lookup(name).name
            except (LookupError, ValueError):
                continue
            if _CHARSETS.fullmatch(known.removesuffix("-sig")):
                return self.body.decode(known, "replace")
        return self.body.decode("utf-8", "replace")


async def fetch_page(
    url: str,
    *,
    headers: Mapping[str, str],
    timeout_s: float,
    max_bytes: int,
    on_redirect: OnRedirect | None = None,
) -> Page:
    """Get a page whole.

    Raises: StatusError without a 2xx status; TooLarge; FetchError.
    """
    sent = {**headers, "accept-encoding": "gzip, deflate"}
    opened = open_page(
        url,
        headers=sent,
        timeout_s=timeout_s,
        on_redirect=on_redirect,
    )
    async with opened as (found, response):
        if not response.is_success:
            raise StatusError(response)
        body = await _read(response, max_bytes)
        mime, _, _ = response.headers.get("content-type", "").partition(";")
        return Page(
            found, mime.strip().lower(), response.charset_encoding or "", body, response.status_code
        )


async def _read(response: httpx.Response, max_bytes: int) -> bytes:
    announced = response.headers.get("content-length", "")
    if announced.isascii() and announced.isdigit() and int(announced[:20]) > max_bytes:
        raise TooLarge(max_bytes)
    inflate = _inflater(response.headers.get("content-encoding", ""))
    body = bytearray()
    came = 0
    async for chunk in response.aiter_raw(_CHUNK_BYTES):
        came += len(chunk)
        body += inflate(chunk, max_bytes + 1 - len(body)) if inflate else chunk
        if max(came, len(body)) > max_bytes:
            raise TooLarge(max_bytes)
    return bytes(body)


class _Inflater:
    """Decompresses gzip and both kinds of deflate, no further than it is asked to."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._begun = False

    def __call__(self, chunk: bytes, limit: int) -> bytes:
        try:
            data = self._stream.decompress(chunk, limit)
        except zlib.error as exc:
            if self._begun:
                raise FetchError("its compressed content is damaged") from exc
            # Deflate without a header, as some servers send it.
            self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
            data = self._raw(chunk, limit)
        self._begun = True
        return data

    def _raw(self, chunk: bytes, limit: int) -> bytes:
        try:
            return self._stream.decompress(chunk, limit)
        except zlib.error as exc:
            raise FetchError("its compressed content is damaged") from exc


def _inflater(encoding: str) -> _Inflater | None:
    match encoding.strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip" | "deflate":
            return _Inflater()
        case other:
            raise FetchError(f"it is compressed in a way that was not asked for: {other[:40]}")
