"""Bound the result of a call before anybody sees it.

What leaves here is what becomes the event and the row: the raw text of an oversized output is in
its Managed Tool Output File and nowhere else, also when the call is cut off in between
(FEAT-0002 FR-03, NFR-02, NFR-03).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.pictures import PICTURES, ImageLimits, fit_picture
from tools.base import Attachment, ToolResult
from tools.context import ToolContext
from tools.output_store import keep_output
from tools.redaction import Redactor
from tools.truncate import Keep, Truncation, keep_both, keep_head, keep_tail

_NOTE_LINES = 40
_NOTE_BYTES = 4_096
_KEEP = {Keep.HEAD: keep_head, Keep.TAIL: keep_tail, Keep.BOTH: keep_both}


def settle(result: ToolResult, context: ToolContext) -> ToolResult:
    """Returns: the result without secrets, with storable, bounded text and pictures that a provider
    takes."""
    clean = _redacted(result, context.sandbox.redactor)
    return _bound(_fit(_storable_result(clean), context), context)


def where_kept(path: Path | None, *, delegates: bool) -> str:
    """Say to the model where the whole of a cut output is, and how to look into it."""
    if path is None:
        return "The whole output could not be kept. Run a narrower call to see the rest."
    if delegates:
        return (
            f"The whole output is in {path}. Give the search in it to the explore agent with the "
            "tool task, or look into it with grep or with read, offset and limit; do not read all "
            "of it yourself."
        )
    return f"The whole output is in {path}. Search it with grep, or read it with offset and limit."


def _redacted(result: ToolResult, redactor: Redactor) -> ToolResult:
    if not redactor:
        return result
    metadata = redactor.json(result.metadata)
    return replace(
        result,
        title=redactor.text(result.title),
        output=redactor.text(result.output),
        metadata=metadata,
    )


def _fit(result: ToolResult, context: ToolContext) -> ToolResult:
    kept, left_out = fit_pictures(result.attachments, context.limits.image)
    if not left_out:
        return replace(result, attachments=kept)
    # The words of the program that clients and models know.
    note = f"[{left_out} image(s) omitted: could not be resized below the image size limit.]"
    return replace(result, attachments=kept, output=f"{result.output}\n\n{note}")


def _bound(result: ToolResult, context: ToolContext) -> ToolResult:
    limits = context.limits
    max_lines, max_bytes = limits.max_lines, limits.max_bytes
    if "truncated" in result.metadata:
        # It has bounded its text itself and adds words of its own to it.
        max_lines += max(max_lines, _NOTE_LINES)
        max_bytes += max(max_bytes, _NOTE_BYTES)
    kept = _KEEP[result.keep](result.output, max_lines=max_lines, max_bytes=max_bytes)
    if not kept.truncated:
        return replace(result, metadata={"truncated": False, **result.metadata})
    path = keep_output(context.output_dir, result.output)
    metadata: JsonObject = {**result.metadata, "truncated": True}
    if path:
        metadata["outputPath"] = str(path)
    hint = where_kept(path, delegates=limits.delegates)
    return replace(result, output=_shown(kept, result.keep, hint), metadata=metadata)


def _shown(kept: Truncation, keep: Keep, hint: str) -> str:
    gap = f"...{kept.left_out} truncated..."
    match keep:
        case Keep.HEAD:
            pieces = [kept.text.rstrip(), gap, hint]
        case Keep.TAIL:
            pieces = [gap, hint, kept.text]
        case Keep.BOTH:
            pieces = [kept.text.rstrip(), gap, kept.end.strip("\n"), hint]
    return "\n\n".join(pieces)


def _storable_result(result: ToolResult) -> ToolResult:
    return replace(
        result,
        title=_storable(result.title),
        output=_storable(result.output),
        metadata={_storable(key): _storable_json(value) for key, value in result.metadata.items()},
    )


def _storable(text: str) -> str:
    # Neither JSON columns nor UTF-8 streams take these, and file names and outputs are hostile.
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _storable_json(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return _storable(value)
        case list():
            return [_storable_json(item) for item in value]
        case dict():
            return {_storable(key): _storable_json(item) for key, item in value.items()}
        case _:
            return value


def fit_pictures(
    files: tuple[Attachment, ...], limits: ImageLimits
) -> tuple[tuple[Attachment, ...], int]:
    """Returns: the files with pictures that fit, and how many pictures had to be left out."""
    fitted = [_fit_picture(file, limits) if file.mime in PICTURES else file for file in files]
    kept = tuple(file for file in fitted if file is not None)
    return kept, len(fitted) - len(kept)


def _fit_picture(file: Attachment, limits: ImageLimits) -> Attachment | None:
    fitted = fit_picture(file.mime, file.url, limits)
    return None if fitted is None else replace(file, mime=fitted[0], url=fitted[1])
