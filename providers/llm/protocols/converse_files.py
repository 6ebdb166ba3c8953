"""Pictures, films and documents as Converse takes them."""

from __future__ import annotations

import re
from dataclasses import replace

from ..json import JsonObject, JsonValue
from ..messages import (
    File,
    Message,
    ProviderRequest,
    Text,
    ToolResultMessage,
    UserMessage,
)
from .chat import MEDIA_NOTE

_FORMATS = {
    "jpg": "jpeg",
    "*": "png",
    "quicktime": "mov",
    "x-matroska": "mkv",
    "x-flv": "flv",
    "x-ms-wmv": "wmv",
    "3gpp": "three_gp",
    "plain": "txt",
    "markdown": "md",
    "msword": "doc",
    "vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "vnd.ms-excel": "xls",
    "vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
}
_TEXTS = frozenset({"txt", "md", "csv", "html"})
# What the name of a document may not have, and how long it may be.
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9\s()\[\]-]")
_MAX_NAME_CHARS = 180


def is_picture(file: File) -> bool:
    """Whether it may stand in the result of a tool."""
    return file.is_image


def image_block(file: File) -> JsonObject:
    """Returns: a picture as a block."""
    return {"image": {"format": _format(file), "source": {"bytes": file.base64}}}


def with_files_apart(request: ProviderRequest) -> ProviderRequest:
    """Put files that no result of a tool holds into a user message after the results."""
    messages: list[Message] = []
    waiting: list[File] = []
    for message in request.messages:
        if not isinstance(message, ToolResultMessage):
            messages += _apart(waiting)
            waiting = []
            messages.append(message)
            continue
        pictures = tuple(file for file in message.files if is_picture(file))
        waiting += [replace(file, name="") for file in message.files if not is_picture(file)]
        messages.append(replace(message, files=pictures))
    return replace(request, messages=(*messages, *_apart(waiting)))


def _apart(files: list[File]) -> list[Message]:
    return [UserMessage((Text(MEDIA_NOTE), *files))] if files else []


class Documents:
    """Names of the documents in one request: each has one, and no two have the same."""

    def __init__(self) -> None:
        self._unnamed = 0
        self._names: set[str] = set()

    def blocks(self, message: UserMessage) -> list[JsonValue]:
        """Returns: what a person has said."""
        blocks: list[JsonValue] = []
        has_text = has_document = False
        for part in message.content:
            if isinstance(part, Text):
                if part.text.strip():
                    blocks.append({"text": part.text})
                    has_text = True
            elif part.is_image:
                blocks.append(image_block(part))
            elif part.kind == "video":
                source: JsonObject = {"bytes": part.base64}
                blocks.append({"video": {"format": _format(part), "source": source}})
            else:
                blocks.append(self._document(part))
                has_document = True
        # A document is refused without a text beside it.
        return [{"text": "Attached:"}, *blocks] if has_document and not has_text else blocks

    def _document(self, file: File) -> JsonObject:
        source: JsonObject = {"bytes": file.base64}
        kind = _format(file)
        if file.kind == "text" and kind not in _TEXTS:
            kind = "txt"
        return {"document": {"format": kind, "name": self._name(file), "source": source}}

    def _name(self, file: File) -> str:
        stem = file.name.rpartition(".")[0] or file.name
        words = _NOT_IN_A_NAME.sub(" ", stem).split()
        name = " ".join(words)[:_MAX_NAME_CHARS].strip()
        if not name:
            self._unnamed += 1
            name = f"document-{self._unnamed}"
        wanted, number = name, 1
        while name in self._names:
            number += 1
            name = f"{wanted} ({number})"
        self._names.add(name)
        return name


def _format(file: File) -> str:
    kind = file.mime.partition("/")[2].partition(";")[0].strip()
    return _FORMATS.get(kind, kind)
