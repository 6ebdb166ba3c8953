from __future__ import annotations

from pathlib import Path, PurePath

import pytest

from tools.lsp.languages import language_of
from tools.lsp.positions import split_lines, to_column, to_units
from tools.lsp.uris import to_path, to_uri

FACE = "\N{GRINNING FACE}"


def test_columns_are_turned_into_units_and_back(subtests: pytest.Subtests) -> None:
    cases = [
        ("abc", 1, 0),
        ("abc", 3, 2),
        ("äbc", 3, 2),
        (f"{FACE}bc", 2, 2),
        (f"{FACE}{FACE}c", 3, 4),
        ("", 1, 0),
    ]
    for line, column, units in cases:
        with subtests.test(line=line, column=column):
            assert to_units(line, column) == units
            assert to_column(line, units) == column


def test_a_place_after_the_line_is_its_end() -> None:
    assert to_units("abc", 99) == 3
    assert to_column("abc", 99) == 4
    assert to_column(f"{FACE}", 99) == 2
    assert to_column(f"{FACE}x", 1) == 1


def test_every_kind_of_line_end_counts() -> None:
    assert split_lines("a\r\nb\rc\nd\u2028e") == ["a", "b", "c", "d\u2028e"]


def test_paths_are_addresses_and_back(subtests: pytest.Subtests) -> None:
    for path in ["/a/b.py", "/with space/ä#?%.py", "/%41", "/bytes\udcff", "/back\\slash"]:
        with subtests.test(path=path):
            assert to_path(to_uri(Path(path))) == path


def test_addresses_of_servers_are_read_with_care(subtests: pytest.Subtests) -> None:
    cases = [
        ("file:///a%3Ab/%C3%A4.py", "/a:b/ä.py"),
        ("file://localhost/a", "/a"),
        ("file:///a/../../b", "/b"),
        ("file://elsewhere/a", None),
        ("https://example.org/a", None),
        ("untitled:Untitled-1", None),
        ("file:relative", None),
        ("file:///nul%00", None),
        ("file://[bad", None),
        ("file:///" + "x" * 9000, None),
        (5, None),
        (None, None),
    ]
    for uri, path in cases:
        with subtests.test(uri=uri):
            assert to_path(uri) == path


def test_languages_have_the_names_of_the_protocol(subtests: pytest.Subtests) -> None:
    cases = [
        ("a.py", "python"),
        ("a.TSX", "typescriptreact"),
        ("a.go", "go"),
        ("Dockerfile", "dockerfile"),
        ("noname", "plaintext"),
    ]
    for name, language in cases:
        with subtests.test(name=name):
            assert language_of(PurePath(name)) == language
