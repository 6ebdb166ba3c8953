from __future__ import annotations

import pytest

from clients.generate import read_document
from tests.e2e.conftest import server

__all__ = ["server"]


@pytest.fixture(scope="session")
def document() -> bytes:
    return read_document()
