from __future__ import annotations

import asyncio
import threading

import pytest
from django.conf import settings

from opencode_web.lib.db import in_db, in_view_db

pytestmark = pytest.mark.django_db(transaction=True)


async def test_what_people_look_at_is_read_while_every_thread_of_the_work_is_taken() -> None:
    free = threading.Event()
    taken = [asyncio.create_task(in_db(free.wait, 20)) for _ in range(settings.DB_THREADS + 1)]
    try:
        assert await asyncio.wait_for(in_view_db(lambda: "drawn"), 10) == "drawn"
        assert not any(task.done() for task in taken)
    finally:
        free.set()
        await asyncio.gather(*taken)
