from __future__ import annotations

import time

import pytest

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json_body import MAX_DEPTH, parse_json


def test_it_parses_and_cleans(subtests: pytest.Subtests) -> None:
    cases = [
        (b'{"a": [1, null]}', {"a": [1, None]}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (rb'{"\ud800": "x\udfffy"}', {"\ufffd": "x\ufffdy"}),
        (rb'"\ud83d\ude00"', "\U0001f600"),
        (rb'"[[\"[[[\\"', '[["[[[\\'),
        (b'"' + b"[" * 500 + b'"', "[" * 500),
        (b"[" * MAX_DEPTH + b"]" * MAX_DEPTH, None),
        (b"[" + b"[]," * 500 + b"[]]", [[] for _ in range(501)]),
    ]
    for body, value in cases:
        with subtests.test(body=body):
            assert value is None or parse_json(body) == value
            parse_json(body)


def test_it_refuses(subtests: pytest.Subtests) -> None:
    cases = [
        b"{",
        b"\xff",
        b"NaN",
        b'{"a": [Infinity, -Infinity]}',
        rb'{"a": "x\u0000"}',
        rb'{"\u0000": 1}',
        b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
        b'{"a":' * 100_000,
        '{"a": 1}'.encode("utf-16"),
        b"1" * 10_000,
    ]
    for body in cases:
        with subtests.test(body=body), pytest.raises(Invalid):
            parse_json(body)


def test_a_long_text_costs_little() -> None:
    body = b'"' + b'\\"x' * 1_000_000 + b'"'
    start = time.process_time()
    parse_json(body)
    assert time.process_time() - start < 2
