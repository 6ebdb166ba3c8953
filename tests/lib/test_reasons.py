from __future__ import annotations

from datetime import date
from decimal import Decimal

from django.utils import translation

from opencode_web.lib.errors import Conflict
from opencode_web.lib.reasons import Cause, Reason, english


class Example(Reason):
    OUTER = "outer", "It failed ({why}). {count} of {limit} until {day}, then {next}"
    SENTENCE = "sentence", "{said} Try again."
    INNER = "inner", "It answered {status}."


def test_values_are_shown_as_their_kind_in_the_language_of_the_reader() -> None:
    inner = Cause(Example.INNER, {"status": 500})
    values = {"why": inner, "count": 2, "limit": Decimal("1200"), "day": date(2026, 12, 1)}
    cause = Cause(Example.OUTER, {**values, "next": "{why}"})
    with translation.override("de"):
        german, in_english = cause.worded(), english(cause)
    assert german.replace("\xa0", " ") == (
        "It failed (It answered 500). 2 of 1.200,00 $ until 01.12.2026, then {why}"
    )
    assert in_english == (
        "It failed (It answered 500). 2 of $1,200.00 until Dec 1, 2026, then {why}"
    )


def test_a_sentence_within_keeps_its_end_where_another_follows() -> None:
    cause = Cause(Example.SENTENCE, {"said": Cause(Example.INNER, {"status": "1"})})
    assert english(cause) == "It answered 1. Try again."


def test_a_whole_sentence_that_was_said_is_translated_when_the_catalogues_have_it() -> None:
    said = "The provider cannot be reached. Try again later."
    with translation.override("de"):
        known = Cause(Example.SENTENCE, {"said": said}).worded()
        other = Cause(Example.SENTENCE, {"said": "Niet goed."}).worded()
        nothing = Cause(Example.SENTENCE, {"said": ""}).worded()
    assert "cannot be reached" not in known
    assert (other, nothing) == ("Niet goed. Try again.", "Try again.")


def test_a_value_that_an_older_server_has_not_stored_is_marked() -> None:
    assert english(Cause(Example.INNER)) == "It answered ?."
    assert english("As it was said") == "As it was said"


def test_it_is_stored_with_the_kinds_of_its_values() -> None:
    inner = Cause(Example.INNER, {"status": 500})
    cause = Cause(Example.OUTER, {"why": inner, "limit": Decimal("0.10"), "day": date(2026, 12, 1)})
    assert cause.to_json() == {
        "reason": "outer",
        "values": {
            "why": {"reason": "inner", "values": {"status": 500}},
            "limit": {"usd": "0.10"},
            "day": {"day": "2026-12-01"},
        },
    }


def test_an_error_has_the_words_of_its_cause() -> None:
    exc = Conflict(Cause(Example.INNER, {"status": 500}), key="k")
    assert exc.reason is Example.INNER
    data = {"message": "It answered 500.", "key": "k"}
    assert exc.to_json() == {"name": "ConflictError", "data": data}
    assert Conflict("In words").reason is None
