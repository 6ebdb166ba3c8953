from __future__ import annotations

import base64
import gzip
import threading
import zlib
from collections.abc import Iterator

import pytest

from opencode_web.lib.outbound import NO_ANSWER
from tests.fakes import FakeToolContext
from tests.web_server import Routes, Send, answer, raw, serve
from tools.base import ToolError
from tools.context import PermissionAsk
from tools.errors import PermissionDenied

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 30
HTML = (
    b"<html><head><title>Title</title><style>p{}</style></head><body><h1>Head</h1>"
    b"<p>Some <em>words</em>, <a href='/next'>a link</a></p><script>alert(1)</script>"
    b"<ul><li>one<li>two</ul></body></html>"
)


@pytest.fixture
def routes() -> Routes:
    return {}


@pytest.fixture
def base(routes: Routes) -> Iterator[str]:
    with serve(routes) as address:
        yield address


@pytest.fixture
def web(context: FakeToolContext) -> FakeToolContext:
    return context


async def test_a_page_comes_as_markdown_with_whole_links(
    web: FakeToolContext, routes: Routes, base: str
) -> None:
    routes["/a"] = answer(HTML, content_type="text/html; charset=utf-8")
    result = await web.call("webfetch", url=f"{base}/a")
    assert result.output == (
        f"Title\n\n# Head\n\nSome *words*, [a link]({base}/next)\n\n- one\n- two"
    )
    assert result.title == f"{base}/a (text/html)"
    (ask,) = web.asks
    assert (ask.permission, ask.patterns, ask.always) == ("webfetch", (f"{base}/a",), ("*",))
    assert ask.metadata == {"url": f"{base}/a", "format": "markdown"}


async def test_a_page_comes_as_text_or_as_it_is(
    web: FakeToolContext, routes: Routes, base: str
) -> None:
    routes["/a"] = answer(HTML, content_type="text/html")
    result = await web.call("webfetch", url=f"{base}/a", format="text")
    assert result.output == "Title\n\nHead\n\nSome words, a link\n\none\n\ntwo"
    result = await web.call("webfetch", url=f"{base}/a", format="html")
    assert result.output == HTML.decode()


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ("Grüße".encode("latin-1"), "text/plain; charset=latin-1", "Grüße"),
        ("Grüße".encode(), "text/plain", "Grüße"),
        ("Grüße".encode("utf-16"), "text/plain", "Grüße"),
        ("\ufeffGrüße".encode(), "text/plain; charset=latin-1", "Grüße"),
        ("<meta charset='euc-kr'>한".encode("euc-kr"), "text/css", "<meta charset='euc-kr'>한"),
        (b"<?xml version='1.0' encoding='cp1252'?>\x80", "text/xml", None),
        (b"caf\xe9", "text/plain; charset=utf-8", "caf\ufffd"),
        (b"x-", "text/plain; charset=punycode", "x-"),
        (b"abc", "text/plain; charset=rot13", "abc"),
        (b"abc", "text/plain; charset=no-such", "abc"),
        (b'{"a": 1}', "application/json", '{"a": 1}'),
        (b"a: 1", "application/vnd.x+yaml", "a: 1"),
        (b"<svg/>", "image/svg+xml", "<svg/>"),
        (b"#!/bin/sh", "", "#!/bin/sh"),
        (b"print()", "application/octet-stream", "print()"),
        (b"", "text/plain", "(The page is empty.)"),
    ],
)
async def test_text_is_read_in_its_charset(
    web: FakeToolContext, routes: Routes, base: str, body: bytes, kind: str, text: str | None
) -> None:
    routes["/a"] = answer(body, content_type=kind)
    result = await web.call("webfetch", url=f"{base}/a", format="html")
    assert result.output == (text if text is not None else body.decode("cp1252"))


async def test_pictures_are_attached(web: FakeToolContext, routes: Routes, base: str) -> None:
    routes["/a"] = answer(b"%PDF-1.4 ...", content_type="application/pdf")
    result = await web.call("webfetch", url=f"{base}/a")
    assert result.output == "PDF fetched successfully"
    (file,) = result.attachments
    assert file.url == "data:application/pdf;base64," + base64.b64encode(b"%PDF-1.4 ...").decode()


async def test_redirects_are_asked_for_too(web: FakeToolContext, routes: Routes, base: str) -> None:
    routes["/a"] = answer(status=302, location="/b#part")
    routes["/b"] = answer(b"there")
    result = await web.call("webfetch", url=f"{base}/a")
    assert (result.output, result.metadata["url"]) == ("there", f"{base}/b")
    assert [ask.patterns for ask in web.asks] == [(f"{base}/a",), (f"{base}/b",)]


