from __future__ import annotations

import pytest

from clients.generate import read_document


@pytest.fixture(scope="session")
def document() -> bytes:
    return read_document()
