"""The scripted OpenAI-compatible model that both servers call. Runs in a process of its own.

The newest user message says what to answer, so nothing is kept between requests:
`BENCH text` a short text; `BENCH steps FILE` read, then grep, then a text; `BENCH stamp` a text
with the times (monotonic ns) at which the request came and the chunk left; `BENCH stream COUNT
GAP_MS` that many chunks, each with the time at which it left, and `BENCH prose` the same in
paragraphs; `BENCH call NAME ARGUMENTS` that one
call, with arguments as JSON, then a text. Requests that offer no tools ask for
a title.
There is no delay but the gap. The process ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from typing import Any

from aiohttp import web

from bench.repository import NEEDLE

_ORDER = re.compile(r"BENCH (text|steps|stamp|stream|prose)(?: (\S+))?(?: (\d+))?")
_CALL = re.compile(r"BENCH call (\w+) (\{.*\})")
_MAX_CHUNKS = 5_000
_PARAGRAPHS = {"stream": 0, "prose": 25}


_HEAD = {
    "id": "chatcmpl-bench",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "scripted",
}


def _data(**body: Any) -> bytes:
    return f"data: {json.dumps(_HEAD | body)}\n\n".encode()


def _chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    return _data(choices=[{"index": 0, "delta": delta, "finish_reason": finish}])


def _usage() -> bytes:
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return _data(choices=[], usage=usage)


def _text(text: str) -> bytes:
    return _chunk({"role": "assistant", "content": text})


def _call(name: str, arguments: dict[str, str]) -> bytes:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": f"call_{name}", "type": "function", "function": function}
    return _chunk({"role": "assistant", "tool_calls": [call]})


def _content(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content)


def _newest_order(messages: list[dict[str, Any]]) -> tuple[re.Match[str] | None, int]:
    """The order of the newest user message, and the tool results after it."""
    results = 0
    for message in reversed(messages):
        if message.get("role") == "tool":
            results += 1
        if message.get("role") == "user":
            found = _ORDER.search(_content(message))
            if found:
                return found, results
    return None, results


def _newest_call(messages: list[dict[str, Any]]) -> bytes | None:
    """The call that the newest message asks for; None when that is no order of one."""
    newest = messages[-1]
    found = _CALL.search(_content(newest)) if newest.get("role") == "user" else None
    return _call(found[1], json.loads(found[2])) if found else None


def _answer(body: dict[str, Any], received_ns: int) -> list[bytes]:
    if not body.get("tools"):
        return [_text("A title"), _chunk({}, "stop")]
    if call := _newest_call(body["messages"]):
        return [call, _chunk({}, "tool_calls")]
    order, results = _newest_order(body["messages"])
    if order is None:
        return [_text("Done."), _chunk({}, "stop")]
    if order[1] == "steps" and results == 0:
        return [_call("read", {"filePath": str(order[2])}), _chunk({}, "tool_calls")]
    if order[1] == "steps" and results == 1:
        return [_call("grep", {"pattern": NEEDLE}), _chunk({}, "tool_calls")]
    text = "Done."
    if order[1] == "stamp":
        text = f"@{received_ns}@{time.monotonic_ns()}"
    return [_text(text), _chunk({}, "stop")]


async def _send_paced(
    response: web.StreamResponse, count: int, gap_s: float, *, paragraph: int = 0
) -> None:
    """`paragraph`: how many chunks make one; 0 for a single one."""
    start = time.monotonic()
    for number in range(min(count, _MAX_CHUNKS)):
        await asyncio.sleep(max(0.0, start + number * gap_s - time.monotonic()))
        end = "\n\n" if paragraph and number % paragraph == paragraph - 1 else " "
        await response.write(_text(f"@{time.monotonic_ns()}{end}"))
    await response.write(_chunk({}, "stop"))


async def complete(request: web.Request) -> web.StreamResponse:
    received_ns = time.monotonic_ns()
    body = await request.json()
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    order, _ = _newest_order(body["messages"])
    if body.get("tools") and order is not None and order[1] in _PARAGRAPHS:
        gap_s, paragraph = int(order[3]) / 1000, _PARAGRAPHS[order[1]]
        await _send_paced(response, int(order[2]), gap_s, paragraph=paragraph)
        chunks = []
    else:
        chunks = _answer(body, received_ns)
    await response.write(b"".join([*chunks, _usage(), b"data: [DONE]\n\n"]))
    await response.write_eof()
    return response


async def main() -> None:
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main())
