"""What a prompt wants its answer to be: text, or JSON of a schema that the caller gives. Pure.

The schema is a stranger's: no address in it is fetched, none of its regular expressions is run, and
references are followed only so often.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject, JsonValue

# Source: the default of OpenCode's SDK.
DEFAULT_RETRIES = 2
MAX_RETRIES = 10


@dataclass(frozen=True)
class OutputSchema:
    """A JSON schema for an answer. `retries`: how often the model may try again."""

    schema: JsonObject
    retries: int

    def problem(self, value: JsonValue) -> str:
        """Returns: what is wrong with a value, in a sentence for the model; "" when it fits."""
        problem: str = _checks().find_problem(self.schema, value)
        return problem


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
    _checks().check_schema(schema)
    return OutputSchema(schema, retries)


def _checks() -> ModuleType:
    return importlib.import_module("sessions.output_checks")
