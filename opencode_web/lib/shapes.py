"""Shapes of what routes answer: `TypedDict`s, which mypy checks and `/doc` shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from django.utils.module_loading import import_string
from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema

from opencode_web.lib.json import JsonObject

Wire = TypeVar("Wire", bound=Mapping[str, object])


class Unchecked:
    """Says which shape a value of `Annotated[JsonObject, Unchecked(…)]` has: it is stored or made
    elsewhere. A name is imported only for `/doc`."""

    def __init__(self, shape: Any) -> None:  # a type, a generic alias or the name of one
        self.shape = shape

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        named = isinstance(self.shape, str)
        return handler.generate_schema(import_string(self.shape) if named else self.shape)


def drop_none(wire: Wire) -> Wire:
    """Returns: it without the keys that are None: what is not there is absent on the wire."""
    return cast(Wire, {key: value for key, value in wire.items() if value is not None})


def as_json(wire: Mapping[str, object]) -> JsonObject:
    """Returns: the same object, for what takes any JSON."""
    return cast(JsonObject, wire)
