"""How a person likes to see diffs."""

from __future__ import annotations

from dataclasses import dataclass

from opencode_web.lib.json import JsonObject, object_of

# Key of a person's preferences: {"split": bool, "spaces": bool}.
TASTE = "review"


@dataclass(frozen=True)
class ReviewOptions:
    """`split`: both sides beside each other. `spaces`: changes of nothing but those are shown."""

    split: bool = False
    spaces: bool = True

    @classmethod
    def of(cls, tastes: JsonObject) -> ReviewOptions:
        taste = object_of(tastes, TASTE)
        return cls(taste.get("split") is True, taste.get("spaces") is not False)

    def to_taste(self) -> JsonObject:
        return {"split": self.split, "spaces": self.spaces}
