from __future__ import annotations

import asyncio

import pytest

from tests.cli.editor import editing, worktree_of
from tests.e2e.cutter import Cutter
from tests.e2e.installation import Installation
from tests.e2e.rest import script

pytestmark = [pytest.mark.e2e, pytest.mark.deep, pytest.mark.timeout(300)]


async def test_a_server_that_is_killed_in_mid_turn_still_answers(mortal: Installation) -> None:
    cwd = worktree_of(mortal)
    read = {"tool": "read", "input": {"filePath": "till.py"}}
    turn = script(
        [{"text": "Before. "}, read],
        [{"text": "Half"}, {"delay_ms": 4000}, {"text": " and whole."}],
    )
    async with editing(mortal, cwd) as editor:
        session = await editor.begin(cwd)
        running = asyncio.create_task(editor.prompt(session, turn))
        await editor.until(lambda: editor.said().endswith("Half"))
        await asyncio.to_thread(mortal.kill_worker)
        if mortal.is_embedded:
            await asyncio.to_thread(mortal.start)
        done = await running
        assert done.stop_reason == "end_turn"
        # What the killed server had begun is a message of its own, and was shown once.
        texts: dict[str, str] = {}
        for one in editor.of("agent_message_chunk"):
            texts[one["messageId"]] = texts.get(one["messageId"], "") + one["content"]["text"]
        assert list(texts.values()) == ["Before. ", "Half", "Half and whole."]
        assert len(editor.of("tool_call")) == 1
        again = await editor.prompt(session, script([{"text": "Still here."}]))
        assert again.stop_reason == "end_turn"
        assert editor.said().endswith("Still here.")


async def test_a_lost_connection_leaves_no_gap_and_no_double(mortal: Installation) -> None:
    cwd = worktree_of(mortal)
    words = [f"w{number} " for number in range(40)]
    steps = [event for word in words for event in ({"text": word}, {"delay_ms": 100})]
    cutter = Cutter(mortal.port)
    url = f"http://127.0.0.1:{cutter.port}"
    try:
        async with editing(mortal, cwd, OPENCODE_WEB_URL=url) as editor:
            session = await editor.begin(cwd)
            running = asyncio.create_task(editor.prompt(session, script(steps)))
            await editor.until(lambda: "w3 " in editor.said())
            cutter.cut()
            # Once more, while it may be about to go on.
            await asyncio.sleep(0.6)
            cutter.cut()
            assert (await running).stop_reason == "end_turn"
            assert editor.said() == "".join(words)
    finally:
        cutter.close()
