from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.installation import Installation, installation


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installation(tmp_path_factory.mktemp("installation")) as made:
        made.start()
        made.bootstrap()
        yield made
