"""How providers say that they do not take a picture or document: by no common code, by wordings.

A file that is refused is refused in every later request, too, so it has to be known which it is.
Source: what vendors answer; each line names who says it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from http import HTTPStatus

from .errors import (
    AuthError,
    NetworkError,
    OverflowError_,
    ProviderError,
    QuotaExceeded,
    RefusedFiles,
)
from .json import JsonObject, JsonValue, dump
from .messages import File, ProviderRequest

_IMAGE, _PDF, _ANY = "image", "pdf", ""
# (wording, kind of file, who says it); the first that matches counts.
PATTERNS: tuple[tuple[str, str, str], ...] = (
    (r"pdf specified (?:was not valid|is password protected)", _PDF, "Anthropic"),
    (r"maximum of \d+ pdf pages", _PDF, "Anthropic"),
    (r"could not process (?:the )?pdf", _PDF, "Anthropic, also on Bedrock"),
    (r"too much media", _ANY, "Anthropic: pages and images are counted together"),
    (r"could not process (?:the )?image", _IMAGE, "Anthropic, also on Bedrock"),
    (r"image exceeds .{0,20}maximum", _IMAGE, "Anthropic"),
    (r"image dimensions exceed max allowed size", _IMAGE, "Anthropic"),
    (r"image does not match the provided media type", _IMAGE, "Anthropic, older"),
    (r"image was specified using the .{0,40} media type", _IMAGE, "Anthropic"),
    (r"image cannot be empty", _IMAGE, "Anthropic"),
    (r"image\.source\.base64", _IMAGE, "Anthropic: whatever is wrong with this field"),
    (r"document\.source\.base64", _PDF, "Anthropic: whatever is wrong with this field"),
    # `error.code` of Responses. Source: ResponseError in OpenAI's description of its API.
    (r"invalid_(?:base64_image|image(?:_format|_url|_mode)?)\b", _IMAGE, "OpenAI code"),
    (r"image_(?:too_(?:large|small)|parse_error|file_too_large)", _IMAGE, "OpenAI code"),
    (r"image_content_policy_violation", _IMAGE, "OpenAI code"),
    (r"unsupported_image_media_type|empty_image_file", _IMAGE, "OpenAI code"),
    (r"unsupported image", _IMAGE, "OpenAI: You uploaded an unsupported image"),
    (r"does not represent a valid image", _IMAGE, "OpenAI, Azure"),
    (r"invalid image data", _IMAGE, "OpenAI, Groq"),
    (r"only image types are supported", _IMAGE, "OpenAI: Invalid MIME type"),
    (r"base64[- ]encoded data url with an image", _IMAGE, "OpenAI"),
    (r"base64[- ]encoded data url with an? application/pdf", _PDF, "OpenAI"),
    (r"invalid (?:file data|'[^']*file_data')", _PDF, "OpenAI"),
    (r"unable to process input image", _IMAGE, "Gemini"),
    (r"provided image is not valid", _IMAGE, "Gemini, Vertex"),
    (r"document has no pages", _PDF, "Gemini"),
    (r"exceeds the supported page limit", _PDF, "Gemini"),
    (r"unsupported mime ?type", _ANY, "Gemini"),
    (r"mime ?type parameter .{0,80}not supported", _ANY, "Vertex"),
    (r"base64 decoding failed", _ANY, "Gemini"),
    (r"request payload size exceeds the limit", _ANY, "Gemini"),
    (r"image format .{0,40}(?:not supported|does not match|is invalid)", _IMAGE, "Bedrock"),
    (r"too many images|at most \d+ image", _IMAGE, "Groq, Bedrock, vLLM"),
    (r"cannot (?:decode|decode or download) (?:the )?image", _IMAGE, "xAI"),
    (r"image (?:size |file )?(?:exceeds|is too large|too large)", _IMAGE, "xAI, Copilot"),
    (r"(?:image|document|file) content cannot be (?:loaded|decoded)", _ANY, "Mistral"),
    (r"no endpoints found that support image input", _IMAGE, "OpenRouter, status 404"),
    (r"no endpoints found that support (?:file|pdf)", _PDF, "OpenRouter, status 404"),
    (r"image input is not supported", _IMAGE, "llama.cpp, status 500"),
    (r"cannot identify image file", _IMAGE, "vLLM, SGLang"),
    (r"is not a multimodal model", _IMAGE, "vLLM"),
    (r"model does not support (?:images|image input|vision)", _IMAGE, "LM Studio, others"),
    (r"missing data required for image input", _IMAGE, "Ollama"),
    (r"unknown variant `image_url`", _IMAGE, "DeepSeek"),
    (r"unknown variant `file`", _PDF, "DeepSeek"),
    (
        r"(?:could not|cannot|can't|failed to|unable to) (?:\w+ ){0,2}"
        r"(?:load|decode|read|parse|process|open|identify)[^.\n]{0,40}\b(?:image|picture)s?\b",
        _IMAGE,
        "many, in their own words",
    ),
    (
        r"(?:could not|cannot|can't|failed to|unable to) (?:\w+ ){0,2}"
        r"(?:load|decode|read|parse|process|open|extract)[^.\n]{0,60}(?:\bpdf\b|\bdocument\b|\.pdf)",
        _PDF,
        "many, in their own words",
    ),
    (r"(?:invalid|corrupted?|malformed|empty|unsupported) (?:\w+ )?image", _IMAGE, "many"),
    (r"(?:invalid|corrupted?|malformed|empty|unsupported) (?:\w+ )?pdf", _PDF, "many"),
    (r"not a valid (?:image|picture)", _IMAGE, "many"),
    (r"not a valid (?:pdf|document)", _PDF, "many"),
    (r"invalid base64", _ANY, "many"),
)
_COMPILED = tuple((re.compile(pattern, re.I | re.S), kind) for pattern, kind, _ in PATTERNS)
# `messages.0.content.1.image`, `input[2].content[1]`, `contents[0].parts[1].inline_data`
_PLACE = re.compile(r"\b(?:messages|input|contents)(?:\.\w+|\[\d+\])+")
# What stands before a vendor's sentence; people have no use for it.
_HEAD = re.compile(rf"{_PLACE.pattern}:\s*")
_STEP = re.compile(r"\w+")
_OTHER_FAULTS = (AuthError, NetworkError, QuotaExceeded)


def find_refused(
    error: ProviderError,
    request: ProviderRequest,
    encode: Callable[[ProviderRequest], JsonObject],
    *,
    said: str,
) -> ProviderError:
    """Returns: a RefusedFiles for an error that is about files of the request, else the error.

    `encode` gives the body that was sent; `said` is all that the provider has answered.
    """
    if isinstance(error, _OTHER_FAULTS) or error.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        return error
    text = f"{error.message}\n{said}"
    kind = next((kind for pattern, kind in _COMPILED if pattern.search(text)), None)
    files = [file for file in request.files if not kind or (file.is_image == (kind == _IMAGE))]
    if not files:
        return error
    body = encode(request)
    if isinstance(error, OverflowError_) and not kind:
        # Without history there is nothing to sum up, and files may be what a gateway minds.
        is_body = error.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        if not is_body or 2 * sum(len(one.base64) for one in files) < len(dump(body)):
            return error
    elif kind is None:
        return error
    named = _named(text, files, body)
    return RefusedFiles(
        _HEAD.sub("", error.message),
        reason=error.reason,
        values=error.values,
        files=tuple(named or files),
        is_certain=bool(named) or len(files) == 1,
        status_code=error.status_code,
        response_body=error.response_body,
    )


def _named(text: str, files: list[File], body: JsonObject) -> list[File]:
    """Returns: the files that an error names by their place in the body, or else by their name."""
    for place in _PLACE.finditer(text):
        there = set(_texts(_walk(body, place[0])))
        found = [file for file in files if file.base64 in there or file.data_url in there]
        if found:
            return found
    return [file for file in files if file.name and file.name in text]


def _walk(node: JsonValue, place: str) -> JsonValue:
    """Go as far as the path fits: vendors mix in names of types that are no fields."""
    for step in _STEP.findall(place):
        if isinstance(node, list):
            if not step.isdecimal():
                continue
            if int(step) >= len(node):
                return None
            node = node[int(step)]
        elif isinstance(node, dict) and step in node:
            node = node[step]
    return node


def _texts(node: JsonValue) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, list):
        for item in node:
            yield from _texts(item)
    elif isinstance(node, dict):
        for item in node.values():
            yield from _texts(item)
