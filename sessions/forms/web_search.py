from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from providers.cloud_forms import KeyField
from tools.search.engine import NAMES, EngineKind

_CHOICES = [
    (EngineKind.EXA.value, _("Exa: web and code, key optional")),
    (EngineKind.PARALLEL.value, _("Parallel: web, key optional")),
    (EngineKind.BRAVE.value, _("Brave: web, key required")),
    (EngineKind.SEARXNG.value, _("SearXNG: your own server, no key")),
]
assert {kind for kind, _ in _CHOICES} == {kind.value for kind in NAMES}


class SearchForm(forms.Form):
    """The search engine of a team."""

    kind = forms.ChoiceField(label=_("Search engine"), choices=_CHOICES)
    address = forms.CharField(
        label=_("Address"),
        max_length=500,
        required=False,
        help_text=_("Required for SearXNG. For others, only needed with a gateway."),
        widget=forms.TextInput(
            attrs={"inputmode": "url", "placeholder": "https://search.example.com"}
        ),
    )
    key = KeyField(
        required=False,
        help_text=_(
            "Stored encrypted and never shown again. Leave it empty to keep the stored key."
        ),
    )

    def to_arguments(self) -> dict[str, Any]:
        """Returns: keyword arguments of `set_up_search`."""
        return {**self.cleaned_data, "kind": EngineKind(self.cleaned_data["kind"])}
