from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

T = TypeVar("T")


async def first_of(*works: Coroutine[None, None, T]) -> T:
    """Returns: what the first that ends returns; the others are cancelled. Raises: as that does."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(task for task in tasks if task.done()).result()
    finally:
        for task in tasks:
            task.cancel()
        # Also looks at what they raise while they end, which nobody needs.
        await asyncio.gather(*tasks, return_exceptions=True)
