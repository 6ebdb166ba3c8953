from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pytest_django import Settings

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.outbound import NO_ANSWER, FetchError, fetch_text
from opencode_web.lib.signed_posts import SECRET_PREFIX
from providers.key_tests import probe
from providers.kinds import ProviderKind
from providers.llm.events import Failed
from providers.llm.reasons import ErrorReason
from sessions.actions.deliveries import Claimed
from sessions.forges.adapter import ForgeError, ForgeKind
from sessions.forges.registry import open_forge
from sessions.git.clone_errors import UNREACHED
from sessions.jobs import clones, webhooks
from sessions.models import Project
from tests.fakes import FakeToolContext
from tests.providers.requests import collect, end_of, make_model, make_request
from tools.errors import ToolError
from tools.mcp.client import ask_for_tools
from tools.mcp.oauth import Wish
from tools.mcp.remote import Address, oauth
from tools.sandbox.hosts import HostList, HostRules, parse_pattern, parse_target
from tools.sandbox.proxy import Proxy, Refused
from tools.search.ask import search_web
from tools.search.engine import Engine, EngineKind, SearchError, WebQuery

Say = Callable[[str, Path], Awaitable[str]]


async def model(url: str, _: Path) -> str:
    end = end_of(await collect(make_request(make_model(ProviderKind.COMPATIBLE, base_url=url))))
    assert isinstance(end, Failed)
    return f"{type(end.error).__name__}: {end.error.message} {end.error.response_body}"


async def responses_model(url: str, _: Path) -> str:
    asked = make_model(ProviderKind.OPENAI, base_url=url, api_model="gpt-5-codex")
    end = end_of(await collect(make_request(asked)))
    assert isinstance(end, Failed)
    return f"{type(end.error).__name__}: {end.error.message} {end.error.response_body}"


async def key_test(url: str, _: Path) -> str:
    request = make_request(make_model(ProviderKind.ANTHROPIC, base_url=url))
    return repr((await asyncio.to_thread(probe, request)).error)


async def webhook(url: str, _: Path) -> str:
    secret = encrypt(SECRET_PREFIX + "c2VjcmV0")
    return repr(await webhooks._attempt(Claimed("d", "h", "ping", url, secret, {}, 1)))


async def mcp(url: str, _: Path) -> str:
    with pytest.raises(ToolError) as caught:
        await ask_for_tools(Address(url, {}), timeout_s=20)
    return caught.value.message


async def mcp_sign_in(url: str, _: Path) -> str:
    with pytest.raises(ToolError) as caught:
        await (await oauth()).begin(Wish(url=url, challenge="", redirect_uri="https://here/"))
    return str(caught.value.message)


async def skills_and_instructions(url: str, _: Path) -> str:
    with pytest.raises(FetchError) as caught:
        await fetch_text(url, timeout_s=20, max_bytes=100, user_agent="test")
    return str(caught.value)


async def webfetch(url: str, folder: Path) -> str:
    with pytest.raises(ToolError) as caught:
        await FakeToolContext(folder, folder).call("webfetch", url=url)
    return caught.value.message


async def search(url: str, _: Path) -> str:
    with pytest.raises(SearchError) as caught:
        await search_web(Engine(EngineKind.SEARXNG, url), WebQuery("x"))
    return str(caught.value)


async def forge(url: str, _: Path) -> str:
    with pytest.raises(ForgeError) as caught:
        await open_forge(ForgeKind.GITHUB, api_url=url, path="a/b", token="token-1").read(1)
    return str(caught.value)


async def git(url: str, folder: Path) -> str:
    with pytest.raises(clones.CloneFailed) as caught:
        await clones._clone(Project(git_url=url), folder, "")
    return str(caught.value)


async def git_over_ssh(url: str, folder: Path) -> str:
    return await git(f"ssh://git@{urlsplit(url).netloc}/code", folder)


async def command(url: str, _: Path) -> str:
    parts = urlsplit(url)
    lists = (HostList("team", (parse_pattern("*"), parse_pattern(parts.netloc))),)
    target = parse_target(parts.hostname or "", parts.port or 0)
    with pytest.raises(Refused) as caught:
        await Proxy(HostRules(lists))._connect(target)
    return f"{caught.value.status} {caught.value}"


UNANSWERED = ErrorReason.UNANSWERED.sentence
USERS: list[tuple[Say, str, str]] = [
    (model, "http", UNANSWERED),
    (responses_model, "http", UNANSWERED),
    (key_test, "http", UNANSWERED),
    (webhook, "http", NO_ANSWER),
    (mcp, "http", NO_ANSWER),
    (mcp_sign_in, "https", NO_ANSWER),
    (skills_and_instructions, "http", NO_ANSWER),
    (webfetch, "http", NO_ANSWER),
    (search, "http", NO_ANSWER),
    (forge, "https", NO_ANSWER),
    (git, "http", UNREACHED),
    (git_over_ssh, "http", UNREACHED),
    (command, "http", NO_ANSWER),
]


@asynccontextmanager
async def answering(how: str) -> AsyncIterator[tuple[int, list[str]]]:
    seen: list[str] = []

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(how)
        if how == "reset":
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        if how == "other":
            writer.write(b"220 mail.internal ESMTP\r\n")
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], seen


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@pytest.mark.parametrize(
    ("say", "scheme", "sentence"), USERS, ids=[say.__name__ for say, *_ in USERS]
)
async def test_no_failure_to_connect_can_be_told_from_another(
    say: Say,
    scheme: str,
    sentence: str,
    settings: Settings,
    private_closed: None,
    tmp_path: Path,
) -> None:
    said: dict[str, str] = {}

    async def ask(name: str, host: str, port: int, *, tls: bool = False) -> None:
        place = f"{host}:{port}"
        url = f"{'https' if tls else scheme}://{place}"
        text = await say(url, tmp_path)
        said[name] = text.replace(url, "URL").replace(place, "PLACE").replace(host, "HOST")

    async with answering("other") as (port, seen):
        await ask("closed by policy", "127.0.0.1", port)
        await ask("closed by policy, by name", "localhost", port)
        assert seen == [], "refused before connecting"
        settings.ALLOWED_PRIVATE_ADDRESSES = ["127.0.0.1", "nowhere.invalid"]
        # A command has a tunnel of its own to what is open.
        if say is not command:
            await ask("another protocol", "127.0.0.1", port)
            await ask("no TLS", "127.0.0.1", port, tls=True)
            assert seen
    async with answering("reset") as (port, _):
        if say is not command:
            await ask("reset", "127.0.0.1", port)
    await ask("refused", "127.0.0.1", free_port())
    await ask("unknown name", "nowhere.invalid", free_port())
    assert len({text.replace("https", "http") for text in said.values()}) == 1, said
    assert sentence in said["refused"]
