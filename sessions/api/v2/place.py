from __future__ import annotations

from typing import Generic, TypeVar

from typing_extensions import TypedDict

from sessions.api.location import Location

Data = TypeVar("Data")


class PlaceProject(TypedDict):
    id: str
    directory: str


class Place(TypedDict):
    directory: str
    project: PlaceProject


class Wrapped(TypedDict, Generic[Data]):
    data: Data


class Placed(TypedDict, Generic[Data]):
    """An answer of the second version of the API."""

    location: Place
    data: Data


def placed(location: Location, data: Data) -> Placed[Data]:
    """Returns: `{location, data}`."""
    return {"location": location_to_wire(location), "data": data}


def location_to_wire(location: Location) -> Place:
    """Returns: `LocationInfo`."""
    project = location.project
    return {
        "directory": location.directory,
        "project": {"id": project.pk, "directory": project.directory},
    }
