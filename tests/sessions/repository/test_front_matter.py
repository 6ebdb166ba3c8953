from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.repository.front_matter import MAX_HEAD_CHARS, BrokenHead, split_front_matter


def test_a_head(subtests: pytest.Subtests) -> None:
    cases = [
        ("name: a\ndescription: b: c", {"name": "a", "description": "b: c"}),
        ("name: \"a\"\ndescription: 'b'", {"name": "a", "description": "b"}),
        ("description: >-\n  one\n  two\nname: a", {"description": "one two", "name": "a"}),
        ("# name: a\nname: b", {"name": "b"}),
        ("tags:\n  - x", {"tags": ["x"]}),
        ("steps: 3\nhidden: true\ntop_p: 0.5", {"steps": 3, "hidden": True, "top_p": 0.5}),
        ("tools: {bash: false}", {"tools": {"bash": False}}),
        ("date: 2026-01-02", {"date": "2026-01-02"}),
        ("1: a", {"1": "a"}),
        ("", {}),
        ("url: https://a.example/b: c\nname: d", {"url": "https://a.example/b: c", "name": "d"}),
    ]
    for head, values in cases:
        with subtests.test(head=head):
            assert split_front_matter(f"---\n{head}\n---\nname: in the body\n") == (
                values,
                "name: in the body",
            )
            windows = f"---\n{head}\n---\nbody".replace("\n", "\r\n")
            assert split_front_matter(windows) == (values, "body")


@pytest.mark.parametrize("text", ["", "name: a", "---\nname: a\nand no end", "----\na: b\n---\n"])
def test_a_text_without_a_head(text: str) -> None:
    assert split_front_matter(text) == ({}, text.strip())


def test_a_broken_head_says_why(subtests: pytest.Subtests) -> None:
    cases = [
        ("name: [a", "line 3: "),
        ("- a\n- b", "not a list of"),
        ("a: &x 1\nb: *x", "alias"),
        ("a: " + "[" * 40 + "]" * 40, "nested deeper"),
        ("a: !thing x", "could not determine a constructor"),
        ("a: .inf", "a number that is none"),
        ("a: !!binary aGk=", "type bytes"),
        ("a: " + "x" * MAX_HEAD_CHARS, "longer than"),
    ]
    for head, reason in cases:
        with subtests.test(reason=reason), pytest.raises(BrokenHead, match=reason):
            split_front_matter(f"---\n{head}\n---\n")


def test_aliases_do_not_multiply() -> None:
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))]
    started = time.process_time()
    with pytest.raises(BrokenHead):
        split_front_matter("---\n" + "\n".join(lines) + "\n---\n")
    assert time.process_time() - started < 1


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.text(alphabet=st.sampled_from("a: -\n[]{}&*!|>'\"#?%@`,0x_."), max_size=60))
def test_whatever_stands_there_it_is_read_or_said_to_be_broken(head: str) -> None:
    with contextlib.suppress(BrokenHead):
        values, body = split_front_matter(f"---\n{head}\n---\nbody")
        assert isinstance(values, dict)
        assert body.endswith("body")
