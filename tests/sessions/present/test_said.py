from __future__ import annotations

import pytest
from django.utils import translation

from providers.llm.errors import AuthError
from sessions.present.stored_text import said

LOST = "Interrupted: the worker that ran this was lost."


@pytest.mark.parametrize(
    ("stored", "german"),
    [
        ("Stopped by Alice", "Angehalten von Alice"),
        ("Question dismissed by Olga", "Frage verworfen von Olga"),
        ("Rejected by somebody", "Abgelehnt von jemandem"),
        (LOST, "Unterbrochen: Der Worker, der das ausführte, ging verloren."),
        (
            "Team budget reached: $1,234.50 of $1,200.00 are spent this month. An admin can raise "
            "it; the next month begins on 1 Dec 2026.",
            "Teambudget erreicht: 1.234,50 $ von 1.200,00 $ sind in diesem Monat ausgegeben. Ein "
            "Admin kann es erhöhen; der nächste Monat beginnt am 1. Dez 2026.",
        ),
    ],
)
def test_a_sentence_of_the_log_is_read_in_the_language_of_the_reader(
    stored: str, german: str
) -> None:
    with translation.override("de"):
        assert said(stored).replace("\xa0", " ") == german
    with translation.override("en"):
        assert said(stored) == stored


def test_reasons_within_a_sentence_are_translated_too() -> None:
    with translation.override("de"):
        doubt = said(f"{LOST} It may have had effects; look before you repeat it.")
        summary = said(
            "The conversation could not be summed up: the model's answer was empty. Nothing of it "
            "is lost. Try again, or set another model for the agent `compaction`."
        )
    assert doubt.startswith("Unterbrochen: Der Worker")
    assert "prüfen" in doubt
    assert "die Antwort des Modells war leer" in summary


def test_the_words_of_a_provider_stay_and_our_advice_is_translated() -> None:
    with translation.override("de"):
        text = said(AuthError("Clé invalide").told)
    assert text.startswith("Clé invalide. Der Schlüssel wurde abgelehnt")


@pytest.mark.parametrize("text", ["", "Stopped", "x" * 5_000, "{name}", "Stopped by {0.__class__}"])
def test_what_is_no_sentence_of_ours_stays_as_it_is(text: str) -> None:
    with translation.override("en"):
        assert said(text) == text
