"""Why something happened: a reason with its values, put into words where people read it.

A layer names its reasons, each with its English sentence, in an enum of its own. What is stored is
the reason and the values; `sessions.events.reasons` reads them back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Protocol, Self, TypeAlias

from django.conf import settings
from django.utils import translation
from django.utils.formats import date_format
from django.utils.translation import gettext

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.templatetags.ui import money


class Sentenced(Protocol):
    """A member of a `StrEnum` with its English sentence, in which `{name}` stands for a value."""

    @property
    def value(self) -> str: ...

    @property
    def sentence(self) -> str: ...


class Reason(StrEnum):
    """Base of the enums: `NAME = "stored_name", gettext_noop("The sentence of {name}.")`."""

    sentence: str

    def __new__(cls, value: str, sentence: str) -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.sentence = sentence
        return member


@dataclass(frozen=True)
class Cause:
    """A reason with what its sentence names: texts, numbers, USD, days, or a further cause."""

    reason: Sentenced
    values: Mapping[str, Value] = field(default_factory=dict)

    def worded(self) -> str:
        """Returns: the sentence in the active language."""
        # A log of an older server may have other values.
        shown: Mapping[str, str | int] = defaultdict(
            lambda: "?", {name: self._shown(name) for name in self.values}
        )
        return gettext(self.reason.sentence).format_map(shown).strip()

    def _shown(self, name: str) -> str | int:
        match value := self.values[name]:
            case Cause():
                sentence, field = self.reason.sentence, f"{{{name}}}"
                is_inside = f"{field})" in sentence or f"{field}." in sentence
                return value.worded().rstrip(".") if is_inside else value.worded()
            case Decimal():
                return money(value)
            case date():
                return date_format(value, "DATE_FORMAT")
            case str() if name in ("said", "why") and value:
                # A sign-in or a connection may have said it, in words that the catalogues have.
                return gettext(value)
            case _:
                return value

    def to_json(self) -> JsonObject:
        """Returns: `{reason, values}`; USD are `{usd}`, a day is `{day}`."""
        values = {name: _to_json(value) for name, value in self.values.items()}
        return {"reason": self.reason.value, "values": values}


Value: TypeAlias = str | int | Decimal | date | Cause
# What is said of something: a cause of ours, or what a provider, a tool or a person has said.
Told: TypeAlias = Cause | str


def english(told: Told) -> str:
    """Returns: the words that clients of the API, and models, read."""
    if isinstance(told, str):
        return told
    with translation.override(settings.LANGUAGE_CODE):
        return told.worded()


def stored(told: Told) -> JsonObject:
    """Returns: what is kept of it beside its English words: nothing of what others have said."""
    return {} if isinstance(told, str) else told.to_json()


def _to_json(value: Value) -> JsonValue:
    match value:
        case Cause():
            return value.to_json()
        case Decimal():
            return {"usd": str(value)}
        case date():
            return {"day": value.isoformat()}
        case _:
            return value
