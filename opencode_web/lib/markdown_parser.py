"""The parser of `markdown`, and how its tokens become HTML. What comes out is sanitised there."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from django.utils.html import escape, format_html
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from opencode_web.lib.highlight import highlight, lexer_named


@cache
def parser(*, is_page: bool) -> MarkdownIt:
    """Returns: the parser for a page of the server, or for text in one of its pages."""
    made = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    if not is_page:
        made.core.ruler.push("demote_headings", _demote_headings)
        made.core.ruler.push("link_files", _link_files)
    made.add_render_rule("fence", _render_code)
    made.add_render_rule("code_block", _render_code)
    made.add_render_rule("image", _render_image)
    made.add_render_rule("link_open", _render_link)
    made.add_render_rule("table_open", _render_table)
    made.add_render_rule("th_open", _render_cell)
    made.add_render_rule("td_open", _render_cell)
    return made


def _demote_headings(state: StateCore) -> None:
    # The page has its own h1 and h2.
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"


def _link_files(state: StateCore) -> None:
    """Link the words and code that are names of files, as `page_of` in `env` says."""
    page_of = state.env.get("page_of")
    if page_of is None:
        return
    for token in state.tokens:
        is_linked = False
        made: list[Token] = []
        for child in token.children or ():
            is_linked = child.type == "link_open" or (is_linked and child.type != "link_close")
            if is_linked or child.type not in ("text", "code_inline"):
                made.append(child)
            elif child.type == "text":
                made += _words(child.content, page_of)
            else:
                name, _, line = child.content.partition(":")
                made += _linked(child, page_of(name), line)
        token.children = made or token.children


# What no name of a file has in it, as far as texts are concerned.
_BETWEEN = re.compile(r"([^\w@+./-]+)")


def _words(text: str, page_of: Callable[[str], str]) -> list[Token]:
    made: list[Token] = []
    plain = ""
    pieces = _BETWEEN.split(text)
    for index, piece in enumerate(pieces):
        name = piece.rstrip(".")
        if not (url := page_of(name)):
            plain += piece
            continue
        line = pieces[index + 2] if pieces[index + 1 : index + 2] == [":"] else ""
        made += [_text(plain), *_linked(_text(name), url, line)]
        plain = piece[len(name) :]
    return [*made, _text(plain)]


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _linked(token: Token, url: str, line: str) -> list[Token]:
    if not url:
        return [token]
    href = f"{url}#L{line}" if line.isascii() and line.isdigit() else url
    start = Token("link_open", "a", 1, attrs={"href": href, "data-panel-tab": "files"})
    start.meta["stays"] = True
    return [start, token, Token("link_close", "a", -1)]


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
    if not tokens[index].meta.get("stays"):
        tokens[index].attrSet("target", "_blank")
    return self.renderToken(tokens, index, options, env)


def _render_table(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    # A wide one scrolls, and the keyboard has to reach it for that, as with code.
    tokens[index].attrSet("tabindex", "0")
    return self.renderToken(tokens, index, options, env)


def _render_cell(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    # The policy of our pages allows no styles in elements.
    style = tokens[index].attrs.pop("style", None)
    if style is not None:
        tokens[index].attrSet("align", str(style).removeprefix("text-align:"))
    return self.renderToken(tokens, index, options, env)
