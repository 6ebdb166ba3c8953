from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from providers.cloud_forms import KeyField
from tools.search.engine import NAMES, EngineKind

_CHOICES = [
    (EngineKind.EXA.value, _("Exa: the web and code, a key is optional")),
    (EngineKind.PARALLEL.value, _("Parallel: the web, a key is optional")),
    (EngineKind.BRAVE.value, _("Brave: the web, needs a key")),
    (EngineKind.SEARXNG.value, _("SearXNG: a server of your own, no key")),
]
assert {kind for kind, _ in _CHOICES} == {kind.value for kind in NAMES}


class SearchForm(forms.Form):
    """The search engine of a team."""

    kind = forms.ChoiceField(label=_("Search engine"), choices=_CHOICES)
    address = forms.CharField(
        label=_("Address"),
        max_length=500,
        required=False,
        help_text=_("SearXNG needs it. The others only to be reached through a gateway."),
        widget=forms.TextInput(
            attrs={"inputmode": "url", "placeholder": "https://search.example.com"}
        ),
    )
    key = KeyField(
        required=False,
        help_text=_("Stored encrypted, and never shown again. Empty keeps the one that is stored."),
    )

    def to_arguments(self) -> dict[str, Any]:
        """Returns: keyword arguments of `set_up_search`."""
        return {**self.cleaned_data, "kind": EngineKind(self.cleaned_data["kind"])}
