"""What is wrong with the arguments of a call, so that a model can put it right at once. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection

from pydantic import ValidationError

from opencode_web.lib.json import JsonObject

# A call that is wrong in more places is best written anew.
_MOST = 5
_GIVEN_CHARS = 60
_UNKNOWN_CHARS = 200


def describe_problems(error: ValidationError, *, given: JsonObject, known: Collection[str]) -> str:
    """Returns: each problem with its place and what was sent there; then what was not understood.

    `known` are the names that the tool takes.
    """
    found = error.errors(include_url=False, include_context=False)
    said = [_problem(one["loc"], one["msg"], one["type"], one["input"]) for one in found[:_MOST]]
    if len(found) > _MOST:
        said.append(f"and {len(found) - _MOST} more")
    unknown = ", ".join(sorted(given.keys() - set(known)))[:_UNKNOWN_CHARS]
    if unknown and any(one["type"] == "missing" for one in found):
        said.append(f"not known here: {unknown}")
    return "; ".join(said)


def _problem(place: tuple[int | str, ...], message: str, kind: str, value: object) -> str:
    where = ".".join(str(part) for part in place) or "arguments"
    if kind == "missing":
        return f"{where}: missing"
    shown = json.dumps(value, ensure_ascii=False, default=str)
    if len(shown) > _GIVEN_CHARS:
        shown = f"{shown[:_GIVEN_CHARS]}…"
    return f"{where}: {message}, got {shown}"
