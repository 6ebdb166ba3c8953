"""Forms of one model: its facts, and the options that it is called with."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from opencode_web.lib.decimal_field import LocalDecimalField
from opencode_web.lib.json import JsonObject, JsonValue
from providers.catalog import Model
from providers.llm.facts import Price

_PRICES = ("input", "output", "cache_read", "cache_write")
# A field of a form -> what it becomes among the inputs.
_MEDIA = {"images": "image", "pdf": "pdf"}
MAX_OPTIONS_CHARS = 20_000


def price_field(label: Any, help_text: Any = "") -> LocalDecimalField:  # lazy, typed in stubs
    """Returns: the field of a price in US dollars per million tokens."""
    return LocalDecimalField(
        label=label, help_text=help_text, min_value=0, max_value=1_000_000, decimal_places=6
    )


class FactsForm(forms.Form):
    """What is known about a model. `model` is the one that is changed."""

    prefix = "model"

    name = forms.CharField(label=_("Name"), max_length=200, required=False)
    context = forms.IntegerField(
        label=_("Context tokens"),
        min_value=1_000,
        max_value=100_000_000,
        initial=128_000,
        help_text=_(
            "How much the model can read. The conversation is compacted before this limit is "
            "reached."
        ),
    )
    output = forms.IntegerField(
        label=_("Output tokens"),
        min_value=100,
        max_value=10_000_000,
        initial=16_000,
        help_text=_("The maximum length of a response."),
    )
    input_price = price_field(
        _("Input price"),
        help_text=_(
            "In US dollars per million tokens, 0 if free. Budgets can only limit models with a "
            "price."
        ),
    )
    output_price = price_field(_("Output price"))
    cache_read_price = price_field(_("Cache read price"))
    cache_write_price = price_field(_("Cache write price"))
    tools = forms.BooleanField(label=_("Can call tools"), required=False, initial=True)
    reasoning = forms.BooleanField(label=_("Can think before responding"), required=False)
    images = forms.BooleanField(label=_("Can read images"), required=False)
    pdf = forms.BooleanField(label=_("Can read PDF files"), required=False)

    def __init__(self, data: Any = None, *, model: Model | None = None) -> None:
        super().__init__(data, initial=_facts_of(model) if model else None)
        self.model = model
        if model is not None:
            # A model may be in use although nobody knows its limits.
            for name in ("context", "output"):
                self.fields[name].required = False

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        given = {name: data.get(name) is not None for name in ("input_price", "output_price")}
        for name, is_given in given.items():
            if not is_given and any(given.values()) and name not in self.errors:
                self.add_error(name, _("Enter both prices or neither."))
        return data

    @property
    def pairs(self) -> list[forms.BoundField]:
        """The fields that stand side by side."""
        return [field for field in self if field.name not in self._checks()]

    @property
    def checks(self) -> list[forms.BoundField]:
        """The abilities."""
        return [self[name] for name in self._checks()]

    def _checks(self) -> tuple[str, ...]:
        return ("tools", "reasoning", *_MEDIA)

    def to_override(self) -> JsonObject:
        """Returns: what was changed, in the shape of opencode.json; everything of a new model."""
        data = self.cleaned_data
        changed = set(self.changed_data) if self.model else set(self.fields)
        override: JsonObject = {}
        if "name" in changed and data["name"]:
            override["name"] = data["name"]
        # Settings take both limits or neither; 0 is one that nobody knows.
        if changed & {"context", "output"}:
            override["limit"] = {name: data[name] or 0 for name in ("context", "output")}
        if changed & {f"{name}_price" for name in _PRICES} and data["input_price"] is not None:
            prices = {name: data[f"{name}_price"] for name in _PRICES}
            # Without one of its own, 0 has what the cache holds cost as much as what is read.
            override["cost"] = {
                name: float(price or 0)
                for name, price in prices.items()
                if price is not None or f"{name}_price" in self.changed_data
            }
        for field, name in (("tools", "tool_call"), ("reasoning", "reasoning")):
            if field in changed:
                override[name] = data[field]
        if changed & _MEDIA.keys():
            override.update(self._media())
        if self.model is None:
            override["temperature"] = True
        return override

    def _media(self) -> JsonObject:
        known = self.model.capabilities if self.model else None
        kept = (known.input if known else frozenset({"text"})) - {*_MEDIA.values()}
        taken = kept | {medium for field, medium in _MEDIA.items() if self.cleaned_data[field]}
        inputs: list[JsonValue] = [*sorted(taken)]
        outputs: list[JsonValue] = [*sorted(known.output if known else {"text"})]
        return {
            "attachment": len(taken) > 1,
            "modalities": {"input": inputs, "output": outputs},
        }


class ModelForm(FactsForm):
    """A model that neither the catalog nor its server names."""

    field_order = ("id",)

    id = forms.CharField(
        label=_("Model ID"),
        max_length=200,
        help_text=_("The name used by the server, for example qwen3-coder:30b."),
    )

    def to_override(self) -> JsonObject:
        """Returns: the model's description in the shape of opencode.json."""
        return {"name": self.cleaned_data["id"], **super().to_override()}


class OptionsForm(forms.Form):
    """Options of every request to a model, as JSON."""

    prefix = "options"

    options = forms.CharField(
        label=_("Options"),
        max_length=MAX_OPTIONS_CHARS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 5, "class": "mono", "spellcheck": "false"}),
        help_text=_(
            'A JSON object with AI SDK options, as in opencode.json: {"reasoningEffort": "low"}. '
            "Leave it empty for the standard options."
        ),
    )

    def clean_options(self) -> JsonObject:
        """Raises: ValidationError for anything but an object."""
        try:
            value = json.loads(self.cleaned_data["options"] or "{}")
        except (ValueError, RecursionError) as exc:
            raise forms.ValidationError(_("This is not valid JSON.")) from exc
        if not isinstance(value, dict):
            raise forms.ValidationError(_('Enter an object, such as {"reasoningEffort": "low"}.'))
        return value


def _facts_of(model: Model) -> dict[str, Any]:
    facts, price = model.capabilities, model.cost.base
    return {
        "name": model.name,
        "context": model.limit.context or None,
        "output": model.limit.output or None,
        **{f"{name}_price": _known(model, price, name) for name in _PRICES},
        "tools": facts.toolcall,
        "reasoning": facts.reasoning,
        **{field: medium in facts.input for field, medium in _MEDIA.items()},
    }


def _known(model: Model, price: Price, name: str) -> Decimal | None:
    value: Decimal = getattr(price, name)
    is_given = model.cost.is_known and (value or not name.startswith("cache"))
    return value if is_given else None
