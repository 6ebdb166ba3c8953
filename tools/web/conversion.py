"""Have a page converted by `html_worker.py`, in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from pathlib import Path
from typing import Literal

from tools.errors import ToolError

logger = logging.getLogger(__name__)

# Processor seconds of one page; a large one takes two. Some pages are made to take hours.
CPU_S = 6
# For a machine that lets the process wait.
_TIMEOUT_S = 25.0
_WORKER = Path(__file__).with_name("html_worker.py")


async def convert_html(
    page: str, to: Literal["markdown", "text"], *, base: str, cpu_s: int = CPU_S
) -> str:
    """Convert a whole page; links become absolute with `base`.

    Raises: ToolError when the page takes more time or memory than a page may.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        str(_WORKER),
        to,
        base,
        str(cpu_s),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        # Nothing of the server's: no key, no address of a database.
        env={"LANG": "C.UTF-8"},
    )
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            text, _ = await process.communicate(page.encode("utf-8", "replace"))
    except TimeoutError as exc:
        raise _too_much() from exc
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode:
        logger.warning("a page could not be converted: status %s", process.returncode)
        raise _too_much()
    return text.decode("utf-8", "replace")


def _too_much() -> ToolError:
    return ToolError(
        "The page is too complex to convert. Fetch it with format html, or fetch another page."
    )
