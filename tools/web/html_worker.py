"""HTML to text or Markdown, as a program: `html_worker.py markdown|text ADDRESS CPU_SECONDS`.

The page is a stranger's. Whatever it does to the parsers, it does it here, in a process that has
nothing to lose and ends by itself. It imports nothing of ours.
"""

from __future__ import annotations

import html
import re
import resource
import sys
from html.parser import HTMLParser
from urllib.parse import urljoin

from bs4 import Tag
from markdownify import MarkdownConverter

# Far more than a page of the permitted size needs.
MEMORY_BYTES = 768 * 1024 * 1024
# Deeper elements lose their tags, and more of them end the page. Their texts are what counts.
MAX_DEPTH = 80
MAX_TAGS = 40_000
CUT = "[The page has more elements than are converted; the rest is left out.]"

_Attributes = list[tuple[str, str | None]]
_SKIPPED = frozenset({"script", "style", "noscript", "iframe", "object", "embed", "template"})
_SKIPPED_ALSO = frozenset({"svg", "canvas", "select", "datalist"})
_VOID = frozenset({"br", "hr", "img", "wbr"})
_INLINE = frozenset(
    {
        *("a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i"),
        *("img", "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike"),
        *("strong", "sub", "sup", "time", "tt", "u", "var", "wbr"),
    }
)
_KEPT = frozenset(
    {
        *("a", "b", "blockquote", "caption", "code", "del", "dd", "div", "dl", "dt", "em"),
        *("figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "i", "kbd", "li", "ol", "p"),
        *("pre", "q", "s", "samp", "strong", "sub", "sup", "table", "tbody", "td", "tfoot", "th"),
        *("thead", "title", "tr", "ul", "article", "section", "header", "footer", "main", "nav"),
        "aside",
    }
)
# Whose end need not be written: another one of them ends it, unless one of the second is between.
_ENDED_BY = {
    "li": (("li",), ("ul", "ol")),
    "p": (("p",), ("td", "th", "li", "blockquote", "div")),
    "dt": (("dt", "dd"), ("dl",)),
    "dd": (("dt", "dd"), ("dl",)),
    "td": (("td", "th"), ("tr", "table")),
    "th": (("td", "th"), ("tr", "table")),
    "tr": (("tr",), ("table",)),
}
_LINKS = ("http://", "https://", "mailto:", "#")
_MAX_LINK_CHARS = 2_000
_LANGUAGE = re.compile(r"\b(?:language|lang|highlight-source)-([A-Za-z0-9+#_-]{1,30})")
_BLANK_LINES = re.compile(r"\n\s*\n\s*")
_SPACES = re.compile(r" +")
_CELLS = frozenset({"td", "th"})
# A space that counts, until the others have been joined.
_HELD_SPACE = "\0"


class _Enough(Exception):
    """The page has more tags than are read."""


class _Walk(HTMLParser):
    """Goes over a page once, without a tree, and leaves out what nobody reads."""

    def __init__(self, base: str) -> None:
        super().__init__(convert_charrefs=True)
        self.base = base
        self.out: list[str] = []
        self.open: list[str] = []
        self.skipped: list[str] = []
        self.tags = 0

    def handle_starttag(self, tag: str, attrs: _Attributes) -> None:
        self.tags += 1
        if self.tags > MAX_TAGS:
            raise _Enough
        if self.skipped or tag in _SKIPPED or tag in _SKIPPED_ALSO:
            # Only these nest here: what else is open inside them is never looked at.
            if tag in _SKIPPED or tag in _SKIPPED_ALSO:
                self.skipped.append(tag)
            return
        self._end_implied(tag)
        if tag in _VOID:
            self.emit_open(tag, attrs)
        elif tag in _KEPT and len(self.open) < MAX_DEPTH:
            self.open.append(tag)
            self.emit_open(tag, attrs)

    def _end_implied(self, tag: str) -> None:
        ended, between = _ENDED_BY.get(tag, ((), ()))
        for place in range(len(self.open) - 1, -1, -1):
            if self.open[place] in between:
                return
            if self.open[place] in ended:
                self._close_to(place)
                return

    def _close_to(self, place: int) -> None:
        while len(self.open) > place:
            self.emit_close(self.open.pop())

    def handle_startendtag(self, tag: str, attrs: _Attributes) -> None:
        # `<script/>` opens a script all the same, and `<path/>` nothing.
        self.handle_starttag(tag, attrs)
        if self.skipped and tag in _SKIPPED_ALSO:
            self.skipped.pop()

    def handle_endtag(self, tag: str) -> None:
        if self.skipped:
            if tag in self.skipped:
                del self.skipped[self.skipped.index(tag) :]
            return
        if tag in self.open:
            # What was left open inside ends with it.
            self._close_to(len(self.open) - 1 - self.open[::-1].index(tag))

    def handle_data(self, data: str) -> None:
        if not self.skipped:
            self.emit_text(data)

    def finish(self) -> None:
        self._close_to(0)

    def emit_open(self, tag: str, attrs: _Attributes) -> None:
        raise NotImplementedError

    def emit_close(self, tag: str) -> None:
        raise NotImplementedError

    def emit_text(self, text: str) -> None:
        raise NotImplementedError


class _Slim(_Walk):
    """Writes the page again, with what Markdown knows and nothing else."""

    def emit_open(self, tag: str, attrs: _Attributes) -> None:
        values = {name: value or "" for name, value in attrs}
        kept: dict[str, str] = {}
        if tag == "a":
            kept["href"] = _address(self.base, values.get("href", ""))
        elif tag == "img":
            kept = {
                "src": _address(self.base, values.get("src", "")),
                "alt": values.get("alt", "")[:300],
            }
            if not kept["src"]:
                self.out.append(html.escape(kept["alt"]))
                return
        elif tag in {"pre", "code"}:
            kept["class"] = values.get("class", "")[:200]
        elif tag == "ol" and values.get("start", "").isdecimal():
            kept["start"] = values["start"][:9]
        elif tag in {"td", "th"} and values.get("colspan", "").isdecimal():
            kept["colspan"] = str(min(int(values["colspan"][:4]), 20))
        written = "".join(f' {name}="{html.escape(value)}"' for name, value in kept.items())
        name = "p" if tag == "title" else tag
        self.out.append(f"<{name}{written}>")

    def emit_close(self, tag: str) -> None:
        self.out.append(f"</{'p' if tag == 'title' else tag}>")

    def emit_text(self, text: str) -> None:
        self.out.append(html.escape(text, quote=False))


class _Plain(_Walk):
    """Writes the words only; blocks begin a line of their own, cells follow a tabulator."""

    def emit_open(self, tag: str, attrs: _Attributes) -> None:
        if tag not in _INLINE and tag not in _CELLS:
            self.out.append("\n")

    def emit_close(self, tag: str) -> None:
        if tag in _CELLS:
            self.out.append("\t")
        elif tag not in _INLINE:
            self.out.append("\n")

    def emit_text(self, text: str) -> None:
        if "pre" in self.open:
            self.out.append(text.replace(" ", _HELD_SPACE))
            return
        words = " ".join(text.split())
        before, after = text[:1].isspace(), text[-1:].isspace()
        self.out.append(f"{' ' * before}{words}{' ' * after}" if words else " " * before)


def to_markdown(page: str, base: str) -> str:
    """Returns: the page as Markdown, links absolute, what is active or invisible left out."""
    walk = _Slim(base)
    note = _read(walk, page)
    converter = MarkdownConverter(
        heading_style="ATX", bullets="-", code_language_callback=_language, autolinks=True
    )
    text = str(converter.convert("".join(walk.out)))
    return _BLANK_LINES.sub("\n\n", text).strip() + note


def to_text(page: str, base: str) -> str:
    """Returns: the words of the page."""
    walk = _Plain(base)
    note = _read(walk, page)
    lines = (_SPACES.sub(" ", line).rstrip() for line in "".join(walk.out).split("\n"))
    text = "\n".join(line.removeprefix(" ") for line in lines)
    return _BLANK_LINES.sub("\n\n", text).strip().replace(_HELD_SPACE, " ") + note


def _read(walk: _Walk, page: str) -> str:
    try:
        walk.feed(page)
        walk.close()
    except _Enough:
        walk.skipped.clear()
        walk.finish()
        return f"\n\n{CUT}"
    walk.finish()
    return ""


def _address(base: str, href: str) -> str:
    try:
        found = urljoin(base, href.strip())
    except ValueError:
        return ""
    # Neither scripts nor files that are in the address itself: both are long, and say nothing.
    return found if found.lower().startswith(_LINKS) and len(found) <= _MAX_LINK_CHARS else ""


def _language(element: Tag) -> str:
    for one in (element, *element.find_all("code", limit=1)):
        if found := _LANGUAGE.search(" ".join(one.get_attribute_list("class"))):
            return found[1]
    return ""


def main() -> None:
    """Convert standard input to standard output."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    kind, base, cpu_s = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_s), int(cpu_s)))
    page = sys.stdin.buffer.read().decode("utf-8", "replace")
    text = to_markdown(page, base) if kind == "markdown" else to_text(page, base)
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
