from __future__ import annotations

import pytest

from sessions.browse.fuzzy import score


def test_the_better_fit_comes_first(subtests: pytest.Subtests) -> None:
    cases = [
        ("till", "shop/till.py", "till/shop.py"),
        ("till", "till.py", "a/very/long/way/till.py"),
        ("till", "till.py", "untill.py"),
        ("shop/t", "shop/till.py", "shop/x/other.py"),
        ("stl", "s/till.py", "so/many/things/to/list.py"),
        ("", "a.py", "deep/a.py"),
    ]
    for wanted, best, worse in cases:
        with subtests.test(worse=worse):
            first, second = score(wanted, best), score(wanted, worse)
            assert first is not None
            assert second is None or first > second


@pytest.mark.parametrize(("wanted", "path"), [("xyz", "till.py"), ("lt", "till"), ("tt", "t")])
def test_letters_in_another_order_do_not_fit(wanted: str, path: str) -> None:
    assert score(wanted, path) is None


def test_case_does_not_matter() -> None:
    assert score("TILL", "till.py") == score("till", "Till.py")
