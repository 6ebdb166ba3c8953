from __future__ import annotations

import json
import time

import pytest

from opencode_web.lib.json import JsonObject
from sessions.shares.secrets import kinds_in, map_texts, mask_text, texts_in

# In two pieces, so that no scanner takes this file for a leak.
FENCE = "-----{} " + "PRIVATE KEY-----"
FOUND = [
    ("private key", f"{FENCE.format('BEGIN')}\nMIIEow\n{FENCE.format('END')}"),
    ("private key", f"{FENCE.format('BEGIN RSA')}\ncut off"),
    ("key of a model provider", "sk-" + "ant-api03-0123456789abcdef"),
    ("payment key", "sk_" + "live_0123456789abcdef"),
    ("token of a code host", "gh" + "p_" + "a1" * 18),
    ("token of a code host", "glpat" + "-0123456789abcdef01"),
    ("cloud key", "AK" + "IA0123456789ABCDEF"),
    ("cloud key", "AI" + "za" + "0123456789" * 3 + "abcde"),
    ("chat token", "xo" + "xb-1234567890-abcdef"),
    ("package token", "npm" + "_" + "a1" * 18),
    ("token of this server", "ocw" + "_" + "a1" * 18),
    ("signed token", "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"),
    ("password in an address", "postgres://shop:" + "hunter2@db/shop"),
    ("authorization header", "Authorization: Bearer " + "0123456789abcdefghij"),
    ("password or key in a setting", 'password = "' + 'correct-h0rse"'),
    ("password or key in a setting", "API_KEY=" + "a1b2c3d4e5"),
    ("password or key in a setting", '{"client_secret": "' + 'a1b2c3d4e5"}'),
]


def test_what_looks_like_a_secret_is_named_and_taken_out(subtests: pytest.Subtests) -> None:
    for kind, text in FOUND:
        with subtests.test(text=text):
            told = f"before {text} after"
            assert kinds_in(told) == {kind}
            clean = mask_text(told)
            assert f"[{kind}]" in clean
            assert clean.startswith("before ")
            assert kinds_in(clean) == set()
            for secret in (
                "MIIEow",
                "0123456789",
                "a1a1",
                "hunter2",
                "a1b2c3",
                "h0rse",
                "c2lnbmF0",
            ):
                assert secret not in clean


def test_ordinary_text_stays(subtests: pytest.Subtests) -> None:
    cases = [
        "the token is read from the request, and password handling follows",
        "token = request.headers['x']",
        "password: str | None = None",
        "secret = make_secret2()",
        "tokens: 12000",
        "see https://example.com:8080/a@b and mail me@example.com",
        "class Task-force risk-averse sk-ip",
        "ses_0123456789abABCDEFGHIJKLMN msg_0123456789abABCDEFGHIJKLMN",
    ]
    for text in cases:
        with subtests.test(text=text):
            assert mask_text(text) == text


def test_texts_of_messages_are_changed_and_their_names_are_not() -> None:
    secret = FOUND[3][1]
    given = {"a": [secret, 1, None], "id": secret, secret: 2}
    part: JsonObject = {"id": secret, "type": "tool", "state": {"input": given, "n": True}}
    clean = map_texts(part, mask_text)
    mark = "[payment key]"
    expected = {"a": [mark, 1, None], "id": mark, mark: 2}
    assert clean == {"id": secret, "type": "tool", "state": {"input": expected, "n": True}}
    assert [*texts_in(part)].count(secret) == 3


@pytest.mark.deep
def test_text_that_was_made_to_take_long_does_not(subtests: pytest.Subtests) -> None:
    for piece in [
        "sk-",
        "eyJaaaaaaaa.",
        "password=",
        "a://b:",
        FENCE.format("BEGIN"),
        "bearer ",
        "a1",
    ]:
        with subtests.test(piece=piece):
            text = piece * (400_000 // len(piece))
            begun = time.process_time()
            mask_text(text)
            assert time.process_time() - begun < 5
            assert json.dumps(text)
