"""The models that a server of one's own lists, to tick and to price in one form."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext as _

from opencode_web.lib.json import JsonObject
from providers.effective import offered_models, used_models
from providers.model_forms import price_field
from providers.model_texts import ModelRow, list_models
from providers.models import ProviderConfig
from providers.pricing import is_priced

SHOWN_MODELS = 50
_PRICE = price_field("")


@dataclass(slots=True)
class ListedModel:
    """A model with what a form says of it. Only one without a price has fields for it."""

    row: ModelRow
    is_on: bool
    is_priced: bool
    input: str = ""
    output: str = ""
    fault: str = ""

    @property
    def id(self) -> str:
        """The name that the server uses."""
        return self.row.model.id

    def read(self, data: QueryDict) -> tuple[Decimal, Decimal] | None:
        """Take over what was entered.

        Returns: the prices of a million tokens, None without any; `fault` says what is wrong.
        """
        self.is_on = self.id in data.getlist("model")
        self.input, self.output = (data.get(f"{name}:{self.id}", "") for name in _NAMES)
        try:
            prices = [_PRICE.clean(text) for text in (self.input, self.output)]
        except ValidationError as exc:
            self.fault = " ".join(exc.messages)
            return None
        if prices == [None, None]:
            return None
        if None in prices:
            self.fault = _("Enter both prices or neither.")
            return None
        return prices[0], prices[1]


_NAMES = ("input", "output")


@dataclass(frozen=True, slots=True)
class Choice:
    """What a form has chosen: id -> override, for `pick_models`; nothing while all stays on."""

    picked: dict[str, JsonObject]
    unpicked: frozenset[str]
    problem: str = ""


def listed_models(row: ProviderConfig) -> list[ListedModel]:
    """Returns: those that the form has, as they are now."""
    offered, used = offered_models(row), used_models(row)
    shown = list_models([*offered.values()][:SHOWN_MODELS])
    return [ListedModel(one, one.model.id in used, is_priced(one.model.cost)) for one in shown]


def read_choice(row: ProviderConfig, models: list[ListedModel], data: QueryDict) -> Choice:
    """Read the form into its models. What it does not show stays as it is."""
    prices = {one.id: one.read(data) for one in models}
    shown = prices.keys()
    picked: dict[str, JsonObject] = {
        key: {} for key in used_models(row) if key not in shown and not row.picked
    }
    for one in models:
        if one.is_on:
            picked[one.id] = _override(row, one.id, prices[one.id])
    if any(one.fault for one in models):
        return Choice({}, frozenset(), _("Correct the prices below."))
    if not picked and not row.picked.keys() - shown:
        return Choice({}, frozenset(), _("Select at least one model."))
    unpicked = frozenset(one.id for one in models if not one.is_on)
    if not row.picked and not unpicked and not any(picked.values()):
        return Choice({}, frozenset())
    return Choice(picked, unpicked)


def _override(row: ProviderConfig, key: str, prices: tuple[Decimal, Decimal] | None) -> JsonObject:
    known = row.picked.get(key)
    if prices is None:
        return {}
    cost: JsonObject = {name: float(price) for name, price in zip(_NAMES, prices, strict=True)}
    return {**(known if isinstance(known, dict) else {}), "cost": cost}
