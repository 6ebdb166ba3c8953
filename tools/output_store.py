"""Managed Tool Output Files: the whole of an output of which the model sees a part.

Keeping one is a courtesy. When the disk refuses, the call stays successful and the bounded output
is all there is (FEAT-0002 NFR-02).
"""

from __future__ import annotations

import logging
import os
from io import BufferedWriter
from pathlib import Path

from opencode_web.lib.ids import new_id
from tools.truncate import MAX_BYTES, cut_bytes

logger = logging.getLogger(__name__)

# One command may not fill the disk.
MAX_FILE_BYTES = 100 * 1024 * 1024
# Twice what the model gets, so that a tail by lines never lacks its start.
_TAIL_BYTES = 2 * MAX_BYTES
_CUT_NOTE = b"\n[The output went on; this file holds its first part only.]\n"


def keep_output(output_dir: Path, text: str) -> Path | None:
    """Write a whole output. Returns: the file, or None when it could not be kept."""
    spool = OutputSpool(output_dir, threshold=0)
    spool.write(text.encode("utf-8", "replace"))
    return spool.finish()


class OutputSpool:
    """Takes output of unknown length: its end stays in memory, the whole goes to a file.

    The file is made when more than `threshold` bytes have come, or by `finish` with `keep`.
    """

    def __init__(
        self, output_dir: Path, *, threshold: int = _TAIL_BYTES, tail_bytes: int = _TAIL_BYTES
    ) -> None:
        self._output_dir = output_dir
        self._tail_bytes = tail_bytes
        self._threshold = threshold
        self._tail = bytearray()
        self._file: BufferedWriter | None = None
        self._path: Path | None = None
        self._failed = False
        self.total_bytes = 0

    @property
    def full(self) -> bool:
        """Whether the file has reached its limit and what comes is lost."""
        return self.total_bytes > MAX_FILE_BYTES

    @property
    def tail(self) -> bytes:
        """The end of the output: all of it up to the threshold, at least `tail_bytes` beyond."""
        return bytes(self._tail)

    def write(self, chunk: bytes) -> None:
        """Take a chunk. Never raises for the disk."""
        was_full = self.full
        self.total_bytes += len(chunk)
        self._tail += chunk
        if self._file is None and not self._failed and self.total_bytes > self._threshold:
            self._open()
            chunk = bytes(self._tail)
        if len(self._tail) > 2 * self._tail_bytes:
            tail = cut_bytes(bytes(self._tail), size=self._tail_bytes, from_end=True)
            self._tail = bytearray(tail)
        if not was_full:
            self._append(chunk + _CUT_NOTE if self.full else chunk)

    def finish(self, *, keep: bool = True) -> Path | None:
        """Close the file. `keep` makes one of a short output too. Returns: None without one."""
        if keep and self._file is None and not self._failed:
            self._open()
            self._append(bytes(self._tail))
        if self._file is not None:
            try:
                self._file.close()
            except OSError as exc:
                self._fail(exc)
            self._file = None
        return None if self._failed else self._path

    def _open(self) -> None:
        try:
            self._output_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = self._output_dir / new_id("tool")
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.fdopen(os.open(path, flags, 0o600), "wb")
            self._path = path
        except OSError as exc:
            self._fail(exc)

    def _append(self, chunk: bytes) -> None:
        if self._file is None:
            return
        try:
            self._file.write(chunk)
        except OSError as exc:
            self._fail(exc)

    def _fail(self, exc: OSError) -> None:
        self._failed = True
        logger.warning("a tool output could not be kept: %s", exc.strerror)
