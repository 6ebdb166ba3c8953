from __future__ import annotations

from opencode_web.lib.json import JsonObject, list_of, number_of, object_of, text_of

DATA: JsonObject = {
    "text": "x",
    "object": {"a": 1},
    "list": [1],
    "number": 2.9,
    "flag": True,
    "nothing": None,
}


def found(key: str) -> tuple[object, ...]:
    return text_of(DATA, key), object_of(DATA, key), list_of(DATA, key), number_of(DATA, key)


def test_a_value_is_read_by_its_own_reader_only() -> None:
    assert found("text") == ("x", {}, [], None)
    assert found("object") == ("", {"a": 1}, [], None)
    assert found("list") == ("", {}, [1], None)
    assert found("number") == ("", {}, [], 2)


def test_what_is_missing_or_of_another_type_is_empty() -> None:
    for key in ("flag", "nothing", "missing"):
        assert found(key) == ("", {}, [], None)
