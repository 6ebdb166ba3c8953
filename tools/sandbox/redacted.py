from __future__ import annotations

from tools.redaction import Redactor
from tools.sandbox.base import OnOutput


class RedactedOutput:
    """Passes output on without the secrets in it. `finish` passes on what was held back."""

    def __init__(self, redactor: Redactor, on_output: OnOutput) -> None:
        self._stream = redactor.stream()
        self._on_output = on_output

    async def __call__(self, chunk: bytes) -> None:
        if clean := self._stream.feed(chunk):
            await self._on_output(clean)

    async def finish(self) -> None:
        """Must be called when no more comes, and not when the command was cut off."""
        if rest := self._stream.finish():
            await self._on_output(rest)
