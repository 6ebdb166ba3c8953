"""Markdown of models and people to HTML that cannot act: no raw HTML, no remote images."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import nh3
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from opencode_web.lib.highlight import highlight, lexer_named

# Longer text is shown as it is.
MAX_CHARS = 200_000
_TAGS = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote"),
    *("em", "strong", "s", "code", "pre", "span", "a"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {
    "a": {"href", "title", "target"},
    "code": {"data-language"},
    "ol": {"start"},
    "pre": {"tabindex"},
    "span": {"class"},
    "td": {"align"},
    "th": {"align"},
}


def render_markdown(text: str) -> SafeString:
    """Returns: sanitised HTML of block elements."""
    if len(text) > MAX_CHARS:
        return format_html('<pre tabindex="0">{}</pre>', text)
    return _sanitise(_parser().render(text))


def closed_chars(text: str) -> int:
    """How much of a growing text is finished: everything before its last top-level block.

    Units: characters from the start. The text after it may still change its meaning.
    """
    # The parser counts a lone carriage return as a line end; such a text waits for its end.
    if len(text) > MAX_CHARS or "\r" in text:
        return 0
    starts = [
        token.map[0]
        for token in _parser().parse(text)
        if token.level == 0 and token.nesting >= 0 and token.map
    ]
    if len(starts) < 2:
        return 0
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[: starts[-1]])


def _sanitise(html: str) -> SafeString:
    return mark_safe(  # noqa: S308 - what nh3 lets through is the list above
        nh3.clean(
            html,
            tags=_TAGS,
            attributes=_ATTRIBUTES,
            url_schemes={"http", "https", "mailto"},
            link_rel="noopener nofollow",
        )
    )


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.core.ruler.push("demote_headings", _demote_headings)
    parser.add_render_rule("fence", _render_code)
    parser.add_render_rule("code_block", _render_code)
    parser.add_render_rule("image", _render_image)
    parser.add_render_rule("link_open", _render_link)
    return parser


def _demote_headings(state: StateCore) -> None:
    # The page has its own h1 and h2.
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"


def _render_code(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    token = tokens[index]
    language = token.info.strip().partition(" ")[0]
    code = highlight(token.content.removesuffix("\n"), lexer_named(language) if language else None)
    return str(
        format_html('<pre tabindex="0"><code data-language="{}">{}</code></pre>\n', language, code)
    )


def _render_image(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    # A picture from elsewhere would tell its server who reads this, and carry data out.
    token = tokens[index]
    source = str(token.attrGet("src") or "")
    name = token.content or source
    if not source.startswith(("http://", "https://")):
        return escape(name)
    return str(format_html('<a href="{}" target="_blank">{}</a>', source, name))


def _render_link(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    tokens[index].attrSet("target", "_blank")
    return self.renderToken(tokens, index, options, env)
