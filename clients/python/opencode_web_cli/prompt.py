"""What a run sends: the words of the command line, standard input and files."""

from __future__ import annotations

import base64
import mimetypes
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from opencode_web_cli.failures import Code, Failure

_MAX_FILE_BYTES = 10 * 1024 * 1024


def build_text(words: Sequence[str], stdin: TextIO | None = None) -> str:
    """Join the words with what is piped in. Raises: Failure when there is nothing to say."""
    source = stdin or sys.stdin
    piped = "" if source is None or source.isatty() else source.read()
    text = "\n".join(part for part in (" ".join(words), piped.rstrip("\n")) if part.strip())
    if not text:
        raise Failure("Say what to do: as words, or on standard input.", Code.USAGE)
    return text


def build_file(name: str) -> dict[str, Any]:
    """Make a part of a file. Raises: Failure when it cannot be read or is too large."""
    path = Path(name)
    try:
        size = path.stat().st_size
        if size > _MAX_FILE_BYTES:
            limit = _MAX_FILE_BYTES // 1024 // 1024
            raise Failure(f"{name} is too large to be sent: over {limit} MB.", Code.USAGE)
        data = path.read_bytes()
    except OSError as exc:
        raise Failure(f"{name} cannot be read: {exc.strerror}", Code.USAGE) from exc
    mime = mimetypes.guess_type(path.name)[0] or _mime_of(data)
    encoded = base64.b64encode(data).decode()
    url = f"data:{mime};base64,{encoded}"
    return {"type": "file", "mime": mime, "filename": path.name, "url": url}


def _mime_of(data: bytes) -> str:
    try:
        data.decode()
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "text/plain"


def build_model(text: str) -> dict[str, str]:
    """Raises: Failure when it is not `provider/model`."""
    provider, _, model = text.partition("/")
    if not provider or not model:
        raise Failure(f"{text!r} is no model. Name it as provider/model.", Code.USAGE)
    return {"providerID": provider, "modelID": model}
