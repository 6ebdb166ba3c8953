from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest
from pytest_django import Settings

from opencode_web.lib.outbound import FetchError
from sessions.forges import api
from sessions.forges.adapter import ForgeError, ForgeKind
from sessions.forges.api import require_safe
from sessions.forges.registry import open_forge
from tests.sessions.forges.servers import TOKEN, FakeForge, forge
from tests.web_server import answer, raw


@pytest.fixture
def fake() -> Iterator[FakeForge]:
    with forge(ForgeKind.GITHUB) as made:
        yield made


async def failure(fake: FakeForge) -> str:
    to = open_forge(fake.kind, api_url=fake.api, path=fake.path, token=TOKEN)
    with pytest.raises(ForgeError) as caught:
        await to.read(1)
    assert TOKEN not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("status", "headers", "says"),
    [
        (403, {}, "not allowed to do this on GitHub"),
        (403, {"x_ratelimit_remaining": "0"}, "no more requests from this token for now. Try agai"),
        (403, {"retry_after": "61"}, "Try again in 2 min."),
        (429, {"retry_after": "30"}, "Try again in 1 min."),
        (429, {"retry_after": "soon"}, "Try again later."),
        (301, {"location": "/elsewhere"}, "redirects to another address"),
        (502, {}, "a problem of its own (502)"),
        (422, {}, "does not take it (422)"),
        (200, {}, "is not the API of GitHub"),
    ],
)
async def test_an_answer_becomes_a_sentence(
    fake: FakeForge, status: int, headers: dict[str, str], says: str
) -> None:
    fake.then = [answer(b"<html>", status=status, **headers)]
    assert says in await failure(fake)


async def test_what_a_forge_says_is_shown_short_and_plain(fake: FakeForge) -> None:
    said = {"message": f"No\x1b[31m\n{TOKEN}\u202e ok", "errors": ["more", {"message": "x" * 500}]}
    fake.then = [answer(json.dumps(said).encode(), status=422)]
    text = await failure(fake)
    assert "It says: No [31m … ok. more. xxx" in text
    assert len(text) < 300


async def test_a_redirect_is_not_followed(fake: FakeForge) -> None:
    with forge(ForgeKind.GITHUB) as other:
        fake.then = [answer(status=307, location=f"{other.api}/repos/acme/till/pulls/1")]
        await failure(fake)
        assert other.seen == []


async def test_a_forge_that_is_slow_is_not_waited_for(
    fake: FakeForge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "TIMEOUT_S", 0.05)
    gone = threading.Event()

    def stall(handler: BaseHTTPRequestHandler) -> None:
        gone.wait(5)

    fake.then = [stall]
    assert "could not be reached: it does not answer" in await failure(fake)
    gone.set()


async def test_a_forge_that_says_too_much_is_not_heard_out(fake: FakeForge) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
    fake.then = [raw(head, *([b" " * 1024 * 1024] * 3))]
    assert "more than can be read" in await failure(fake)


@pytest.mark.usefixtures("private_closed")
async def test_nothing_is_sent_to_private_addresses_where_that_is_off(fake: FakeForge) -> None:
    assert "could not be reached: a token goes over https only" in await failure(fake)
    assert fake.seen == []


async def test_a_page_of_another_kind_is_no_link(fake: FakeForge) -> None:
    to = open_forge(fake.kind, api_url=fake.api, path=fake.path, token=TOKEN)
    pull = {"number": 1, "state": "open", "title": "t", "html_url": "javascript:alert(1)"}
    fake.then = [answer(json.dumps(pull).encode())]
    with pytest.raises(ForgeError, match="without the address"):
        await to.read(1)


@pytest.mark.parametrize("value", ["[]", '"x"', '{"number": true}', '{"number": -1}'])
async def test_an_answer_of_another_shape_is_an_error(fake: FakeForge, value: str) -> None:
    fake.then = [answer(value.encode())]
    assert "something else than its API says" in await failure(fake)


@pytest.mark.usefixtures("private_closed")
async def test_a_token_goes_without_tls_only_to_hosts_that_are_listed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    await require_safe("https://1.1.1.1/")
    settings.ALLOWED_PRIVATE_ADDRESSES = ["127.0.0.1", "10.0.0.0/8"]
    await require_safe("http://10.0.0.1/")
    await require_safe("http://127.0.0.1:3000/")
    settings.ALLOWED_PRIVATE_ADDRESSES += ["git.lan"]
    await require_safe("http://git.lan/")
    # Where a name leads now is not where it leads when the token is sent.
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("10.0.0.1", 80))])
    for url in ("http://1.1.1.1/", "http://other.lan/"):
        with pytest.raises(FetchError, match="https only"):
            await require_safe(url)


def test_the_token_is_in_no_repr() -> None:
    to = open_forge(ForgeKind.GITLAB, api_url="https://x", path="a/b", token=TOKEN)
    assert TOKEN not in repr(vars(to))
