"""Checks of an answer's JSON schema, which is a stranger's.

A module of its own: jsonschema takes longer to import than a session without such a schema needs
for a turn, so `output_format` imports this one with the first of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from jsonschema.validators import extend, validator_for
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject, JsonValue

_MAX_REFERENCES = 10_000
_MAX_PROBLEM_CHARS = 500
# They match names by regular expressions, or refer to what cannot be looked up beforehand.
_REFUSED = frozenset({"patternProperties", "$dynamicRef", "$recursiveRef"})


def find_problem(schema: JsonObject, value: JsonValue) -> str:
    """Returns: what is wrong with a value, in a sentence for the model; "" when it fits."""
    try:
        error = best_match(_validator(schema).iter_errors(value))
    except (_TooManyReferences, RecursionError):
        return "The schema refers to itself too often to be checked."
    if error is None:
        return ""
    where = "".join(f"[{key!r}]" for key in error.absolute_path)
    return f"answer{where}: {error.message[:_MAX_PROBLEM_CHARS]}"


def check_schema(schema: JsonObject) -> None:
    """Raises: Invalid naming what is wrong with it."""
    try:
        _check(schema)
    except (SchemaError, Unresolvable) as exc:
        text = exc.message if isinstance(exc, SchemaError) else f"{exc.ref} is not in the schema"
        raise Invalid(f"format.schema: {text[:_MAX_PROBLEM_CHARS]}") from exc
    except RecursionError as exc:
        raise Invalid("format.schema: is nested too deeply") from exc


def _check(schema: JsonObject) -> None:
    """Raises: SchemaError; Unresolvable; Invalid; RecursionError."""
    validator_for(schema, default=Draft202012Validator).check_schema(schema)
    resolver = Registry().resolver_with_root(
        Resource.from_contents(schema, default_specification=DRAFT202012)
    )
    for node in _objects(schema):
        refused = sorted(_REFUSED & node.keys())
        if refused:
            raise Invalid(f"format.schema: {refused[0]} cannot be used here")
        reference = node.get("$ref")
        if isinstance(reference, str):
            resolver.lookup(reference)


def _objects(node: JsonValue) -> Iterator[JsonObject]:
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from _objects(value)
    elif isinstance(node, list):
        for value in node:
            yield from _objects(value)


class _TooManyReferences(Exception):
    """A few lines of references to references can ask for more checks than there is time."""


# Any: jsonschema has no types of its own.
def _validator(schema: JsonObject) -> Any:
    base = validator_for(schema, default=Draft202012Validator)
    followed = count()
    follow = base.VALIDATORS["$ref"]

    def bounded(
        validator: Any, reference: Any, instance: Any, node: Any
    ) -> Iterator[ValidationError]:
        if next(followed) > _MAX_REFERENCES:
            raise _TooManyReferences
        yield from follow(validator, reference, instance, node) or ()

    def unchecked(*_: Any) -> Iterator[ValidationError]:
        return iter(())

    kind = extend(base, {"$ref": bounded, "pattern": unchecked})
    return kind(_without_dialect(schema), registry=Registry())


def _without_dialect(node: JsonValue) -> JsonValue:
    """Below a `$schema`, jsonschema would go on with the unbounded checks of that dialect."""
    if isinstance(node, list):
        return [_without_dialect(value) for value in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _without_dialect(value)
        for key, value in node.items()
        if key != "$schema" or isinstance(value, dict)
    }