async def test_a_rule_about_an_address_holds_for_where_others_lead(
    web: FakeToolContext, routes: Routes, base: str
) -> None:
    def deny(ask: PermissionAsk) -> None:
        if ask.patterns[0].endswith("/secret"):
            raise PermissionDenied("A rule denies it.")

    web.on_ask = deny
    reached = []
    routes["/a"] = answer(status=307, location="/secret")
    routes["/secret"] = lambda _handler: reached.append(True)
    with pytest.raises(PermissionDenied):
        await web.call("webfetch", url=f"{base}/a")
    assert reached == []


async def test_a_guard_that_wants_a_browser_is_asked_once_more_plainly(
    web: FakeToolContext, routes: Routes, base: str
) -> None:
    agents: list[str] = []

    def guard(handler: object) -> None:
        agents.append(handler.headers["user-agent"])  # type: ignore[attr-defined]
        send = answer(b"in") if agents[1:] else answer(status=403, cf_mitigated="challenge")
        send(handler)  # type: ignore[arg-type]

    routes["/a"] = guard
    assert (await web.call("webfetch", url=f"{base}/a")).output == "in"
    assert ("Mozilla" in agents[0], agents[1]) == (True, "opencode")


async def test_compressed_pages_are_read(web: FakeToolContext, routes: Routes, base: str) -> None:
    squeeze = zlib.compressobj(wbits=-15)
    bare = squeeze.compress(b"text") + squeeze.flush()
    routes["/g"] = answer(gzip.compress(b"text"), content_encoding="gzip")
    routes["/z"] = answer(zlib.compress(b"text"), content_encoding="deflate")
    routes["/b"] = answer(bare, content_encoding="deflate")
    for path in ("/g", "/z", "/b"):
        assert (await web.call("webfetch", url=base + path)).output == "text"


def bomb() -> bytes:
    return gzip.compress(b"\0" * 200_000_000, 1)


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n"
DRIP = HEAD + b"content-length: 1000\r\n\r\n"

# What a site may answer with, and what is said of it.
HOSTILE_SITES: list[tuple[str, Send, str]] = [
    ("not found", answer(status=404), "404 Not Found"),
    ("closed", answer(status=401), "not open to everybody"),
    ("forbidden", answer(status=403), "not open to everybody"),
    ("too often", answer(status=429), "429"),
    ("broken", answer(status=500), "500"),
    ("not modified", answer(status=304), "304"),
    ("announced too large", answer(b"x", content_length="5242881"), "Response too large"),
    ("huge length", answer(b"x", content_length="9" * 40), "cannot be fetched"),
    ("too large", raw(HEAD + b"\r\n", b"x" * 5_242_881), "Response too large"),
    ("bomb", lambda it: answer(bomb(), content_encoding="gzip")(it), "Response too large"),
    ("damaged", answer(b"no gzip", content_encoding="gzip"), "damaged"),
    (
        "damaged later",
        answer(gzip.compress(b"x" * 999)[:-9] + b"?" * 99, content_encoding="gzip"),
        "damaged",
    ),
    ("brotli", answer(b"x", content_encoding="br"), "not asked for"),
    ("twice", answer(b"x", content_encoding="gzip, gzip"), "not asked for"),
    ("program", answer(b"\x7fELF\0\0", content_type="application/octet-stream"), "neither text"),
    ("zip", answer(b"PK\3\4", content_type="application/zip"), "application/zip"),
    ("video", answer(b"....", content_type="video/mp4"), "video/mp4"),
    ("no picture", answer(b"....", content_type="image/png"), "neither text"),
    ("round", answer(status=301, location="/a"), "redirects too often"),
    ("file", answer(status=302, location="file:///etc/passwd"), "must start with http"),
    ("ftp", answer(status=302, location="ftp://example.com/"), "must start with http"),
    ("script", answer(status=302, location="javascript:alert(1)"), "cannot be fetched"),
    ("gopher", answer(status=302, location="gopher://127.0.0.1:6379/_x"), "must start with http"),
    ("password", answer(status=302, location="http://u:p@example.com/"), "password"),
    ("metadata", answer(status=302, location="http://169.254.169.254/latest/"), NO_ANSWER),
    ("mapped", answer(status=302, location="http://[::ffff:169.254.169.254]/"), NO_ANSWER),
    ("nat64", answer(status=302, location="http://[64:ff9b::a9fe:a9fe]/"), NO_ANSWER),
    ("backslash", answer(status=302, location="http:\\\\169.254.169.254\\"), "cannot be"),
    ("decimal", answer(status=302, location="http://2852039166/"), NO_ANSWER),
    ("no host", answer(status=302, location="http://"), "cannot be fetched"),
    ("port", answer(status=302, location="http://example.com:99999999/"), "cannot be fetched"),
    ("no http", raw(b"SSH-2.0-OpenSSH_9\r\n"), "cannot be fetched"),
    ("nothing", raw(), "cannot be fetched"),
    ("cut", raw(DRIP + b"x"), "cannot be fetched"),
    ("headers", raw(HEAD, *[b"x-%d: %s\r\n" % (n, b"y" * 9_000) for n in range(40)]), "cannot be"),
    ("bad chunk", raw(HEAD + b"transfer-encoding: chunked\r\n\r\nzz\r\n"), "cannot be fetched"),
]


