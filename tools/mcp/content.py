"""What a tool of a server gave, as the result of a call."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import replace

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import clean_text
from tools.base import Attachment, ToolResult
from tools.errors import ToolError

MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_FILES = 20
_DESCRIPTION_CHARS = 500
_SHOWN = frozenset({"application/pdf", "image/gif", "image/jpeg", "image/png", "image/webp"})


def read_result(result: JsonObject) -> ToolResult:
    """Read the result of a call: its texts, a blank line between them, and its pictures.

    Raises: ToolError with its words when it says that it failed.
    """
    texts: list[str] = []
    files: list[Attachment] = []
    for text, file in _parts(result.get("content")):
        if file is not None and len(files) < MAX_FILES:
            files.append(file)
        elif file is not None:
            texts.append(f"[More than {MAX_FILES} files: one is left out]")
        if text:
            texts.append(text)
    structured = result.get("structuredContent")
    if not texts and structured is not None:
        # Where there is text it says the same.
        texts.append(json.dumps(structured, ensure_ascii=False))
    output = clean_text("\n\n".join(texts))
    if result.get("isError") is True:
        raise ToolError(output or "MCP tool returned an error")
    return ToolResult(title="", output=output, attachments=tuple(files))


def read_contents(result: JsonObject) -> ToolResult:
    """Read what a resource holds, `{contents}`, as if a tool had given it."""
    found = result.get("contents")
    contents = found if isinstance(found, list) else []
    read = read_result({"content": [{"type": "resource", "resource": one} for one in contents]})
    return read if read.output or read.attachments else replace(read, output="It is empty.")


def _parts(content: JsonValue) -> Iterator[tuple[str, Attachment | None]]:
    for part in content if isinstance(content, list) else []:
        if not isinstance(part, dict):
            continue
        kind, resource = part.get("type"), part.get("resource")
        if kind == "text":
            yield str(part.get("text", "")), None
        elif kind in {"image", "audio"}:
            yield _file(part.get("mimeType"), part.get("data"), "")
        elif kind == "resource" and isinstance(resource, dict):
            uri = str(resource.get("uri", ""))[:2_000]
            if isinstance(resource.get("text"), str):
                yield str(resource["text"]), None
            else:
                yield _file(resource.get("mimeType"), resource.get("blob"), uri)
        elif kind == "resource_link":
            yield _link(part), None


def _link(part: JsonObject) -> str:
    """A resource that can be read by its address."""
    described = part.get("description")
    told = f", {described[:_DESCRIPTION_CHARS]}" if isinstance(described, str) else ""
    return f"[Resource {str(part.get('name', ''))[:200]}: {str(part.get('uri'))[:2_000]}{told}]"


def _file(mime: JsonValue, data: JsonValue, uri: str) -> tuple[str, Attachment | None]:
    name = f" {uri}" if uri else ""
    is_text = isinstance(mime, str) and (mime.startswith("text/") or mime == "application/json")
    if not isinstance(mime, str) or not (mime in _SHOWN or is_text) or not isinstance(data, str):
        return f"[A file{name} of type {str(mime)[:100]} cannot be shown]", None
    if len(data) > MAX_FILE_BYTES * 4 // 3 + 4:
        return f"[A file{name} larger than {MAX_FILE_BYTES >> 20} MiB is left out]", None
    try:
        raw = base64.b64decode(data, validate=True)
        if is_text:
            return raw.decode(), None
    except ValueError:
        return f"[A file{name} cannot be read]", None
    return "", Attachment(mime, f"data:{mime};base64,{data}")
