"""How a person likes to see diffs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace

from opencode_web.lib.json import JsonObject, object_of

# Key of a person's preferences: an object with what `ReviewOptions` has.
TASTE = "review"


@dataclass(frozen=True)
class ReviewOptions:
    """`split`: both sides beside each other. `spaces`: changes of nothing but those are shown.

    `wrap`: long lines go on below. `tree`: the files are beside their diffs.
    """

    split: bool = False
    spaces: bool = True
    wrap: bool = True
    tree: bool = True

    @classmethod
    def of(cls, tastes: JsonObject) -> ReviewOptions:
        taste = object_of(tastes, TASTE)
        kept = {name: taste[name] for name in _NAMES if isinstance(taste.get(name), bool)}
        return cls(**kept)  # type: ignore[arg-type]

    def chosen(self, given: Mapping[str, str]) -> ReviewOptions:
        """Returns: what a form says, which has "1" or "0" by name; what it has not stays."""
        return replace(self, **{name: given[name] == "1" for name in _NAMES if name in given})

    def to_taste(self) -> JsonObject:
        return asdict(self)


_NAMES = tuple(field.name for field in fields(ReviewOptions))
