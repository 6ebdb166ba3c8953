"""Texts that grow: what has arrived of each, and what the browsers have been sent."""

from __future__ import annotations

from opencode_web.lib.json import JsonObject
from opencode_web.lib.markdown import closed_chars, render_markdown
from sessions.present.conversation.items import GrowingText

# Below this a tail is parsed at every line; a longer one that stays open is parsed less often.
_EAGER_CHARS = 2_000


class Growth:
    """One growing text part. Units: characters."""

    def __init__(self, part_id: str, text: str) -> None:
        self.part_id = part_id
        self._text = text
        self._sent = len(text)
        self._closed = closed_chars(text)
        self._parse_at = 0

    @property
    def known(self) -> GrowingText:
        return GrowingText(self._text, self._closed)

    def add(self, offset: int, text: str) -> bool:
        """Returns: False when something between what is known and `offset` is missing."""
        if offset > len(self._text):
            return False
        self._text += text[len(self._text) - offset :]
        return True

    def catch_up(self, text: str) -> None:
        """Take over what the row has, when it has more."""
        if len(text) > len(self._text):
            self._text = text

    def take_frames(self) -> list[JsonObject]:
        """Returns: the frames that bring browsers from what was sent to what is known."""
        fresh = self._text[self._sent :]
        if not fresh:
            return []
        frames: list[JsonObject] = [{"k": "d", "p": self.part_id, "a": self._sent, "x": fresh}]
        self._sent = len(self._text)
        if "\n" in fresh:
            frames += self._close_blocks()
        return frames

    def _close_blocks(self) -> list[JsonObject]:
        tail = self._text[self._closed :]
        if len(tail) < self._parse_at:
            return []
        closed = closed_chars(tail)
        if not closed:
            self._parse_at = len(tail) + len(tail) // 5 if len(tail) > _EAGER_CHARS else 0
            return []
        start, self._closed, self._parse_at = self._closed, self._closed + closed, 0
        html = render_markdown(tail[:closed])
        return [{"k": "b", "p": self.part_id, "f": start, "a": self._closed, "x": html}]
