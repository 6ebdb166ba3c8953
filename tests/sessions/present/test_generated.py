from __future__ import annotations

import pytest

from sessions.present.changes.generated import is_generated


@pytest.mark.parametrize(
    "path",
    [
        "package-lock.json",
        "web/yarn.lock",
        "go.sum",
        "static/app.min.js",
        "static/app.js.map",
        "api/v1/order.pb.go",
        "api/order_pb2.py",
        "lib/model.g.dart",
        "ui/__snapshots__/button.test.tsx",
        "ui/button.test.tsx.snap",
    ],
)
def test_what_programs_write_is_known_by_its_name(path: str) -> None:
    assert is_generated(path)


@pytest.mark.parametrize(
    "path", ["lock.py", "package.json", "yarn.lock.md", "src/generated.py", "locks/door.lock.go"]
)
def test_what_people_write_is_not(path: str) -> None:
    assert not is_generated(path)
