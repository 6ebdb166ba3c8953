"""Pictures of a request as its vendor takes them: upright, not too large, of a kind it reads.

The same picture becomes the same bytes each time, so that providers' caches hold. What was made of
one is kept for the next turn, as far as there is room; Pillow is loaded when the first one comes.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from dataclasses import replace
from hashlib import blake2b

from opencode_web.lib.pictures import ImageLimits, fit_picture
from providers.llm.errors import UnreadablePictures
from providers.llm.file_limits import limits_of, replace_files
from providers.llm.messages import File, ProviderRequest

# Of what was made of pictures, in characters of base64. One that fits takes up nothing.
_MAX_CHARS = 16 * 1024 * 1024
_MAX_ENTRIES = 2_000

_Key = tuple[bytes, ImageLimits]


class _Fitted:
    """What pictures have become, the least recently used first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[_Key, tuple[str, str]] = OrderedDict()
        self._chars = 0

    def get(self, key: _Key) -> tuple[str, str] | None:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def put(self, key: _Key, fitted: tuple[str, str]) -> None:
        with self._lock:
            if key not in self._known:
                self._known[key] = fitted
                self._chars += len(fitted[1])
            while self._chars > _MAX_CHARS or len(self._known) > _MAX_ENTRIES:
                self._chars -= len(self._known.popitem(last=False)[1][1])


_fitted = _Fitted()


async def fit_files(request: ProviderRequest) -> ProviderRequest:
    """Returns: the request with pictures that its vendor takes.

    Raises: UnreadablePictures.
    """
    if not any(file.is_image for file in request.files):
        return request
    return await asyncio.to_thread(_fit_all, request)


def _fit_all(request: ProviderRequest) -> ProviderRequest:
    taken = limits_of(request.model)
    limits = ImageLimits(
        max_width=taken.edge_px,
        max_height=taken.edge_px,
        max_base64_bytes=taken.picture_bytes,
        mimes=taken.mimes,
        animated=taken.animated,
    )
    given = list(request.files)
    readable = "image" in request.model.capabilities.input
    made = [_fit(file, limits) if file.is_image and readable else file for file in given]
    broken = [old for old, new in zip(given, made, strict=True) if new is None]
    if broken:
        raise UnreadablePictures(tuple(broken))
    return replace_files(request, [file for file in made if file is not None])


def _fit(file: File, limits: ImageLimits) -> File | None:
    key = (blake2b(file.data_url.encode(), digest_size=16).digest(), limits)
    known = _fitted.get(key)
    if known is None:
        known = fit_picture(file.mime, file.data_url, limits)
        if known is None:
            return None
        # One that is as it was need not be kept twice.
        _fitted.put(key, (file.mime, "") if known[1] == file.data_url else known)
    mime, url = known
    return file if url in {"", file.data_url} else replace(file, mime=mime, data_url=url)
