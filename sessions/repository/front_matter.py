"""The head of a markdown file: YAML between two lines of `---`, then the body. Pure.

The text is hostile: the head is bounded, has no aliases (a few lines of them can stand for
gigabytes), is not nested deeply, and has only what JSON has.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any

import yaml

from opencode_web.lib.json import JsonObject

MAX_HEAD_CHARS = 16 * 1024
_MAX_DEPTH = 12
_END = re.compile(r"^---[ \t]*$", re.MULTILINE)
# `key: some: text`: a second colon that YAML takes for another key.
_VALUE_WITH_COLON = re.compile(r"^([A-Za-z0-9_-]+):[ \t]+([^\s|>\"'\[{].*:.*)$", re.MULTILINE)


class BrokenHead(ValueError):
    """The head cannot be read. The message says why, in one line."""


class _Loader(yaml.SafeLoader):
    """Plain values only. Dates stay the texts that they were written as."""

    yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:  # Any: PyYAML's own nodes
        if self.check_event(yaml.AliasEvent):
            raise BrokenHead("it has an alias (*), which is not supported")
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise BrokenHead(f"it is nested deeper than {_MAX_DEPTH} levels")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def split_front_matter(text: str) -> tuple[JsonObject, str]:
    """Split a file in its head and its body.

    A head that is no YAML because values have a colon is read again with those as plain texts.

    Returns: the values of the head, none when there is no head, and the body without blank ends.
    Raises: BrokenHead.
    Source: behaviour facts 6.3.
    """
    text = text.replace("\r\n", "\n")
    if not text.startswith("---") or text.partition("\n")[0].strip() != "---":
        return {}, text.strip()
    start = text.index("\n") + 1 if "\n" in text else len(text)
    end = _END.search(text, start)
    if end is None:
        return {}, text.strip()
    head = text[start : end.start()]
    if len(head) > MAX_HEAD_CHARS:
        raise BrokenHead(f"it is longer than {MAX_HEAD_CHARS} characters")
    return dict(_read_head(head)), text[end.end() :].strip()


# Heads are read again at every boundary, and PyYAML takes a millisecond for one.
@lru_cache(maxsize=512)
def _read_head(head: str) -> JsonObject:
    try:
        return _load(head)
    except BrokenHead:
        mended = _VALUE_WITH_COLON.sub(_as_block, head)
        if mended == head:
            raise
        return _load(mended)


def _as_block(found: re.Match[str]) -> str:
    return f"{found[1]}: |-\n  {found[2]}"


def _load(head: str) -> JsonObject:
    try:
        values = yaml.load(head, _Loader)  # noqa: S506  a SafeLoader with less
    except yaml.YAMLError as exc:
        raise BrokenHead(_reason(exc)) from exc
    except (ValueError, RecursionError) as exc:
        # Of a scalar that looks like a number: `0x_`, or digits without end.
        raise BrokenHead(str(exc)[:200]) from exc
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise BrokenHead("it is not a list of `key: value` lines")
    plain: JsonObject = _plain(values)
    return plain


def _reason(exc: yaml.YAMLError) -> str:
    mark = getattr(exc, "problem_mark", None)
    problem = getattr(exc, "problem", None) or "it is no YAML"
    return f"line {mark.line + 2}: {problem}" if mark else str(problem)


def _plain(value: Any) -> Any:  # Any: what YAML has, which is more than JSON
    match value:
        case dict():
            return {_key(key): _plain(item) for key, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case float() if not math.isfinite(value):
            raise BrokenHead("it has a number that is none")
        case str() | int() | float() | bool() | None:
            return value
        case _:
            raise BrokenHead(f"it has a value of type {type(value).__name__}")


def _key(key: Any) -> str:  # Any: see above
    # `true: …` was a word to whoever wrote it.
    return str(key).lower() if isinstance(key, bool) else str(key)
