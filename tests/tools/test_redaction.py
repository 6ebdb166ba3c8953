from __future__ import annotations

import base64
import html
import json
import re
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opencode_web.lib.json import JsonValue
from tools.redaction import MIN_CHARS, Redactor

VALUE = 's3cr&t/v+lue "of" mine=é'
KEY = """-----BEGIN KEY-----
MIIEvQIBADANBgkqhkiG9w0B
AQEFAASCBKcwggSjAgEAAoIB
AQC7
-----END KEY-----
"""


def spelled(value: str) -> dict[str, str]:
    data = value.encode()
    return {
        "as it is": value,
        "json": json.dumps({"a": value}),
        "json, plain": json.dumps([value], ensure_ascii=False),
        "html": f"<p title='{html.escape(value)}'>",
        "address": f"https://x.test/?a={quote(value, safe='')}&b",
        "path": f"https://x.test/{quote(value)}",
        "form": f"a={quote_plus(value)}&b=1",
        "form, small": re.sub("%..", lambda found: found[0].lower(), quote_plus(value)),
        "hex": f"0x{data.hex()}00",
        "HEX": data.hex().upper(),
        "basic": base64.b64encode(b"me:" + data).decode(),
        "base64": base64.b64encode(data).decode(),
        "base64 after 1": base64.b64encode(b"x" + data + b"yz").decode(),
        "base64 after 2": base64.b64encode(b"xy" + data + b"z").decode(),
        "base64 for addresses": base64.urlsafe_b64encode(b"xy\xff" + data).decode(),
        "terminal": value.replace("\n", "\r\n"),
    }


def test_a_secret_is_found_in_its_common_spellings(subtests: pytest.Subtests) -> None:
    for value in [VALUE, "abcdef", "0123456789" * 400, "пароль-秘密"]:
        for how in spelled(VALUE):
            with subtests.test(value=value, how=how):
                text = f"before {spelled(value)[how]} after"
                clean = Redactor({"TOKEN": value}).text(text)
                assert "[secret TOKEN]" in clean
                assert value not in clean
                assert clean.startswith("before ")
                assert clean.endswith(" after")
                # Of base64 only the characters remain that other bytes go into too.
                assert len(clean) < len(text) - len(value) + len("[secret TOKEN]") + 8


def test_the_lines_of_a_key_are_found_where_they_are_numbered() -> None:
    redactor = Redactor({"KEY": KEY})
    numbered = "\n".join(f"{number:5}\t{line}" for number, line in enumerate(KEY.splitlines()))
    clean = redactor.text(numbered)
    assert "MII" not in clean
    assert "AQEF" not in clean
    assert "BEGIN KEY" in clean
    assert redactor.text(f"a {KEY} b") == "a [secret KEY] b"
    assert redactor.text(KEY.strip()) == "[secret KEY]"


def test_of_two_the_longer_one_is_named_and_both_are_gone() -> None:
    redactor = Redactor({"SHORT": "abcdef", "LONG": "abcdefgh", "IN": "cdefghij"})
    assert redactor.text("abcdefgh abcdef abcdefX xcdefghij") == (
        "[secret LONG] [secret SHORT] [secret SHORT]X x[secret IN]"
    )


def test_without_secrets_everything_stays_as_it_is() -> None:
    redactor = Redactor({})
    assert not redactor
    assert redactor.text("abc\ud800") == "abc\ud800"
    stream = redactor.stream()
    assert stream.feed(b"abc") + stream.finish() == b"abc"


def test_json_keeps_its_shape() -> None:
    redactor = Redactor({"A": "abcdef"})
    value = {"abcdef": ["x abcdef", 1, None, {"k": "abcdef\ud800"}], "n": 2.5, "b": True}
    assert redactor.json(value) == {
        "[secret A]": ["x [secret A]", 1, None, {"k": "[secret A]\ud800"}],
        "n": 2.5,
        "b": True,
    }


