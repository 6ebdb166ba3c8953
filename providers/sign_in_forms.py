"""What a provider asks before somebody can sign in there."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _

from providers.llm.sign_in import Method, Prompt


class SignInForm(forms.Form):
    """The questions of one method. What an answer has to be like, the method itself checks."""

    def __init__(self, data: Any = None, *, method: Method) -> None:
        super().__init__(data, auto_id=f"id_{method.id}_%s")
        self.method = method
        for prompt in method.prompts:
            self.fields[prompt.key] = prompt_field(prompt)

    @property
    def label(self) -> str:
        """What the button of the method says."""
        return _(self.method.label)

    def to_inputs(self) -> dict[str, str]:
        """Returns: the answers by the keys of their questions."""
        return {key: str(value) for key, value in self.cleaned_data.items()}


def prompt_field(prompt: Prompt) -> forms.Field:
    """Returns: the field of a question."""
    # A question that depends on another answer may stay empty.
    kwargs: dict[str, Any] = {"label": _(prompt.message), "required": False}
    if prompt.type == "select":
        choices = [
            (one.value, f"{_(one.label)} ({_(one.hint)})" if one.hint else _(one.label))
            for one in prompt.options
        ]
        return forms.ChoiceField(choices=choices, **kwargs)
    attrs = {"placeholder": prompt.placeholder, "autocomplete": "off", "spellcheck": "false"}
    return forms.CharField(max_length=500, widget=forms.TextInput(attrs=attrs), **kwargs)
