from __future__ import annotations

from collections.abc import Sequence

from opencode_web.lib.json import JsonObject, JsonValue
from sessions.api.location import Location


def placed(location: Location, data: Sequence[JsonValue] | JsonObject) -> JsonObject:
    """Returns: `{location, data}`."""
    return {
        "location": location_to_wire(location),
        "data": data if isinstance(data, dict) else [*data],
    }


def location_to_wire(location: Location) -> JsonObject:
    """Returns: `LocationInfo`."""
    project = location.project
    return {
        "directory": location.directory,
        "project": {"id": project.pk, "directory": project.directory},
    }
