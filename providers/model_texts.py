"""What a person reads of a model: what it can do, what it costs, and what is the matter with it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from opencode_web.lib.json import JsonObject
from opencode_web.lib.templatetags.ui import money, tokens
from providers.catalog import Model
from providers.llm.facts import Price
from providers.pricing import is_priced


@dataclass(frozen=True, slots=True)
class PriceRow:
    """The prices of a million tokens up to the next tier; empty where there is none of its own."""

    label: str
    input: str
    output: str
    cache_read: str
    cache_write: str


@dataclass(frozen=True, slots=True)
class VariantRow:
    """A variant with what it sends."""

    name: str
    label: str
    options: str


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model as lists show it."""

    model: Model
    abilities: str
    price: str
    status: str

    @property
    def context(self) -> str:
        return tokens(self.model.limit.context) if self.model.limit.context else ""


def list_models(models: Iterable[Model]) -> list[ModelRow]:
    """Returns: the models in words, in the same order."""
    return [
        ModelRow(one, " · ".join(abilities(one)), price_line(one), status_label(one))
        for one in models
    ]


def abilities(model: Model) -> list[str]:
    """Returns: what a model can do beside reading and writing text."""
    facts = model.capabilities
    return [
        *media_labels(facts.input - {"text"}),
        *([_("thinking")] if facts.reasoning else []),
        *([] if facts.toolcall else [_("no tools")]),
    ]


def media_labels(kinds: Collection[str]) -> list[str]:
    """Returns: in words what a model reads or writes."""
    names = {
        "text": _("text"),
        "image": _("images"),
        "pdf": _("PDF"),
        "audio": _("audio"),
        "video": _("video"),
    }
    return [label for kind, label in names.items() if kind in kinds]


def release_day(model: Model) -> str:
    """Returns: when it came out, as far as the catalog knows: a day, a month, or nothing."""
    try:
        return date_format(date.fromisoformat(model.release_date), "DATE_FORMAT")
    except ValueError:
        return model.release_date


def price_line(model: Model) -> str:
    """Returns: the price in a few words."""
    price = model.cost.base
    if price.input or price.output:
        return _("%(input)s in, %(output)s out per million tokens") % {
            "input": money(price.input, short=True),
            "output": money(price.output, short=True),
        }
    return _("free") if is_priced(model.cost) else _("price not known")


def status_label(model: Model) -> str:
    """Returns: what is the matter with a model; "" for one that is simply there."""
    names = {"deprecated": _("Deprecated"), "alpha": _("Alpha"), "beta": _("Beta")}
    return names.get(model.status, "")


def price_rows(model: Model) -> list[PriceRow]:
    """Returns: the price, and that of longer prompts; nothing where no price is known."""
    if not is_priced(model.cost):
        return []
    base = _price_row(_("Standard price"), model.cost.base)
    return [base] + [
        _price_row(
            _("Prompts over %(size)s tokens") % {"size": tokens(tier.above_tokens)}, tier.price
        )
        for tier in model.cost.tiers
    ]


def _price_row(label: str, price: Price) -> PriceRow:
    def told(amount: Decimal) -> str:
        return money(amount, short=True) if amount else ""

    return PriceRow(
        label,
        money(price.input, short=True),
        money(price.output, short=True),
        told(price.cache_read),
        told(price.cache_write),
    )


def variant_label(name: str) -> str:
    """What people read for an amount of thinking; the empty one is the model's own."""
    known = {
        "": _("Default thinking"),
        "low": _("Low"),
        "medium": _("Medium"),
        "high": _("High"),
        "xhigh": _("Very high"),
        "max": _("Maximum"),
        "minimal": _("Minimal"),
        "none": _("No thinking"),
    }
    return known.get(name) or name.capitalize()


def variant_rows(model: Model) -> list[VariantRow]:
    """Returns: the amounts of thinking that a model offers, with the options they stand for."""
    return [
        VariantRow(name, variant_label(name), _one_line(options))
        for name, options in model.variants.items()
    ]


def _one_line(options: JsonObject) -> str:
    return json.dumps(options, ensure_ascii=False)