@pytest.mark.parametrize(
    ("send", "why"),
    [(send, why) for _, send, why in HOSTILE_SITES],
    ids=[name for name, _, _ in HOSTILE_SITES],
)
async def test_a_hostile_site_costs_the_call_only(
    web: FakeToolContext, routes: Routes, base: str, send: Send, why: str
) -> None:
    routes["/a"] = send
    with pytest.raises(ToolError, match=why):
        await web.call("webfetch", url=f"{base}/a")


@pytest.mark.parametrize(
    ("start", "why"),
    [
        (b"", NO_ANSWER),
        (b"HTTP/1.1 200 OK\r\n", NO_ANSWER),
        (DRIP, r"longer than 0\.4 s"),
        (HEAD + b"transfer-encoding: chunked\r\n\r\n", r"longer than 0\.4 s"),
    ],
)
async def test_a_slow_drip_ends_with_the_time(
    web: FakeToolContext, routes: Routes, base: str, start: bytes, why: str
) -> None:
    over = threading.Event()
    piece = b"1\r\nx\r\n" if b"chunked" in start else b"x: y\r\n"
    routes["/a"] = raw(start, *[piece] * 100, pause=over)
    try:
        with pytest.raises(ToolError, match=why):
            await web.call("webfetch", url=f"{base}/a", timeout=0.4)
    finally:
        over.set()


# Addresses that lead to this machine, its networks or its cloud, or are none.
HOSTILE_URLS = [
    "http://127.0.0.1/",
    "http://127.1/",
    "http://127.255.255.254/",
    "http://0/",
    "http://0.0.0.0/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.0.0.1.:80/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[64:ff9b::127.0.0.1]/",
    "http://[64:ff9b:1::10.0.0.1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:a9fe:a9fe::]/",
    "http://[2001:0:7f00:1::]/",
    "http://[fe80::1]/",
    "http://[fec0::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[fd20:ce::254]/",
    "http://[ff02::1]/",
    "http://[100::1]/",
    "http://[2001:db8::1]/",
    "http://[4000::1]/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://192.0.0.1/",
    "http://192.0.2.1/",
    "http://198.18.0.1/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.170.2/v2/credentials",
    "http://2852039166/",
    "http://0xA9FEA9FE/",
    "http://0251.0376.0251.0376/",
    "http://168.63.129.16/",
    "http://100.100.100.200/",
    "http://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460/",
    "http://127\u30020\u30020\u30021/",
    "http://user@example.com/",
    "http://user:password@example.com/",
    "http://@example.com/",
    "http://example.com@127.0.0.1/",
    "http://example.com#@127.0.0.1\\",
    "http://example.com\\@127.0.0.1/",
    "http://exa mple.com/",
    "http://example.com/\r\nHost: x",
    "http://example.com/\0",
    "http://example.com:99999/",
    "http://example.com:-1/",
    "http://[::1/",
    "http://[zz::1]/",
    "http://",
    "http:///path",
    "http:example.com",
    "http://" + "a" * 9_000,
    "http://a." + "b" * 70 + ".example/",
    "https://127.0.0.1/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "data:text/plain,x",
    "javascript:alert(1)",
    "//example.com/",
    "example.com",
    "",
]


@pytest.mark.parametrize("url", HOSTILE_URLS)
@pytest.mark.usefixtures("private_closed")
async def test_no_address_leads_inside(context: FakeToolContext, url: str) -> None:
    with pytest.raises(ToolError, match=r"cannot be fetched|must start with"):
        await context.call("webfetch", url=url, timeout=5)


def test_there_are_enough_of_them() -> None:
    assert len(HOSTILE_URLS) + len(HOSTILE_SITES) >= 100


async def test_nothing_is_fetched_before_the_answer(
    web: FakeToolContext, routes: Routes, base: str
) -> None:
    def deny(_ask: PermissionAsk) -> None:
        raise PermissionDenied("no")

    web.on_ask = deny
    with pytest.raises(PermissionDenied):
        await web.call("webfetch", url=f"{base}/never")


@pytest.mark.parametrize(
    ("arguments", "field"), [({"format": "pdf"}, "format"), ({"timeout": 0}, "timeout")]
)
async def test_wrong_arguments_are_named(
    context: FakeToolContext, arguments: dict[str, object], field: str
) -> None:
    with pytest.raises(ToolError, match=field):
        await context.call("webfetch", url="http://example.com", **arguments)
