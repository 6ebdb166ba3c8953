"""Make pictures fit for a provider: not too large, decodable, without what cameras write into them.

Called from threads. One picture is decoded at a time in a process: a large one takes 150 MB.
Source of the sizes, qualities and steps: OpenCode 1.18.
"""

from __future__ import annotations

import base64
import binascii
import importlib
import io
import struct
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any

from tools.base import Attachment
from tools.limits import ImageLimits

# Larger ones are not decoded at all: a file of some kilobytes can hold them.
MAX_PIXELS = 50_000_000
_FORMATS = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/gif": "GIF",
    "image/webp": "WEBP",
}
_QUALITIES = (80, 85, 70, 55, 40)
_SHRINK = 0.75
_STEPS = 32
# What the decoders raise for a file that is none, is cut, or lies about itself.
_BROKEN = (
    *(OSError, ValueError, SyntaxError, EOFError, TypeError, KeyError, IndexError, MemoryError),
    *(OverflowError, ZeroDivisionError, AttributeError, RuntimeError, struct.error),
)
# Of what a file says beside its pixels, these change how it looks.
_HARMLESS = frozenset(
    {"transparency", "gamma", "duration", "loop", "background", "version", "extension", "dpi"}
    | {"jfif", "jfif_version", "jfif_unit", "jfif_density", "progressive", "progression", "srgb"}
    | {"interlace", "aspect", "timestamp", "disposal", "blend", "default_image", "bbox"}
)
_turn = threading.Lock()


def fit_pictures(
    files: tuple[Attachment, ...], limits: ImageLimits
) -> tuple[tuple[Attachment, ...], int]:
    """Returns: the files with pictures that fit, and how many pictures had to be left out."""
    fitted = [_fit(file, limits) if file.mime in _FORMATS else file for file in files]
    kept = tuple(file for file in fitted if file is not None)
    return kept, len(fitted) - len(kept)


def _fit(file: Attachment, limits: ImageLimits) -> Attachment | None:
    head, _, encoded = file.url.partition(",")
    if not head.endswith(";base64"):
        return None
    try:
        data = base64.b64decode(encoded, validate=True)
        with _turn:
            return _decode(file, data, len(encoded), limits)
    except (binascii.Error, *_BROKEN):
        return None


def _decode(
    file: Attachment, data: bytes, base64_bytes: int, limits: ImageLimits
) -> Attachment | None:
    pillow = _pillow()
    try:
        with pillow.open(io.BytesIO(data), formats=(_FORMATS[file.mime],)) as image:
            if image.width * image.height > MAX_PIXELS:
                return None
            fits = (
                image.width <= limits.max_width
                and image.height <= limits.max_height
                and base64_bytes <= limits.max_base64_bytes
            )
            if not fits and not limits.auto_resize:
                return None
            # A photograph is decoded in about the size that is wanted.
            image.draft(None, (limits.max_width, limits.max_height))
            image.load()
            if fits and not (set(image.info) - _HARMLESS or len(image.getexif())):
                return file
            upright = _operations().exif_transpose(image) or image
            return _encoded(file, upright, limits)
    except (pillow.DecompressionBombError, pillow.DecompressionBombWarning):
        return None


# Any: Pillow is loaded when the first picture comes, so its types are not at hand.
def _encoded(file: Attachment, image: Any, limits: ImageLimits) -> Attachment | None:
    if image.mode not in {"RGB", "RGBA", "L", "LA"}:
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    image.info = {}
    image.thumbnail((limits.max_width, limits.max_height), _pillow().Resampling.LANCZOS)
    for _ in range(_STEPS):
        for mime, options in _encodings(file.mime):
            written = _write(image, _FORMATS[mime], options)
            if 4 * -(-len(written) // 3) <= limits.max_base64_bytes:
                url = f"data:{mime};base64,{base64.b64encode(written).decode('ascii')}"
                return replace(file, mime=mime, url=url)
        if image.size == (1, 1):
            return None
        smaller = (max(1, int(image.width * _SHRINK)), max(1, int(image.height * _SHRINK)))
        image = image.resize(smaller, _pillow().Resampling.LANCZOS)
    return None


def _encodings(mime: str) -> Iterator[tuple[str, dict[str, int]]]:
    if mime != "image/jpeg":
        yield "image/png", {}
    for quality in _QUALITIES:
        yield "image/jpeg", {"quality": quality}


def _write(image: Any, kind: str, options: dict[str, int]) -> bytes:  # Any: see _encoded
    if kind == "JPEG" and image.mode in {"RGBA", "LA"}:
        # JPEG knows no transparency; white is what most pages have below it.
        white = _pillow().new("RGB", image.size, "white")
        white.paste(image, mask=image.getchannel("A"))
        image = white
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


@cache
def _pillow() -> ModuleType:
    # When it is needed: it is no part of a start.
    image = importlib.import_module("PIL.Image")
    image.MAX_IMAGE_PIXELS = MAX_PIXELS  # type: ignore[attr-defined]
    return image


@cache
def _operations() -> ModuleType:
    return importlib.import_module("PIL.ImageOps")
