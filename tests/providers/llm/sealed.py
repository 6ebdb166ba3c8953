"""Run by an interpreter that reaches one address at a time: turns, a title and a summary each.

Reads a JSON list of [npm, model, base URL, key, options], and writes for each the number of calls,
the texts, what else was reached, and whether litellm is loaded; or what went wrong.
"""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

vendors: list[Any] = []
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
    if place not in vendors:
        raise ConnectionRefusedError(f"{place} is not the vendor")


sys.addaudithook(refuse_others)

import httpx  # noqa: E402

from providers.llm import encode, stream  # noqa: E402
from providers.llm.events import Failed  # noqa: E402
from providers.llm.secret import Secret  # noqa: E402
from tests.providers.llm import talk  # noqa: E402

WHERE = {"region": "us-east-1", "project": "p", "location": "us-central1"}


async def play(npm: str, name: str, url: str, key: str, options: Any) -> list[Any]:
    vendors[:] = [("127.0.0.1", urlsplit(url).port)]
    reached.clear()
    model = talk.model(
        npm, name, base_url=url, api_key=Secret(key), connection=WHERE, options=options
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
    others = sorted(map(str, reached - set(vendors)))
    return [len(first.calls), said, others, loaded]


def outcome(case: list[Any]) -> Any:
    try:
        return asyncio.run(play(*case))
    except Exception:
        return traceback.format_exc()


sys.stdout.write(json.dumps([outcome(case) for case in json.load(sys.stdin)]))
