"""Expressions of GitHub Actions, as far as a composite action has use for them.

Source: https://docs.github.com/en/actions/reference/workflows-and-actions/expressions
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'(?:[^']|'')*')|(?P<sign>&&|\|\||==|!=|[!()])|(?P<name>[A-Za-z_][\w.-]*))"
)
_PLACE = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
Functions = Mapping[str, Callable[[], bool]]


def fill(text: str, contexts: Mapping[str, Any], functions: Functions) -> str:
    """Put the values of all `${{ … }}` into a text, just as they are."""
    return _PLACE.sub(lambda found: to_text(evaluate(found[1], contexts, functions)), text)


def to_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def evaluate(text: str, contexts: Mapping[str, Any], functions: Functions) -> Any:
    """Raises: ValueError for what is no expression, or names what there is not."""
    tokens: list[str] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"unexpected symbol in {text!r}")
        tokens.append(found[0].strip())
        at = found.end()
    reader = _Reader(tokens, contexts, functions)
    value = reader.either()
    if reader.tokens:
        raise ValueError(f"unexpected {reader.tokens[0]!r} in {text!r}")
    return value


class _Reader:
    def __init__(
        self, tokens: list[str], contexts: Mapping[str, Any], functions: Functions
    ) -> None:
        self.tokens, self._contexts, self._functions = tokens, contexts, functions

    def _take(self, *signs: str) -> str:
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in signs else ""

    def either(self) -> Any:
        value = self._both()
        while self._take("||"):
            other = self._both()
            value = value or other
        return value

    def _both(self) -> Any:
        value = self._compared()
        while self._take("&&"):
            other = self._compared()
            value = value and other
        return value

    def _compared(self) -> Any:
        value = self._one()
        while sign := self._take("==", "!="):
            # Without regard to case.
            same = to_text(value).casefold() == to_text(self._one()).casefold()
            value = same if sign == "==" else not same
        return value

    def _one(self) -> Any:
        if self._take("!"):
            return not self._one()
        if self._take("("):
            value = self.either()
            self._close()
            return value
        if not self.tokens:
            raise ValueError("an expression ends too early")
        token = self.tokens.pop(0)
        if token.startswith("'"):
            return token[1:-1].replace("''", "'")
        if self._take("("):
            self._close()
            return self._functions[token]()
        value = self._contexts
        for name in token.split("."):
            # What is not there is null, but no context of another name.
            if value is self._contexts and name not in value:
                raise ValueError(f"unrecognized named-value {name!r}")
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def _close(self) -> None:
        if not self._take(")"):
            raise ValueError("a bracket is not closed")
