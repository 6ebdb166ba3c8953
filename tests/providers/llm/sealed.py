"""Run by an interpreter that reaches one address: turns, a title and a summary over one wire.

usage: sealed.py NPM MODEL BASE_URL KEY OPTIONS
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

NPM, MODEL, BASE_URL, KEY, OPTIONS = sys.argv[1:]
VENDOR = ("127.0.0.1", urlsplit(BASE_URL).port)
reached: set[Any] = set()


def refuse_others(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        place: Any = arguments[1][:2]
    elif event == "socket.getaddrinfo":
        place = (arguments[0], arguments[1])
    elif event in {"socket.gethostbyname", "socket.sendto", "subprocess.Popen", "os.system"}:
        place = (event, str(arguments[:1]))
    else:
        return
    reached.add(place)
    if place != VENDOR:
        raise ConnectionRefusedError(f"{place} is not the vendor")


sys.addaudithook(refuse_others)

import httpx  # noqa: E402

from providers.llm import encode, stream  # noqa: E402
from providers.llm.events import Failed  # noqa: E402
from providers.llm.secret import Secret  # noqa: E402
from tests.providers.llm import talk  # noqa: E402

WHERE = {"region": "us-east-1", "project": "p", "location": "us-central1"}


async def main() -> None:
    model = talk.model(
        NPM,
        MODEL,
        base_url=BASE_URL,
        api_key=Secret(KEY),
        connection=WHERE,
        options=json.loads(OPTIONS),
    )
    asked = talk.request(model, "Look.")
    title = talk.request(model, "A title.", tools=(), purpose="title")
    async with httpx.AsyncHTTPTransport(trust_env=False) as transport:
        first = talk.Answer([event async for event in stream(asked, transport)])
        second = talk.go_on(asked, first)
        summary = replace(second, tools=(), purpose="compaction")
        said = []
        for one in (second, title, summary):
            encode(one)
            answer = talk.Answer([event async for event in stream(one, transport)])
            said.append(answer.text)
            if isinstance(answer.end, Failed):
                raise answer.end.error
    loaded = "litellm" in sys.modules
    others = sorted(map(str, reached - {VENDOR}))
    sys.stdout.write(json.dumps([len(first.calls), said, others, loaded]))


asyncio.run(main())
