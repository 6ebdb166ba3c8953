from __future__ import annotations

from dataclasses import dataclass

# Faces beside the title; of the rest the number is said.
MOST_FACES = 4


@dataclass(frozen=True)
class Person:
    """Somebody who looks at a session."""

    id: int
    name: str
    writes: bool


@dataclass(frozen=True)
class Onlookers:
    """What the page shows of them; nobody alone is shown to themselves."""

    faces: list[Person]
    more: list[Person]


def build_onlookers(people: list[Person]) -> Onlookers:
    if len(people) < 2:
        return Onlookers([], [])
    return Onlookers(people[:MOST_FACES], people[MOST_FACES:])
