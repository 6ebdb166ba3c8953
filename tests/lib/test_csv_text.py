from __future__ import annotations

import pytest

from opencode_web.lib.csv_text import to_csv


def test_a_formula_becomes_text(subtests: pytest.Subtests) -> None:
    for text in ["=1", "+1", "-1", "@x", "\tx"]:
        with subtests.test(text=text):
            assert to_csv([[text, f"a{text}"]]) == f"'{text},a{text}\r\n"


def test_a_cell_may_hold_what_separates_cells() -> None:
    assert to_csv([["a,b", 'say "x"'], ["c", ""]]) == '"a,b","say ""x"""\r\nc,\r\n'
