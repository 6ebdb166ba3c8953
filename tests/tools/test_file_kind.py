from __future__ import annotations

import pytest

from tools.files.file_kind import attachment_mime, is_binary


def test_attachments_are_known_by_content(subtests: pytest.Subtests) -> None:
    cases = [
        (b"\x89PNG\r\n\x1a\n...", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8", "image/webp"),
        (b"RIFF\0\0\0\0WAVE", None),
        (b"%PDF-1.7", "application/pdf"),
        (b"BM\0\0", None),
        (b"<svg>", None),
        (b"", None),
    ]
    for sample, mime in cases:
        with subtests.test(sample=sample):
            assert attachment_mime(sample) == mime


def test_binary_files(subtests: pytest.Subtests) -> None:
    cases = [
        ("a.zip", b"", True),
        ("A.EXE", b"text", True),
        ("a.txt", b"text", False),
        ("a.txt", b"a\0b", True),
        ("a", b"", False),
        ("a", b"\x01" * 3 + b"a" * 7, False),
        ("a", b"\x01" * 31 + b"a" * 69, True),
        ("a", "äöü€".encode(), False),
        ("a", b"\x1b[31mred\x1b[0m\t\r\n", False),
    ]
    for name, sample, binary in cases:
        with subtests.test(name=name, sample=sample):
            assert is_binary(name, sample) is binary
