from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.npm import Unavailable
from tests.contract.genuine_program import GenuineProgram, genuine_program


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GenuineProgram]:
    """The genuine program, as it comes but for a scripted model."""
    try:
        with genuine_program(tmp_path_factory.mktemp("genuine")) as program:
            yield program
    except Unavailable as exc:
        pytest.skip(f"the genuine program: {exc}")
