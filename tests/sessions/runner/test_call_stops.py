from __future__ import annotations

import asyncio

import pytest

from opencode_web.lib.loop import submit
from sessions.runner.calls.call_stops import hear_stop, stoppable
from tools.errors import StoppedByPerson


def test_a_call_on_another_loop_than_the_listener_is_ended() -> None:
    async def hear() -> None:
        hear_stop({"part": "prt_1", "by": "Bob"})
        hear_stop({"part": "prt_1", "by": "Vera"})

    async def call() -> None:
        async with stoppable("prt_1"):
            asyncio.get_running_loop().call_later(0.1, lambda: submit(hear()))
            await asyncio.sleep(30)

    # A loop in debug mode refuses calls from other threads.
    with asyncio.Runner(debug=True) as runner, pytest.raises(StoppedByPerson, match="Bob"):
        runner.run(call())
