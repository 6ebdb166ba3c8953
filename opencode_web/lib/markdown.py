"""Markdown to HTML that cannot act: no raw HTML, no remote images.

`render_markdown` is for text of models and people, `render_document` for the server's own pages.

The parser is imported with the first text: its regular expressions take a tenth of a second, which
a start does not wait for.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import nh3
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

# Longer text is shown as it is.
MAX_CHARS = 200_000
_TAGS = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote"),
    *("em", "strong", "s", "code", "pre", "span", "a"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {
    "a": {"href", "title", "target", "data-panel-tab"},
    "code": {"data-language"},
    "ol": {"start"},
    "pre": {"tabindex"},
    "span": {"class"},
    "table": {"tabindex"},
    "td": {"align"},
    "th": {"align"},
}
_PAGE_TAGS = _TAGS | {"h2"}
_PAGE_ATTRIBUTES = _ATTRIBUTES | {tag: {"id"} for tag in ("h2", "h3", "h4", "h5", "h6")}


@dataclass(frozen=True)
class Section:
    """A heading with the plain text up to the next one. `level` is 1 to 6."""

    level: int
    title: str
    anchor: str
    text: str


@dataclass(frozen=True)
class Document:
    """`sections` are in order; `html` lacks the first heading, which is the title of the page."""

    html: SafeString
    sections: tuple[Section, ...]

    @property
    def title(self) -> str:
        return self.sections[0].title


def render_document(text: str, *, address_of: Callable[[str], str]) -> Document:
    """Render a page that begins with a heading. Headings keep their levels and can be linked to.

    `address_of`: turns the target of a link, as it is written, into the one for the browser.
    """
    parser = _parser(is_page=True)
    tokens = parser.parse(text)
    sections = _divide(tokens)
    for child in (child for token in tokens for child in token.children or ()):
        if child.type == "link_open":
            target = address_of(str(child.attrGet("href")))
            child.attrSet("href", target)
            child.meta["stays"] = "://" not in target
    title_tokens = 3
    html = parser.renderer.render(tokens[title_tokens:], parser.options, {})
    return Document(_sanitise(html, _PAGE_TAGS, _PAGE_ATTRIBUTES), sections)


def _divide(tokens: Sequence[Any]) -> tuple[Section, ...]:
    """Give each heading its id. Returns: the sections that the headings begin."""
    found: list[tuple[int, str, str, list[str]]] = []
    anchors: set[str] = set()
    for token, follower in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and follower is not None:
            title = _plain(follower)
            anchor = _anchor(title, anchors)
            token.attrSet("id", anchor)
            found.append((int(token.tag[1]), title, anchor, []))
        elif found and token.type in ("inline", "fence"):
            found[-1][3].append(_plain(token))
    return tuple(
        Section(level, title, anchor, " ".join(texts[1:])) for level, title, anchor, texts in found
    )


def _plain(token: Any) -> str:  # markdown_it.token.Token
    if not token.children:
        return str(token.content)
    return "".join(" " if "break" in one.type else one.content for one in token.children)


def _anchor(title: str, taken: set[str]) -> str:
    """As GitHub makes them: lower case, without punctuation, numbered from the second one on."""
    base = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    anchor, number = base, 0
    while anchor in taken:
        number += 1
        anchor = f"{base}-{number}"
    taken.add(anchor)
    return anchor


def render_markdown(text: str, page_of: Callable[[str], str] | None = None) -> SafeString:
    """`page_of`: what a word leads to that may be the name of a file; empty for any other one.

    Returns: sanitised HTML of block elements.
    """
    if len(text) > MAX_CHARS:
        return format_html('<pre tabindex="0">{}</pre>', text)
    return _sanitise(_parser().render(text, {"page_of": page_of}), _TAGS, _ATTRIBUTES)


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


def _sanitise(html: str, tags: set[str], attributes: dict[str, set[str]]) -> SafeString:
    return mark_safe(  # noqa: S308 - what nh3 lets through is one of the lists above
        nh3.clean(
            html,
            tags=tags,
            attributes=attributes,
            url_schemes={"http", "https", "mailto"},
            link_rel="noopener nofollow",
        )
    )


def _parser(*, is_page: bool = False) -> Any:  # markdown_it.MarkdownIt
    return importlib.import_module("opencode_web.lib.markdown_parser").parser(is_page=is_page)
