from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opencode_web.lib.crypto import fingerprint
from opencode_web.lib.known_keys import KeyStream, KnownKeys, begun_at, find_keys
from tests.lib.known_key_samples import ORDINARY, SAMPLES, drawn

KEYS = KnownKeys()


def streamed(*pieces: bytes) -> bytes:
    stream = KeyStream(KEYS)
    return b"".join([*map(stream.feed, pieces), stream.finish()])


@pytest.mark.deep
def test_every_form_is_found_whole_and_cut_anywhere(subtests: pytest.Subtests) -> None:
    for kind, before, value, after in SAMPLES:
        with subtests.test(kind=kind, value=value[:12]):
            for around in ("", "see ", "é\n", '{"a": "'):
                text = f"{around}{before}{value}{after}".encode()
                (found,) = find_keys(text)
                assert text[found.start : found.end].decode() == value
                clean = f"{around}{before}[hidden {kind}]{after}".encode()
                assert KEYS.data(text) == clean
            assert streamed(*(bytes([one]) for one in text)) == clean
            for cut in range(0, len(text), 1 + len(text) // 100):
                assert streamed(text[:cut], text[cut:]) == clean


def test_ordinary_text_is_left_alone(subtests: pytest.Subtests) -> None:
    for text in ORDINARY:
        with subtests.test(text=text):
            data = text.encode()
            assert [data[one.start : one.end] for one in find_keys(data)] == []
            assert KEYS.data(data) is data


def test_a_key_in_the_lines_of_a_listing_is_found() -> None:
    key = next(value for kind, _, value, _ in SAMPLES if kind == "private key")
    numbered = "\n".join(f"{number}: {line}" for number, line in enumerate(key.splitlines(), 1))
    assert KEYS.data(numbered.encode()) == b"1: [hidden private key]"
    cut = "\n".join(key.splitlines()[:6])
    assert KEYS.data(f"{cut}\n(Showing lines 1-6)".encode()).startswith(b"[hidden private key](")


def test_what_was_allowed_is_shown_and_asked_for_only_when_something_is_found() -> None:
    asked = []

    def allowed() -> frozenset[str]:
        asked.append(1)
        return frozenset({fingerprint(SAMPLES[2][2])})

    keys = KnownKeys(allowed)
    assert keys.data(b"nothing") == b"nothing"
    assert not asked
    text = f"{SAMPLES[2][2]} {SAMPLES[7][2]}".encode()
    assert keys.data(text) == f"{SAMPLES[2][2]} [hidden Stripe key]".encode()


PIECES = st.lists(
    st.sampled_from(
        [value[:cut].encode() for _, _, value, _ in SAMPLES for cut in (1, 4, 9, len(value))]
        + [b" ", b"\n", b"-", b"://", b":", b"@h", b"A_TOKEN=", b"word", b"sk-", b"eyJ", b"-----"]
    ),
    max_size=12,
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(PIECES)
def test_pieces_come_to_the_same_as_the_whole(pieces: list[bytes]) -> None:
    assert streamed(*pieces) == KEYS.data(b"".join(pieces))


def _ms(work: Callable[[], object], times: int = 3) -> float:
    best = float("inf")
    for _ in range(times):
        begun = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begun)
    return best * 1000


# Many times what they take here (1.6 ms, 0.01 ms), and still within what a turn has for it.
def test_a_large_output_and_a_chunk_take_next_to_nothing() -> None:
    output = ("\n".join(ORDINARY) + "\n" + drawn(400) + "\n").encode() * 500
    output = output[:1_000_000]
    # Beside what finding its words costs on the same machine: about four times, and a tenth.
    words = _ms(lambda: re.findall(rb"[A-Za-z0-9_-]+", output))
    assert _ms(lambda: KEYS.data(output)) < 20 * words
    stream = KeyStream(KEYS)
    assert _ms(lambda: [stream.feed(b" and the next words of it") for _ in range(100)]) < words


def test_hostile_text_takes_time_in_proportion(subtests: pytest.Subtests) -> None:
    heads = [value[:14].encode() for _, _, value, _ in SAMPLES]
    pieces = [b"a", b"A", b"-", b"://a:", b"://a:aaaaaaa@", b"_TOKEN", b"authorization: ", b"eyJ"]
    for piece in {*heads, *pieces, b"-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAA\n"}:
        with subtests.test(piece=piece):
            flood = piece * (200_000 // len(piece))
            # Trying again from every place would take minutes.
            assert _ms(lambda text=flood: (KEYS.data(text), begun_at(text)), 1) < 3_000  # type: ignore[misc]


def test_a_flood_without_an_end_is_not_held_for_good() -> None:
    stream = KeyStream(KEYS)
    given = sum(len(stream.feed(b"sk-" + b"a" * 10_000)) for _ in range(20))
    assert given > 100_000
