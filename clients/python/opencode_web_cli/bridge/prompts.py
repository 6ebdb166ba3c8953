"""What an editor says, as the parts of a prompt."""

from __future__ import annotations

import asyncio
import mimetypes
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit
from urllib.request import url2pathname

from acp import schema

from opencode_web_cli.bridge.place import Paths, require_path
from opencode_web_cli.bridge.server import Json, Refused, Server

# A file of the editor's machine that is sent along, because the server's is another.
MAX_SENT_BYTES = 256 * 1024
_COMMAND = re.compile(r"/(?P<name>[\w.:-]+)(?:\s+(?P<rest>.*))?", re.S)
_LINE = re.compile(r"L(\d{1,9})")


@dataclass(frozen=True)
class Command:
    """`/name arguments`."""

    name: str
    arguments: str


def find_command(parts: list[Json]) -> Command | None:
    """Returns: what the first text of a prompt calls by name, whether there is such a command."""
    texts = [part["text"] for part in parts if part["type"] == "text" and not part.get("synthetic")]
    match = _COMMAND.fullmatch(texts[0].strip()) if texts else None
    return Command(match["name"], (match["rest"] or "").strip()) if match else None


async def build_parts(server: Server, paths: Paths, blocks: list[Any]) -> list[Json]:
    """Make parts of the blocks of a prompt, each of a type of the SDK's.

    Raises: Refused for a link that leads outside the folder; Lost.
    """
    parts: list[Json] = []
    for block in blocks:
        match block:
            case schema.TextContentBlock():
                parts.append(_text(block))
            case schema.ImageContentBlock():
                parts.append(_file(block.mime_type, block.data, block.uri or ""))
            case schema.EmbeddedResourceContentBlock():
                parts.append(_embedded(block.resource, paths))
            case schema.ResourceContentBlock():
                parts.append(await _link(server, paths, block))
    return parts


def _text(block: schema.TextContentBlock) -> Json:
    part: Json = {"type": "text", "text": block.text}
    audience = block.annotations.audience if block.annotations else None
    if audience == ["assistant"]:
        part["synthetic"] = True
    elif audience == ["user"]:
        part["ignored"] = True
    return part


def _file(mime: str, data: str, uri: str) -> Json:
    name = Path(unquote(urlsplit(uri).path)).name
    part: Json = {"type": "file", "mime": mime, "url": f"data:{mime};base64,{data}"}
    return {**part, "filename": name} if name else part


def _embedded(
    resource: schema.TextResourceContents | schema.BlobResourceContents, paths: Paths
) -> Json:
    if isinstance(resource, schema.BlobResourceContents):
        mime = resource.mime_type or "application/octet-stream"
        return _file(mime, resource.blob, resource.uri)
    name = _local_path(resource.uri)
    shown = (paths.to_remote(name) if name else None) or resource.uri
    line = _LINE.match(urlsplit(resource.uri).fragment)
    return _quoted(f"{shown}:{line[1]}" if line else shown, resource.text)


def _quoted(name: str, text: str) -> Json:
    return {"type": "text", "text": f"[{name}]\n{text}"}


async def _link(server: Server, paths: Paths, block: schema.ResourceContentBlock) -> Json:
    name = _local_path(block.uri)
    if name is None:
        return {"type": "text", "text": block.uri}
    remote = require_path(paths, name)
    if not paths.is_same_folder:
        text = await asyncio.to_thread(_read_text, Path(paths.local, name))
        if text is not None and text != await _read_remote(server, paths, remote):
            return _quoted(remote, text)
    mime = block.mime_type or mimetypes.guess_type(remote)[0] or "text/plain"
    return {
        "type": "file",
        "mime": mime,
        "filename": Path(remote).name,
        "url": f"file://{quote(remote)}",
    }


def _local_path(uri: str) -> str | None:
    """Returns: the path of a file of the editor's machine that is named; else None.

    Zed names selections by `zed://…?path=`.
    """
    parts = urlsplit(uri)
    if parts.scheme == "file":
        return url2pathname(parts.path)
    if parts.scheme == "zed":
        named = re.search(r"(?:^|&)path=([^&]+)", parts.query)
        return unquote(named[1]) if named else None
    return None


def _read_text(path: Path) -> str | None:
    """Returns: the text of a small file, None when there is none."""
    try:
        if path.stat().st_size > MAX_SENT_BYTES:
            return None
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


async def _read_remote(server: Server, paths: Paths, path: str) -> str | None:
    inside = path.removeprefix(f"{paths.remote}/")
    try:
        read = await server.call("GET", "/file/content", path=inside, directory=paths.remote)
    except Refused:
        return None
    return str(read["content"]) if read.get("type") == "text" else None
