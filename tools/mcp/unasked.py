"""What a server says without being asked: how far a call is, its log, and that it has changed."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Mapping

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import printable_text

CHANGES = frozenset(
    f"notifications/{what}/list_changed" for what in ("tools", "prompts", "resources")
)
UPDATED = "notifications/resources/updated"
_LOG_LINES = 20
_LOG_CHARS = 500
_PROGRESS_CHARS = 200
# What may stand for a whole entry of a log that is an object.
_TEXTS = ("message", "msg", "text")
_MOST_VALUES = 20


class Log:
    """The newest entries of a server's log."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_LOG_LINES)
        # How many there have been.
        self.count = 0

    def add(self, params: JsonObject) -> None:
        """Keep the text of a `notifications/message`."""
        level = printable_text(str(params.get("level", "")))[:20]
        said = " ".join(printable_text(_text(params.get("data"))[: 4 * _LOG_CHARS]).split())
        if said:
            self._lines.append(f"{level or 'log'}: {said[:_LOG_CHARS]}")
            self.count += 1

    def since(self, count: int) -> str:
        """Returns: the entries behind the first `count`, as far as they are kept; else nothing."""
        newer = min(self.count - count, len(self._lines))
        return "\n".join([*self._lines][len(self._lines) - newer :]) if newer else ""


def _text(data: JsonValue) -> str:
    if isinstance(data, str):
        return data
    if isinstance(data, dict):
        for key in _TEXTS:
            if isinstance(found := data.get(key), str):
                return found
    # A whole tree would take its time here.
    values = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    if len(values) > _MOST_VALUES or any(isinstance(one, dict | list) for one in values):
        return ""
    return json.dumps(data, ensure_ascii=False)


def told_of(params: JsonObject, subscribed: Collection[str]) -> list[str]:
    """Returns: which of the subscribed resources have changed: the one that is named, or those that
    it is a part of."""
    uri = params.get("uri")
    if not isinstance(uri, str) or uri in subscribed:
        return [uri] if isinstance(uri, str) else []
    return [one for one in subscribed if uri.startswith(one.rstrip("/") + "/")]


def progress_text(params: Mapping[str, JsonValue]) -> str:
    """Returns: how far a call is, on one line: `3/10 Reading`; nothing where it is not said."""
    done, total, said = params.get("progress"), params.get("total"), params.get("message")
    numbers = [f"{one:g}" for one in (done, total) if isinstance(one, int | float)]
    text = printable_text(said[: 4 * _PROGRESS_CHARS]) if isinstance(said, str) else ""
    shown = " ".join(["/".join(numbers) if isinstance(done, int | float) else "", *text.split()])
    return shown.strip()[:_PROGRESS_CHARS]
