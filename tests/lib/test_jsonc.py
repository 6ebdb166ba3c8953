from __future__ import annotations

import time

import pytest

from opencode_web.lib.jsonc import parse_jsonc


def test_comments_and_trailing_commas_are_read(subtests: pytest.Subtests) -> None:
    cases = [
        ('{"a": 1} // end', {"a": 1}),
        ('/* head */ {"a": [1, 2, ], /* x */ }', {"a": [1, 2]}),
        ('{"url": "https://x/*y*/", "t": "a, }"}', {"url": "https://x/*y*/", "t": "a, }"}),
        ('{"q": "\\"//\\""}', {"q": '"//"'}),
        ('{"a": 1, // why\n}', {"a": 1}),
        ('"ask"', "ask"),
    ]
    for text, value in cases:
        with subtests.test(text=text):
            assert parse_jsonc(text) == value


def test_what_is_no_json_is_said(subtests: pytest.Subtests) -> None:
    for text in ["", "{", '{"a": }', "{'a': 1}", "[" * 100_000, "/* {}"]:
        with (
            subtests.test(text=text),
            pytest.raises(ValueError, match=r"no JSON|too deeply"),
        ):
            parse_jsonc(text)


@pytest.mark.parametrize("text", ['"' * 200_000, "/*" * 100_000, '"\\' * 100_000, ", " * 100_000])
def test_hostile_text_takes_no_time(text: str) -> None:
    started = time.process_time()
    with pytest.raises(ValueError, match="no JSON"):
        parse_jsonc(text)
    assert time.process_time() - started < 0.5
