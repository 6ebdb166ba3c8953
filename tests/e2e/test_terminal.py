from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import psutil
import pytest

from tests.e2e.installation import Installation
from tests.e2e.rest import wait_for

pytestmark = pytest.mark.e2e
PATIENCE_S = 60
Socket = aiohttp.ClientWebSocketResponse


def open_terminal(server: Installation) -> dict[str, Any]:
    with server.client() as client:
        plan = {"args": ["--norc", "--noprofile"], "env": {"PS1": "ready> "}}
        answer = client.post("/pty", json=plan)
        assert answer.status_code == 200, answer.text
        info: dict[str, Any] = answer.json()
        return info


def address_of(server: Installation, terminal_id: str, cursor: int = 0) -> str:
    with server.client() as client:
        headers = {"x-opencode-ticket": "1"}
        answer = client.post(f"/pty/{terminal_id}/connect-token", headers=headers)
        ticket = answer.json()["ticket"]
    return f"{server.url}/pty/{terminal_id}/connect?cursor={cursor}&ticket={ticket}"


def attach(address: str, act: Callable[[Socket], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with aiohttp.ClientSession() as session, session.ws_connect(address) as socket:
            async with asyncio.timeout(PATIENCE_S):
                return await act(socket)

    return asyncio.run(run())


async def until(socket: Socket, wanted: str) -> str:
    seen = ""
    while wanted not in seen:
        message = await socket.receive()
        assert message.type in {aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY}, (message, seen)
        seen += message.data if message.type is aiohttp.WSMsgType.TEXT else ""
    return seen


async def until_closed(socket: Socket) -> int | None:
    while not socket.closed:
        await socket.receive()
    return socket.close_code


def test_a_terminal_is_used_left_and_found_again(server: Installation) -> None:
    terminal_id = open_terminal(server)["id"]

    async def use(socket: Socket) -> None:
        await until(socket, "ready> ")
        await socket.send_str("stty size; echo kept-$((6 * 7))\r")
        await until(socket, "kept-42\r\n")

    async def come_back(socket: Socket) -> int | None:
        assert "24 80" in await until(socket, "kept-42\r\n")
        await socket.send_str("exit 3\r")
        return await until_closed(socket)

    attach(address_of(server, terminal_id), use)
    assert attach(address_of(server, terminal_id), come_back) == 1000
    with server.client() as client:
        assert client.get(f"/pty/{terminal_id}").json()["exitCode"] == 3


def is_gone(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.deep
def test_a_killed_worker_ends_its_terminals_and_the_row_says_so(mortal: Installation) -> None:
    info = open_terminal(mortal)
    shell = psutil.Process(info["pid"])
    mortal.kill_worker()
    if mortal.is_embedded:
        mortal.start()
    with mortal.client() as client:

        def now() -> dict[str, Any]:
            found: dict[str, Any] = client.get(f"/pty/{info['id']}").json()
            return found

        wait_for(lambda: now()["status"] == "exited", seconds=PATIENCE_S)
        assert "exitCode" not in now()
        assert client.get("/pty").json() == []
    wait_for(lambda: is_gone(shell))
    # The next one runs in the worker that took its place.
    assert open_terminal(mortal)["status"] == "running"
