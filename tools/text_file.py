"""Text as it lies in a file: byte order mark, bytes that are no UTF-8, and back. Pure."""

from __future__ import annotations

BOM = "\ufeff"


def decode_text(data: bytes) -> tuple[str, bool]:
    """Decode without loss: other bytes become lone surrogates, which `encode_text` reverts.

    Returns: the text without its byte order mark, and whether it had one.
    """
    text = data.decode("utf-8", "surrogateescape")
    return text.removeprefix(BOM), text.startswith(BOM)


def encode_text(text: str, *, bom: bool) -> bytes:
    """Encode what `decode_text` gave; a mark in the text itself counts, and is written once."""
    marked = bom or text.startswith(BOM)
    return ((BOM if marked else "") + text.removeprefix(BOM)).encode("utf-8", "surrogateescape")


def displayable(text: str) -> str:
    """Make decoded text fit for JSON and pages."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
