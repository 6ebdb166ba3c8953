"""The reviewed differences: which of what was found is meant, and which entries are over."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from tests.contract.compare import Difference

FILE = Path(__file__).with_name("differences.toml")


@dataclass(frozen=True)
class Reviewed:
    place: str
    why: str

    def covers(self, difference: Difference) -> bool:
        # In a place brackets are brackets.
        return fnmatchcase(difference.place, self.place.replace("[", "[[]"))


def read_reviewed(path: Path = FILE) -> list[Reviewed]:
    entries = tomllib.loads(path.read_text())["difference"]
    return [Reviewed(**entry) for entry in entries]


def unreviewed(found: list[Difference], entries: list[Reviewed]) -> list[Difference]:
    """Returns: what nobody has said is meant."""
    return [one for one in found if not any(entry.covers(one) for entry in entries)]


def outdated(found: list[Difference], entries: list[Reviewed]) -> list[Reviewed]:
    """Returns: entries for what does not differ any more."""
    return [entry for entry in entries if not any(entry.covers(one) for one in found)]
