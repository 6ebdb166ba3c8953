from __future__ import annotations

from typing import TypeAlias

# One alias for what JSON can hold. The recursive form costs mypy and pydantic more than it tells here.
JsonValue: TypeAlias = "str | int | float | bool | None | list[JsonValue] | dict[str, JsonValue]"
JsonObject: TypeAlias = "dict[str, JsonValue]"
