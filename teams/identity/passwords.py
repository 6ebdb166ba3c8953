"""Passwords that are a common word with something around it."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

# Django's own list is of English ones: what people in Germany, Austria and Switzerland take first.
_TEXT = """
passwort kennwort password geheim geheimnis hallo willkommen welcome schatz schatzi qwertz
qwertzu qwertzuiop qwerty fussball fußball sommer winter frühling fruehling herbst sonne
sonnenschein deutschland österreich schweiz berlin hamburg münchen muenchen köln koeln
ichliebedich iloveyou admin administrator test testtest changeme start arbeit büro buero
computer internet master sicher sicherheit anmelden login benutzer user firma server
januar februar märz april juni juli august september oktober november dezember
"""
_WORDS = frozenset(_TEXT.split())


class CommonWordValidator:
    """Refuses a common word with digits and signs around it, also said several times."""

    def validate(self, password: str, user: Any = None) -> None:  # as Django calls it
        """Raises: ValidationError."""
        word = "".join(letter for letter in password.lower() if letter.isalpha())
        if any(word and word == one * (len(word) // len(one)) for one in _WORDS):
            raise ValidationError(
                _("This password is a common word. Use several words, or a longer sentence."),
                code="password_too_common",
            )

    def get_help_text(self) -> str:
        return _("It must not be a common word with digits added.")
