from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _


class PluginForm(forms.Form):
    """A package to add."""

    package = forms.CharField(
        label=_("Package"),
        max_length=343,
        help_text=_("Its name on npm with an exact version, such as name@1.2.3."),
    )
