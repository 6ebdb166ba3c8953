"""What a prompt wants its answer to be: text, or JSON of a schema that the caller gives. Pure.

The schema is a stranger's: no address in it is fetched, none of its regular expressions is run, and
references are followed only so often.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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

# Source: the default of OpenCode's SDK.
DEFAULT_RETRIES = 2
MAX_RETRIES = 10
_MAX_REFERENCES = 10_000
_MAX_PROBLEM_CHARS = 500
# They match names by regular expressions, or refer to what cannot be looked up beforehand.
_REFUSED = frozenset({"patternProperties", "$dynamicRef", "$recursiveRef"})


@dataclass(frozen=True)
class OutputSchema:
    """A JSON schema for an answer. `retries`: how often the model may try again."""

    schema: JsonObject
    retries: int

    def problem(self, value: JsonValue) -> str:
        """Returns: what is wrong with a value, in a sentence for the model; "" when it fits."""
        try:
            error = best_match(_validator(self.schema).iter_errors(value))
        except (_TooManyReferences, RecursionError):
            return "The schema refers to itself too often to be checked."
        if error is None:
            return ""
        where = "".join(f"[{key!r}]" for key in error.absolute_path)
        return f"answer{where}: {error.message[:_MAX_PROBLEM_CHARS]}"


def read_format(given: JsonObject | None) -> OutputSchema | None:
    """Returns: the schema of a prompt's `format`; None when it wants text.

    Raises: Invalid naming what is wrong with it.
    """
    if given is None or given.get("type") == "text":
        return None
    schema, retries = given.get("schema"), given.get("retryCount", DEFAULT_RETRIES)
    if given.get("type") != "json_schema":
        raise Invalid("format.type: must be text or json_schema")
    if not isinstance(schema, dict):
        raise Invalid("format.schema: must be a JSON schema")
    if isinstance(retries, bool) or not isinstance(retries, int) or not 0 <= retries <= MAX_RETRIES:
        raise Invalid(f"format.retryCount: must be a number from 0 to {MAX_RETRIES}")
    if schema.get("type", "object") != "object":
        # It is the parameter of a tool, which is an object for every provider.
        raise Invalid("format.schema: must describe an object")
    try:
        _check(schema)
    except (SchemaError, Unresolvable) as exc:
        text = exc.message if isinstance(exc, SchemaError) else f"{exc.ref} is not in the schema"
        raise Invalid(f"format.schema: {text[:_MAX_PROBLEM_CHARS]}") from exc
    except RecursionError as exc:
        raise Invalid("format.schema: is nested too deeply") from exc
    return OutputSchema(schema, retries)


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
