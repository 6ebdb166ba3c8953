"""What each vendor takes of pictures and documents, as data, and what is left out beyond it. Pure.

A request over a limit is refused as a whole. The figures are the vendors' own where they give some;
each row names its source. Pictures are made smaller by whoever calls this package, before the
call: that needs a decoder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from .families.ids import is_claude
from .messages import (
    File,
    Message,
    ProviderRequest,
    ResolvedModel,
    Text,
    ToolResultMessage,
    UserMessage,
)

PNG, JPEG, GIF, WEBP = "image/png", "image/jpeg", "image/gif", "image/webp"
_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileLimits:
    """Units: pixels of the longer edge; `picture_bytes` and `total_bytes` are characters of base64,
    of one picture and of all files of a request. `pictures` counts those of a request.

    Without `animated` only the first picture of a GIF is read.
    """

    edge_px: int = 2_000
    picture_bytes: int = 5 * _MIB
    total_bytes: int = 20 * _MIB
    pictures: int | None = None
    mimes: frozenset[str] = frozenset({PNG, JPEG, GIF, WEBP})
    animated: bool = False


# A picture is made no smaller than the vendor would make it, and the same whatever stands beside
# it: another size would change what an earlier request said, and lose the provider's cache.
_ANYWHERE = FileLimits()
# 5 MB each, 32 MB in all, 8,000 px, and 2,000 px as soon as there are more than 20; larger than
# 1,568 px they are scaled down there. The first picture of a GIF is read.
# Source: https://docs.claude.com/en/docs/build-with-claude/vision
_CLAUDE = FileLimits(edge_px=2_000, picture_bytes=5 * _MIB, total_bytes=24 * _MIB, pictures=100)
# 50 MB in all, 500 pictures; scaled to a square of 2,048 px. No GIF that moves.
# Source: https://platform.openai.com/docs/guides/images-vision#image-input-requirements
_OPENAI = FileLimits(edge_px=2_048, picture_bytes=20 * _MIB, total_bytes=40 * _MIB, pictures=500)
# A request with its files has 20 MB; larger than 3,072 px they are scaled down. No GIF.
# Source: https://ai.google.dev/gemini-api/docs/image-understanding
_GEMINI = FileLimits(
    edge_px=3_072,
    picture_bytes=7 * _MIB,
    total_bytes=16 * _MIB,
    mimes=frozenset({PNG, JPEG, WEBP}),
)
# 3.75 MB (5 MiB in base64), 8,000 px, 20 of them.
# Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html
_CONVERSE = FileLimits(edge_px=2_000, picture_bytes=5_000_000, total_bytes=16 * _MIB, pictures=20)
_BY_NPM: Mapping[str, FileLimits] = MappingProxyType(
    {
        "@ai-sdk/anthropic": _CLAUDE,
        "@ai-sdk/google-vertex/anthropic": _CLAUDE,
        "@ai-sdk/openai": _OPENAI,
        "@ai-sdk/azure": _OPENAI,
        "@ai-sdk/google": _GEMINI,
        "@ai-sdk/google-vertex": _GEMINI,
        "@ai-sdk/amazon-bedrock": _CONVERSE,
        # Source: https://console.groq.com/docs/vision
        "@ai-sdk/groq": FileLimits(picture_bytes=4_000_000, pictures=5),
        # Source: https://docs.x.ai/docs/guides/image-understanding
        "@ai-sdk/xai": FileLimits(picture_bytes=20 * _MIB, mimes=frozenset({PNG, JPEG})),
        # Source: https://docs.mistral.ai/capabilities/vision
        "@ai-sdk/mistral": FileLimits(picture_bytes=10_000_000, pictures=8),
        # Source: https://docs.cohere.com/docs/image-inputs
        "@ai-sdk/cohere": FileLimits(total_bytes=18 * _MIB, pictures=20),
        # `max_prompt_image_size` and `supported_media_types` in its list of models.
        "@ai-sdk/github-copilot": FileLimits(
            picture_bytes=3_145_728, mimes=frozenset({PNG, JPEG, WEBP})
        ),
    }
)


# These have limits of their own for the Claude that they serve.
_OWN_FOR_CLAUDE = ("@ai-sdk/amazon-bedrock", "@ai-sdk/github-copilot")


def limits_of(model: ResolvedModel) -> FileLimits:
    """Returns: what the vendor of a model takes; for one that nobody knows, what most take."""
    if is_claude(model.api_model) and model.npm not in _OWN_FOR_CLAUDE:
        return _CLAUDE
    return _BY_NPM.get(model.npm, _ANYWHERE)


def note_left_out(file: File, reason: str) -> str:
    """Returns: what a model reads in the place of a file."""
    name = f'"{file.name}"' if file.name else f"({file.kind})"
    return f"[The file {name} was left out: {reason}. Tell the person if it matters.]"


def leave_out_surplus(request: ProviderRequest) -> ProviderRequest:
    """Put a sentence in the place of the oldest files that are too many or too much together."""
    limits = limits_of(request.model)
    decided: list[File | str] = []
    pictures = total = 0
    for file in reversed(list(request.files)):
        pictures += file.is_image
        size = len(file.data_url)
        if file.is_image and limits.pictures is not None and pictures > limits.pictures:
            reason = f"this provider takes {limits.pictures} pictures at once, and newer ones count"
            decided.append(note_left_out(file, reason))
        elif total + size > limits.total_bytes:
            reason = "it is more than this provider takes at once, and newer files count"
            decided.append(note_left_out(file, reason))
        else:
            total += size
            decided.append(file)
    return replace_files(request, reversed(decided))


def replace_files(request: ProviderRequest, decided: Iterable[File | str]) -> ProviderRequest:
    """Put something in the place of each file of `request.files`, in their order: a file or, where
    none may stand, what the model reads instead.
    """
    given = list(decided)
    if not any(new is not old for new, old in zip(given, request.files, strict=True)):
        return request
    ahead = iter(given)
    return replace(request, messages=tuple(_replaced(one, ahead) for one in request.messages))


def _replaced(message: Message, ahead: Iterator[File | str]) -> Message:
    if isinstance(message, UserMessage):
        content: list[Text | File] = []
        for part in message.content:
            new = next(ahead) if isinstance(part, File) else part
            content.append(Text(new) if isinstance(new, str) else new)
        return UserMessage(tuple(content))
    if isinstance(message, ToolResultMessage) and message.files:
        results = [next(ahead) for _ in message.files]
        notes = [one for one in results if isinstance(one, str)]
        files = tuple(one for one in results if isinstance(one, File))
        return replace(message, output="\n".join([message.output, *notes]), files=files)
    return message