def test_thousands_of_short_texts_are_one_search() -> None:
    searched = []

    class Counting(Redactor):
        def data(self, data: bytes) -> bytes:
            searched.append(len(data))
            return super().data(data)

    redactor = Counting({"A": "abcdef"})
    clean: list[JsonValue] = [{"path": f"{n}\ud800", "keys": ["x", n]} for n in range(5_000)]
    assert redactor.json(clean) is clean
    assert redactor.json([*clean, {"abcdef": "xabcdef"}], keys=False)[-1] == {
        "abcdef": "x[secret A]"
    }
    assert len(searched) == 2


def test_a_mark_in_place_of_a_secret_is_noticed(subtests: pytest.Subtests) -> None:
    cases = [
        ("k=abcdef\nm=1", "k=[secret A]\nm=2", True),
        ("k=abcdef\nm=1", "k=abcdef\nm=[secret A]", True),
        ("k=abcdef\nm=1", "k=other\nm=2", False),
        ("see [secret A]; abcdef", "see [secret A]: abcdef", False),
        ("there are no secrets", "write [secret A] for one", False),
        ("k=abcdef", "k=[secret B]", False),
    ]
    for old, new, lost in cases:
        with subtests.test(new=new):
            redactor = Redactor({"A": "abcdef"})
            assert redactor.is_overwritten(old.encode(), new.encode()) is lost


SMALL = st.text("ab", min_size=MIN_CHARS, max_size=9)
SECRETS = st.dictionaries(st.sampled_from(["P", "Q", "R"]), SMALL, max_size=3)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(SECRETS, st.lists(st.binary(max_size=30) | st.text("ab", max_size=30).map(str.encode)))
def test_pieces_come_to_the_same_as_the_whole(secrets: dict[str, str], pieces: list[bytes]) -> None:
    redactor = Redactor(secrets)
    stream = redactor.stream()
    out = []
    for piece in pieces:
        out.append(stream.feed(piece))
        # No more is ever held back than the longest spelling.
        assert sum(map(len, pieces)) + 1 >= len(stream.held) < max(redactor.longest, 1)
    assert b"".join([*out, stream.finish()]) == redactor.data(b"".join(pieces))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(SECRETS, st.text("ab ", max_size=200))
def test_no_value_survives(secrets: dict[str, str], text: str) -> None:
    clean = Redactor(secrets).text(text)
    assert [name for name, value in secrets.items() if value in clean] == []


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.text(min_size=MIN_CHARS, max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_no_value_survives_in_any_spelling(value: str, before: str, after: str) -> None:
    redactor = Redactor({"N": value})
    if len(value.strip()) < MIN_CHARS:
        return
    for encode in (base64.b64encode, base64.urlsafe_b64encode, lambda data: data.hex().encode()):
        encoded = encode((before + value + after).encode())
        assert redactor.data(encoded) != encoded
    clean = redactor.text(before + value + after)
    assert [piece for piece in clean.split("[secret N]") if value in piece] == []


@settings(max_examples=150, deadline=None, derandomize=True)
@given(SECRETS, st.text("ab ", max_size=60))
def test_a_typist_sees_at_most_two_characters_of_a_secret(
    secrets: dict[str, str], text: str
) -> None:
    redactor = Redactor(secrets)
    stream = redactor.stream(eager=2)
    shown = b"".join(stream.feed(bytes([one])) for one in text.encode()) + stream.finish()
    for value in secrets.values():
        assert value.encode() not in shown


def test_a_typist_sees_at_once_what_is_no_secret() -> None:
    stream = Redactor({"A": "secret-value"}).stream(eager=2)
    assert stream.feed(b"s") == b"s"
    assert stream.feed(b"e") == b"e"
    assert stream.feed(b"c") == b""
    assert stream.feed(b"ond") == b"cond"
    assert stream.feed(b" se") == b" se"
    assert stream.feed(b"cret-value!") == b"[secret A]!"
    assert stream.feed(b"s") + stream.finish() == b"s"


def test_a_flood_takes_time_in_proportion_and_holds_little() -> None:
    # Every place could begin the worst secret there is.
    stream = Redactor({"A": "a" * 4000 + "b"}).stream()
    given = sum(len(stream.feed(b"a" * 65_536)) for _ in range(16))
    assert 16 * 65_536 - given == len(stream.held) <= 4000
    assert stream.feed(b"b") == b"[secret A]"
