from __future__ import annotations

import pytest

from tools.plugins.versions import best_version, satisfies, version_key

# As npm's own `semver` says.
FITS = {
    "": ["0.0.0", "9.9.9"],
    "*": ["1.0.0"],
    "1": ["1.0.0", "1.9.9"],
    "1.x": ["1.2.3"],
    "1.2": ["1.2.0", "1.2.9"],
    "=1.2.3": ["1.2.3", "1.2.3+build"],
    "^1.2.3": ["1.2.3", "1.9.0"],
    "^0.2.3": ["0.2.3", "0.2.9"],
    "^0.0.3": ["0.0.3"],
    "^0.x": ["0.0.0", "0.9.0"],
    "~1.2.3": ["1.2.3", "1.2.9"],
    "~1": ["1.0.0", "1.9.9"],
    ">1.2": ["1.3.0"],
    "<=1.2": ["1.2.9", "0.0.0"],
    "> 1 <3": ["2.0.0"],
    "1.2 - 2": ["1.2.0", "2.9.9"],
    "^1.0.0 || ^3": ["1.5.0", "3.1.0"],
    "^1.2.3-rc.2": ["1.2.3-rc.10", "1.2.3", "1.3.0"],
}
DIFFERS = {
    "1": ["2.0.0", "0.9.9"],
    "^1.2.3": ["1.2.2", "2.0.0", "2.0.0-rc.1", "1.3.0-rc.1"],
    "^0.2.3": ["0.3.0"],
    "^0.0.3": ["0.0.4"],
    "~1.2.3": ["1.3.0"],
    ">1.2": ["1.2.9"],
    "<1.2": ["1.2.0", "1.2.0-rc.1"],
    "1.2 - 2": ["3.0.0", "1.1.9"],
    "*": ["1.0.0-rc.1"],
    "^1.2.3-rc.2": ["1.2.3-rc.1", "1.2.4-rc.3"],
    "latest": ["1.0.0"],
    "1.2.3.4": ["1.2.3"],
    "^1 and more": ["1.0.0"],
}


@pytest.mark.parametrize(("wanted", "versions"), FITS.items())
def test_versions_in_a_range(wanted: str, versions: list[str]) -> None:
    assert [one for one in versions if not satisfies(one, wanted)] == []


@pytest.mark.parametrize(("wanted", "versions"), DIFFERS.items())
def test_versions_outside_of_a_range(wanted: str, versions: list[str]) -> None:
    assert [one for one in versions if satisfies(one, wanted)] == []


def test_the_latest_is_taken_where_it_fits_else_the_highest() -> None:
    versions, tags = ["1.2.0", "1.10.0", "2.0.0-rc.1"], {"latest": "1.2.0", "next": "2.0.0-rc.1"}
    assert best_version("^1", versions, tags) == "1.2.0"
    assert best_version("^1.3", versions, tags) == "1.10.0"
    assert best_version("next", versions, tags) == "2.0.0-rc.1"
    assert best_version("^7", versions, tags) is None
    assert best_version("^1 || " * 200, versions, tags) is None


@pytest.mark.parametrize("text", ["1", "1.2", "01.2.3", "1.2.3.4", "^1.2.3", "latest", "", "1.2.x"])
def test_what_is_no_exact_version(text: str) -> None:
    assert version_key(text) is None
