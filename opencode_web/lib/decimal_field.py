"""Numbers with decimal places in forms, as the language of the page writes them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _


class LocalDecimalField(forms.DecimalField):
    """A decimal number in a text field.

    A field for numbers would leave out a comma, and take 20,00 for 2000.
    """

    def __init__(self, *, look: str = "", **more: Any) -> None:
        shown = {"class": look} if look else {}
        super().__init__(
            required=False,
            widget=forms.TextInput(attrs={"inputmode": "decimal", **shown}),
            localize=True,
            **more,
        )

    def to_python(self, value: Any) -> Any:  # Any: Decimal | None, in stubs of Django the int's
        """Raises: ValidationError for what is no number, and for too many decimal places."""
        number = super().to_python(value)
        exponent = number.as_tuple().exponent if number is not None else 0
        most = self.decimal_places or 0
        if isinstance(exponent, int) and -exponent > most:
            said = _("Use at most %(count)s decimal places.") % {"count": most}
            raise forms.ValidationError(said, code="max_decimal_places")
        return number
