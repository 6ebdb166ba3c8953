from __future__ import annotations

from opencode_web.lib.text import clean_json, clean_text, printable_text, slug_of


def test_it_replaces_what_no_database_takes() -> None:
    assert clean_text("a\x00b\ud800c\U0001f600") == "a\ufffdb\ufffdc\U0001f600"


def test_it_cleans_keys_and_nested_values() -> None:
    value = {"k\x00": ["\udfff", {"n": 1, "t": True, "x": None}]}
    assert clean_json(value) == {"k\ufffd": ["\ufffd", {"n": 1, "t": True, "x": None}]}


def test_what_people_read_has_no_colours() -> None:
    assert printable_text("\x1b[31mred\x1b[0m\n\tnext\r\x9b") == "[31mred[0m\n\tnext"


def test_a_slug_writes_out_the_letters_that_have_no_other_form() -> None:
    assert slug_of("Straßenbau & Söhne GmbH") == "strassenbau-soehne-gmbh"
    assert slug_of("Ærø Łódź") == "aeroe-lodz"
