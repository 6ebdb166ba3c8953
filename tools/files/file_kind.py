"""Tell images, PDFs, binaries and text apart. Pure. Source: OpenCode 1.18."""

from __future__ import annotations

from pathlib import PurePath

SAMPLE_BYTES = 4_096

_BINARY_SUFFIXES = frozenset(
    {
        ".zip",
        ".tar",
        ".gz",
        ".exe",
        ".dll",
        ".so",
        ".class",
        ".jar",
        ".war",
        ".7z",
        ".doc",
        ".docx",
        ".xls",
        ".xlsx",
        ".ppt",
        ".pptx",
        ".odt",
        ".ods",
        ".odp",
        ".bin",
        ".dat",
        ".obj",
        ".o",
        ".a",
        ".lib",
        ".wasm",
        ".pyc",
        ".pyo",
    }
)
_MAX_CONTROL_PERCENT = 30


def attachment_mime(sample: bytes) -> str | None:
    """Name the type of a file that the model sees as an attachment; None for every other."""
    if sample.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if sample.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if sample.startswith(b"GIF8"):
        return "image/gif"
    if sample.startswith(b"RIFF") and sample[8:12] == b"WEBP":
        return "image/webp"
    if sample.startswith(b"%PDF-"):
        return "application/pdf"
    return None


def is_binary(name: str, sample: bytes) -> bool:
    """Tell whether a file is no text, from its name and its first 4,096 bytes."""
    if PurePath(name).suffix.lower() in _BINARY_SUFFIXES:
        return True
    if b"\0" in sample:
        return True
    control = sum(byte < 9 or 14 <= byte <= 31 for byte in sample)
    return control * 100 > _MAX_CONTROL_PERCENT * len(sample)
