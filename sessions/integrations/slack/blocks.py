"""The form of what is said in Slack: Block Kit within its limits, and nothing in it that acts.

What an agent writes may be a stranger's wish: `&`, `<` and `>` are escaped, so that it mentions
nobody and hides no address behind a word, and `verbatim` keeps Slack from finding names in it.

Source: https://docs.slack.dev/reference/block-kit/blocks/ and
https://docs.slack.dev/messaging/formatting-message-text/
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from opencode_web.lib.json import JsonObject, JsonValue

MAX_SECTION_CHARS, MAX_BLOCKS, MAX_MESSAGE_CHARS = 3000, 50, 40_000
# Below Slack's own: escaping makes a text up to five times as long.
_MAX_TEXT_CHARS = 30_000
_MAX_FALLBACK_CHARS = 3000
_MAX_BUTTON_CHARS, _MAX_HEADER_CHARS = 75, 150
_FENCE = "```"
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$")
_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_ITEM = re.compile(r"^(\s*)[*+-]\s+")
_LINK = re.compile(r"\[([^\]\n]+)\]\((https?://[^\s)]+)\)")
_CUT = "… The rest is in the session."

Block = JsonObject


def escape(text: str) -> str:
    """Returns: the text as Slack shows it and does nothing about it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def to_mrkdwn(markdown: str) -> str:
    """Returns: Slack's own markup for an agent's Markdown, escaped. Code is left as it is."""
    lines, in_code = [], False
    for line in markdown.splitlines():
        if line.lstrip().startswith(_FENCE):
            in_code = not in_code
            lines.append(_FENCE)
        else:
            lines.append(escape(line) if in_code else _styled(line))
    if in_code:
        lines.append(_FENCE)
    return "\n".join(lines)


def _styled(line: str) -> str:
    line = escape(_LINK.sub(r"\1 (\2)", line))
    if heading := _HEADING.match(line):
        return f"*{heading[1].replace('**', '')}*"
    return _BOLD.sub(r"*\1*", _ITEM.sub(r"\1• ", line))


def text_blocks(markdown: str, *, most: int = MAX_BLOCKS) -> list[Block]:
    """Returns: sections of at most MAX_SECTION_CHARS; a text that is too long ends in a hint."""
    if len(markdown) > _MAX_TEXT_CHARS:
        markdown = f"{markdown[:_MAX_TEXT_CHARS]}\n\n{_CUT}"
    pieces = split(to_mrkdwn(markdown))
    used, kept = 0, list[str]()
    for piece in pieces:
        used += len(piece)
        if len(kept) == most - 1 or used > MAX_MESSAGE_CHARS - MAX_SECTION_CHARS:
            kept.append(_CUT)
            break
        kept.append(piece)
    return [section(piece) for piece in kept]


def split(mrkdwn: str, limit: int = MAX_SECTION_CHARS) -> list[str]:
    """Returns: pieces of whole lines where that is possible; code goes on in the next piece."""
    pieces, lines, size, in_code = list[str](), list[str](), 0, False
    room = limit - 2 * (len(_FENCE) + 1)
    for line in mrkdwn.splitlines():
        for part in _cut(line, room):
            if lines and size + len(part) + 1 > room:
                pieces.append("\n".join([*lines, *([_FENCE] if in_code else [])]))
                lines = [_FENCE] if in_code else []
                size = sum(len(one) + 1 for one in lines)
            lines.append(part)
            size += len(part) + 1
        in_code ^= line == _FENCE
    pieces.append("\n".join(lines))
    return [piece for piece in pieces if piece.strip()]


def _cut(line: str, limit: int) -> list[str]:
    """Cut a long line, and no escaped character in two."""
    parts = []
    while len(line) > limit:
        at = line.rfind("&", limit - 5, limit)
        at = at if at > 0 else limit
        parts.append(line[:at])
        line = line[at:]
    return [*parts, line]


def section(mrkdwn: str, *, accessory: Block | None = None) -> Block:
    """One paragraph."""
    text: JsonObject = {"type": "mrkdwn", "text": mrkdwn[:MAX_SECTION_CHARS], "verbatim": True}
    return {"type": "section", "text": text, **({"accessory": accessory} if accessory else {})}


def context(mrkdwn: str) -> Block:
    """A small line below."""
    text: JsonObject = {"type": "mrkdwn", "text": mrkdwn[:MAX_SECTION_CHARS], "verbatim": True}
    return {"type": "context", "elements": [text]}


def header(text: str) -> Block:
    """A title."""
    return {"type": "header", "text": plain(text, _MAX_HEADER_CHARS)}


def button(label: str, action: str, value: str, *, style: str = "") -> Block:
    """`style` is primary, danger or nothing."""
    made: Block = {
        "type": "button",
        "text": plain(label, _MAX_BUTTON_CHARS),
        "action_id": action,
        "value": value,
    }
    return made | ({"style": style} if style else {})


def actions(buttons: Sequence[Block]) -> Block:
    """Buttons in one line; at most 25 by Slack's limits."""
    return {"type": "actions", "elements": list[JsonValue](buttons[:25])}


def plain(text: str, limit: int) -> JsonObject:
    """A text without any markup."""
    return {"type": "plain_text", "text": shorten(text, limit) or "-", "emoji": False}


def shorten(text: str, limit: int) -> str:
    """Cut a text, and say so by an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def fallback(blocks: Sequence[Block]) -> str:
    """Returns: what notifications show of a message."""
    for one in blocks:
        text = one.get("text")
        if isinstance(text, dict) and isinstance(said := text.get("text"), str):
            is_marked = text.get("type") == "mrkdwn"
            return shorten(said if is_marked else escape(said), _MAX_FALLBACK_CHARS)
    return "OpenCode"


def link(url: str, words: str) -> str:
    """A link of ours."""
    return f"<{url}|{escape(words).replace('|', '¦')}>"
