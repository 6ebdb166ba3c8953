from __future__ import annotations

import json

import pytest
from django.utils import translation

from opencode_web.lib.reasons import Cause
from sessions.events.reasons import REASONS
from sessions.present.old_logs import OLD_SENTENCES, read_sentence
from sessions.present.stored_text import stored_text

pytestmark = pytest.mark.any_database

LOST = "Interrupted: the worker that ran this was lost."


def test_a_sentence_of_an_old_log_is_read_in_the_language_of_the_reader(
    subtests: pytest.Subtests,
) -> None:
    cases = [
        ("Stopped by Alice", "Angehalten von Alice"),
        ("Question dismissed by Olga", "Frage verworfen von Olga"),
        ("Rejected by somebody", "Abgelehnt von jemandem"),
        (LOST, "Unterbrochen: Der Worker, der das ausführte, ging verloren."),
        ("Waiting for room at Acme", "Wartet auf Platz bei Acme"),
        (
            "Team budget reached: $1,234.50 of $1,200.00 are spent this month. An admin can raise "
            "it; the next month begins on 1 Dec 2026.",
            "Teambudget erreicht: 1.234,50 $ von 1.200,00 $ sind in diesem Monat ausgegeben. Ein "
            "Admin kann es erhöhen; der nächste Monat beginnt am 01.12.2026.",
        ),
    ]
    for stored, german in cases:
        with subtests.test(stored=stored):
            with translation.override("de"):
                assert stored_text(None, stored).replace("\xa0", " ") == german
            with translation.override("en"):
                # Days are written another way since.
                assert stored_text(None, stored) == stored.replace("1 Dec 2026", "Dec 1, 2026")


def test_reasons_within_a_sentence_are_translated_too() -> None:
    with translation.override("de"):
        doubt = stored_text({}, f"{LOST} It may have had effects; look before you repeat it.")
        summary = stored_text(
            {},
            "The conversation could not be summed up: the model's answer was empty. Nothing of it "
            "is lost. Try again, or set another model for the agent `compaction`.",
        )
    assert doubt.startswith("Unterbrochen: Der Worker")
    assert "prüfen" in doubt
    assert "die Antwort des Modells war leer" in summary


def test_the_words_of_a_provider_stay_and_our_advice_is_translated() -> None:
    advice = "The key was refused: an admin can replace it under Team settings → Models."
    with translation.override("de"):
        text = stored_text({}, f"Clé invalide. {advice}")
    assert text.startswith("Clé invalide. Der Schlüssel wurde abgelehnt")


@pytest.mark.parametrize("text", ["", "x" * 5_000, "{name}", "It is no sentence of ours."])
def test_the_words_of_others_stay_as_they_are(text: str) -> None:
    assert read_sentence(text) is None
    with translation.override("de"):
        assert stored_text({}, text) == text


@pytest.mark.parametrize("text", ["Stopped by {0.__class__}", "Stopped by {name}"])
def test_what_a_sentence_names_is_no_template(text: str) -> None:
    assert stored_text({}, text) == text


def test_every_old_sentence_without_values_is_known() -> None:
    sentences = json.loads(OLD_SENTENCES.read_text())
    plain = {name: text for name, text in sentences.items() if "{" not in text}
    found = {name: read_sentence(text) for name, text in plain.items()}
    assert found == {name: Cause(REASONS[name]) for name in plain}
    assert len(found) > 20
    assert sentences.keys() <= REASONS.keys()


def test_a_sign_in_that_failed_is_in_the_catalogues() -> None:
    with translation.override("de"):
        text = stored_text({}, "The provider cannot be reached. Try again later.")
    assert text != "The provider cannot be reached. Try again later."
