from __future__ import annotations

import pytest

from tools.text_file import decode_text, displayable, encode_text


def test_it_comes_back_byte_for_byte(subtests: pytest.Subtests) -> None:
    for data in [b"", b"abc\n", b"\xef\xbb\xbfabc", b"caf\xe9 \xff", "a\u2028é😀".encode()]:
        with subtests.test(data=data):
            text, bom = decode_text(data)
            assert encode_text(text, bom=bom) == data


def test_a_mark_is_written_once() -> None:
    assert encode_text("\ufeffa", bom=True) == b"\xef\xbb\xbfa"
    assert encode_text("\ufeffa", bom=False) == b"\xef\xbb\xbfa"


def test_what_is_shown_has_no_surrogates() -> None:
    assert displayable(decode_text(b"caf\xe9")[0]) == "caf\ufffd"
