"""A page and what frames make of it: the rules of static/js/live.js and stream.js, in Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

_VOID = {"br", "hr", "img", "input", "link", "meta", "use"}
# Different on every rendering, and nothing that anybody sees.
_NOISE = {"csrfmiddlewaretoken", "idempotency"}
_UNSEEN = {"data-q", "data-now", "data-made", "open"}


@dataclass
class Node:
    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)
    parent: Node | None = None

    def __iter__(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child

    def find(self, selector: str) -> Node | None:
        name, _, condition = selector.removeprefix("#").partition("[")
        for node in self:
            if node.attributes.get("id") == name:
                if not condition:
                    return node
                key, _, value = condition.rstrip("]").partition("=")
                return node if node.attributes.get(key) == value.strip('"') else None
        return None

    def first(self, css_class: str) -> Node:
        return next(n for n in self if css_class in n.attributes.get("class", "").split())

    @property
    def text(self) -> str:
        return "".join(c if isinstance(c, str) else c.text for c in self.children)

    def replace(self, new: list[Node | str]) -> None:
        assert self.parent is not None
        at = self.parent.children.index(self)
        self.parent.children[at : at + 1] = new
        _adopt(self.parent)

    def fill(self, new: list[Node | str]) -> None:
        self.children = new
        _adopt(self)

    def shape(self) -> Any:
        """What the page shows, without white space between elements."""
        attributes = {k: v for k, v in self.attributes.items() if k not in _UNSEEN}
        kept = [c for c in self.children if not (isinstance(c, str) and not c.strip())]
        shapes = [c.strip() if isinstance(c, str) else c.shape() for c in kept]
        return (self.tag, sorted(attributes.items()), [s for s in shapes if s is not None])


def _adopt(node: Node) -> None:
    for child in node.children:
        if isinstance(child, Node):
            child.parent = node


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("root")
        self._here = self.root

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {key: value or "" for key, value in attrs}, parent=self._here)
        if node.attributes.get("name") in _NOISE:
            return
        self._here.children.append(node)
        if tag not in _VOID:
            self._here = node

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        assert self._here.tag == tag, f"<{self._here.tag}> is closed by </{tag}>"
        assert self._here.parent is not None
        self._here = self._here.parent

    def handle_data(self, data: str) -> None:
        self._here.children.append(data)


def parse(html: str) -> Node:
    builder = _Builder()
    builder.feed(html)
    assert builder._here is builder.root, f"<{builder._here.tag}> is never closed"
    return builder.root


class Page:
    """The `main` element of a session page."""

    def __init__(self, html: str) -> None:
        found = re.search(r"<main.*</main>", html, re.DOTALL)
        assert found
        self.root = parse(found[0])
        main = self.root.children[0]
        assert isinstance(main, Node)
        self.cursor = int(main.attributes["data-q"])
        self.said: list[str] = []

    def take(self, frame: dict[str, Any]) -> None:
        match frame["k"]:
            case "d":
                self._grow(frame)
            case "b":
                self._close(frame)
            case "h":
                if "q" in frame:
                    if frame["q"] <= self.cursor:
                        return
                    assert frame["p"] <= self.cursor, "a frame is missing"
                    self.cursor = frame["q"]
                for op in frame["ops"]:
                    self._apply(*op)

    def _apply(self, selector: str, how: str, html: str) -> None:
        if how == "say":
            self.said.append(html)
            return
        target = self.root.find(selector)
        new = parse(html).children
        if how == "put":
            node = next(child for child in new if isinstance(child, Node))
            old = self.root.find(node.attributes["id"])
            if old is not None:
                old.replace([node])
            elif target is not None:
                target.fill([*target.children, node])
        elif target is None:
            return
        elif how == "remove":
            target.replace([])
        elif how == "inner":
            target.fill(new)
        else:
            target.replace([child for child in new if isinstance(child, Node)])

    def _grow(self, frame: dict[str, Any]) -> None:
        part = self.root.find(f"prt-{frame['p']}")
        if part is None or "data-length" not in part.attributes:
            return
        known = int(part.attributes["data-length"])
        assert frame["a"] <= known, "text is missing"
        fresh = frame["x"][known - frame["a"] :]
        part.attributes["data-length"] = str(known + len(fresh))
        tail = part.first("tail")
        tail.fill([tail.text + fresh])

    def _close(self, frame: dict[str, Any]) -> None:
        part = self.root.find(f"prt-{frame['p']}")
        if part is None or part.attributes["data-closed"] != str(frame["f"]):
            return
        blocks, tail = part.first("blocks"), part.first("tail")
        blocks.fill([*blocks.children, *parse(frame["x"]).children])
        part.attributes["data-closed"] = str(frame["a"])
        tail.fill([tail.text[frame["a"] - frame["f"] :]])

    def shape(self) -> Any:
        return self.root.shape()
