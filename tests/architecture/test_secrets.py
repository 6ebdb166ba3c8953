from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT, name_of, tracked_files

# Put together here, so that this file does not hold them itself.
MACHINE_PATHS = [f"/{name}/" for name in ("work", "root", "home/runner")]
REGISTRIES = [
    f"{host}.{end}"
    for host, end in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("docker", "io"),
        ("ghcr", "io"),
        ("quay", "io"),
        ("debian", "org"),
    )
]
PRIVATE_KEY = "-----BEGIN " + "OPENSSH PRIVATE KEY"


def _text(path: Path) -> str:
    return path.read_bytes().decode(errors="replace")


def test_no_file_names_a_machine_a_registry_or_a_key(subtests: pytest.Subtests) -> None:
    for needle in [*MACHINE_PATHS, *REGISTRIES, PRIVATE_KEY]:
        with subtests.test(needle=needle):
            assert [name_of(path) for path in tracked_files() if needle in _text(path)] == []


def test_no_file_refers_to_a_document_that_is_not_here() -> None:
    absent = re.compile(r"\b(?:spec|shared)/[a-z_]+\.md|wire " + "facts")
    assert [name_of(path) for path in tracked_files() if absent.search(_text(path))] == []


def test_no_state_of_a_server_is_in_the_repository() -> None:
    suffixes = {".sqlite3", ".pem", ".key", ".log"}
    found = [
        path for path in tracked_files() if path.suffix in suffixes or path.name == "secret_key"
    ]
    assert found == []
    assert (ROOT / ".env") not in tracked_files()


@pytest.mark.parametrize(
    "name", ["requirements.lock", "requirements-saml.lock", "requirements-dev.lock"]
)
def test_every_locked_version_has_its_hashes(name: str) -> None:
    blocks = (ROOT / name).read_text().split("\n")
    pins = [line for line in blocks if line and line[0] not in "# "]
    assert len(pins) > 50
    assert [line for line in pins if "==" not in line or not line.endswith("\\")] == []
    assert "://" not in (ROOT / name).read_text()
