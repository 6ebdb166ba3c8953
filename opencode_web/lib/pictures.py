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
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

# Larger ones are not decoded at all: a file of some kilobytes can hold them.
MAX_PIXELS = 50_000_000
_FORMATS = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/gif": "GIF",
    "image/webp": "WEBP",
}
PICTURES = frozenset(_FORMATS)
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


@dataclass(frozen=True)
class ImageLimits:
    """Pictures above these are made smaller, or left out without `auto_resize`. Units: pixels, and
    characters of base64. Source of the figures: OpenCode 1.18.

    A picture of another kind than `mimes` becomes a PNG or a JPEG. Without `animated` so does one
    that moves: its first picture.
    """

    auto_resize: bool = True
    max_width: int = 2_000
    max_height: int = 2_000
    max_base64_bytes: int = 5_242_880
    mimes: frozenset[str] = PICTURES
    animated: bool = True


def fit_picture(mime: str, url: str, limits: ImageLimits) -> tuple[str, str] | None:
    """Make a picture fit. The same picture and limits always give the same bytes.

    Returns: its type and its data: URL, as they were when it fits already; None when it cannot be
    decoded or made small enough.
    """
    head, _, encoded = url.partition(",")
    if mime not in PICTURES or not head.endswith(";base64"):
        return None
    try:
        data = base64.b64decode(encoded, validate=True)
        with _turn:
            fitted = _decode(mime, data, len(encoded), limits)
    except (binascii.Error, *_BROKEN):
        return None
    if fitted is None:
        return None
    mime, written = fitted
    if written is data:
        return mime, url
    return mime, f"data:{mime};base64,{base64.b64encode(written).decode('ascii')}"


def _decode(
    mime: str, data: bytes, base64_bytes: int, limits: ImageLimits
) -> tuple[str, bytes] | None:
    pillow = _pillow()
    try:
        with pillow.open(io.BytesIO(data), formats=(_FORMATS[mime],)) as image:
            if image.width * image.height > MAX_PIXELS:
                return None
            fits = (
                image.width <= limits.max_width
                and image.height <= limits.max_height
                and base64_bytes <= limits.max_base64_bytes
            )
            if not fits and not limits.auto_resize:
                return None
            is_taken = mime in limits.mimes and (
                limits.animated or not getattr(image, "is_animated", False)
            )
            # A photograph is decoded in about the size that is wanted.
            image.draft(None, (limits.max_width, limits.max_height))
            image.load()
            if fits and is_taken and not (set(image.info) - _HARMLESS or len(image.getexif())):
                return mime, data
            upright = _operations().exif_transpose(image) or image
            return _encoded(mime, upright, limits)
    except (pillow.DecompressionBombError, pillow.DecompressionBombWarning):
        return None


# Any: Pillow is loaded when the first picture comes, so its types are not at hand.
def _encoded(mime: str, image: Any, limits: ImageLimits) -> tuple[str, bytes] | None:
    if image.mode not in {"RGB", "RGBA", "L", "LA"}:
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    image.info = {}
    image.thumbnail((limits.max_width, limits.max_height), _pillow().Resampling.LANCZOS)
    for _ in range(_STEPS):
        for kind, options in _encodings(mime):
            written = _write(image, _FORMATS[kind], options)
            if 4 * -(-len(written) // 3) <= limits.max_base64_bytes:
                return kind, written
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
