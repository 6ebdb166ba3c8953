from __future__ import annotations

import logging
import stat
from pathlib import Path

import pytest

from tools import output_store
from tools.output_store import OutputSpool, keep_output


def test_it_keeps_a_whole_output_for_its_owner_only(tmp_path: Path) -> None:
    path = keep_output(tmp_path / "outputs", "all of it\n")
    assert path is not None
    assert path.parent == tmp_path / "outputs"
    assert path.name.startswith("tool_")
    assert path.read_text() == "all of it\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_disk_that_refuses_is_logged_and_costs_the_file_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    with caplog.at_level(logging.WARNING):
        assert keep_output(tmp_path / "file" / "outputs", "secret text") is None
    assert "could not be kept" in caplog.text
    assert "secret text" not in caplog.text


def test_a_short_output_makes_no_file(tmp_path: Path) -> None:
    spool = OutputSpool(tmp_path)
    spool.write(b"short")
    assert spool.finish(keep=False) is None
    assert list(tmp_path.iterdir()) == []


def test_a_long_output_is_whole_in_the_file_and_its_end_in_memory(tmp_path: Path) -> None:
    spool = OutputSpool(tmp_path)
    chunks = [f"{number:09d}\n".encode() * 100 for number in range(1_000)]
    for chunk in chunks:
        spool.write(chunk)
    path = spool.finish(keep=False)
    assert path is not None
    whole = b"".join(chunks)
    assert path.read_bytes() == whole
    assert whole.endswith(spool.tail)
    assert 102_400 <= len(spool.tail) <= 4 * 102_400
    assert spool.total_bytes == len(whole)


def test_the_file_ends_at_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_store, "MAX_FILE_BYTES", 1_000)
    spool = OutputSpool(tmp_path, threshold=100)
    for _ in range(20):
        spool.write(b"x" * 100)
    path = spool.finish(keep=False)
    assert spool.full
    assert path is not None
    assert path.stat().st_size < 1_300
    assert path.read_text().rstrip().endswith("first part only.]")
    assert len(spool.tail) == 2_000
