from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from sessions.consumers.preview import inject
from sessions.consumers.preview.headers import Headers, from_app, to_app
from sessions.previews.origin import host_of_previews, keeps_secure_cookies, label_of

APP = "https://agents.example.com"
ORIGIN = f"https://{'a' * 26}.preview.example.net"
TAG = inject.tag_for(APP, "n0nce")


def asked(*headers: tuple[str, str]) -> dict[bytes, bytes]:
    raw = [(name.encode(), value.encode()) for name, value in headers]
    return dict(to_app(raw, port=5173, origin=ORIGIN))


def answered(name: str, value: str, *, is_secure: bool = True) -> list[bytes]:
    raw = [(name.encode(), value.encode())]
    sent = from_app(raw, port=5173, app_origin=APP, is_secure=is_secure)
    return [one for key, one in sent if key == name.lower().encode()]


def test_an_app_hears_of_a_browser_on_its_own_machine() -> None:
    heard = asked(
        ("host", "elsewhere"),
        ("origin", ORIGIN),
        ("referer", f"{ORIGIN}/page?x=1"),
        ("x-forwarded-host", "elsewhere"),
        ("connection", "keep-alive, x-hop"),
        ("x-hop", "1"),
        ("accept-encoding", "gzip"),
        ("cookie", "a=1; __Host-opencode-preview=secret; opencode-preview=secret"),
        ("accept", "text/html"),
    )
    assert heard == {
        b"host": b"localhost:5173",
        b"origin": b"http://localhost:5173",
        b"referer": b"http://localhost:5173/page?x=1",
        b"cookie": b"a=1",
        b"accept": b"text/html",
        b"accept-encoding": b"identity",
    }
    assert asked(("origin", f"{ORIGIN}.evil"))[b"origin"] == f"{ORIGIN}.evil".encode()


@pytest.mark.parametrize(
    ("name", "value", "passed"),
    [
        ("Location", "http://localhost:5173/a?b#c", [b"/a?b#c"]),
        ("Location", "http://127.0.0.1:5173//evil.example", [b"/evil.example"]),
        ("Location", "http://localhost:8000/a", [b"http://localhost:8000/a"]),
        ("Location", "https://elsewhere.example/", [b"https://elsewhere.example/"]),
        ("Set-Cookie", "__Host-opencode-preview=forged; Path=/", []),
        (
            "Set-Cookie",
            "a=1; Domain=example.net; HttpOnly; SameSite=Strict",
            [b"a=1; HttpOnly; Secure; SameSite=None; Partitioned"],
        ),
        ("X-Frame-Options", "DENY", []),
        ("Connection", "close", []),
        (
            "Content-Security-Policy",
            "script-src 'self'; Frame-Ancestors 'none'",
            [b"script-src 'self'", b"frame-ancestors https://agents.example.com"],
        ),
    ],
)
def test_what_an_app_says_holds_for_its_own_host(
    name: str, value: str, passed: list[bytes]
) -> None:
    assert answered(name, value) == passed


def test_without_tls_cookies_keep_their_own_rules() -> None:
    said = answered("Set-Cookie", "a=1; Domain=x; SameSite=Strict", is_secure=False)
    assert said == [b"a=1; SameSite=Strict"]


@pytest.mark.parametrize(
    ("pieces", "whole"),
    [
        ([b"<html><he", b"ad lang=x><title>"], b"<html><head lang=x>" + TAG + b"<title>"),
        ([b"<!DOCTYPE html>\n<p>"], b"<!DOCTYPE html>" + TAG + b"\n<p>"),
        ([b"<header>"], TAG + b"<header>"),
        ([b""], b""),
        ([b"x" * 40_000, b"<head>"], TAG + b"x" * 40_000 + b"<head>"),
    ],
)
async def test_a_page_gets_the_script_once(pieces: list[bytes], whole: bytes) -> None:
    async def stream() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    assert b"".join([chunk async for chunk in inject.with_tag(stream(), TAG)]) == whole


OURS = " ".join(f"{ORIGIN}/.opencode-web/{name}.js" for name in ("preview", "picture"))


@pytest.mark.parametrize(
    ("policy", "passed"),
    [
        ("img-src *", "img-src *"),
        ("script-src 'self'", f"script-src 'self' {OURS}"),
        # A nonce of ours would end what is allowed inline.
        ("script-src 'unsafe-inline'", f"script-src 'unsafe-inline' {OURS}"),
        (
            "Script-Src 'nonce-abc'; base-uri 'none'",
            f"script-src 'nonce-abc' {OURS}; base-uri 'none'",
        ),
        (
            "script-src 'nonce-abc' 'strict-dynamic' https:",
            "script-src 'nonce-abc' 'strict-dynamic' https: 'nonce-n0nce'",
        ),
        ("default-src 'none'", f"default-src 'none'; script-src {OURS}"),
        (
            "script-src-elem 'none'; script-src 'self'; script-src *",
            f"script-src-elem {OURS}; script-src 'self'",
        ),
        (
            "default-src 'self', script-src a",
            f"default-src 'self'; script-src 'self' {OURS}, script-src a {OURS}",
        ),
    ],
)
def test_policies_of_a_page_let_in_our_scripts_and_no_others(policy: str, passed: str) -> None:
    given = [
        (b"content-security-policy", policy.encode()),
        (b"content-security-policy-report-only", policy.encode()),
        (b"x-other", policy.encode()),
        (b"content-length", b"10"),
    ]
    found = inject.headers_with(given, TAG, origin=ORIGIN, nonce="n0nce")
    values = [value.decode() for _, value in found]
    assert values == [passed, passed, policy, str(10 + len(TAG))]


@pytest.mark.parametrize(
    ("status", "request_headers", "kind", "is_page"),
    [
        (200, [(b"sec-fetch-dest", b"iframe")], b"text/html; charset=utf-8", True),
        (200, [(b"accept", b"text/html,*/*")], b"text/html", True),
        (200, [(b"sec-fetch-dest", b"empty"), (b"accept", b"text/html")], b"text/html", False),
        (206, [(b"sec-fetch-dest", b"iframe")], b"text/html", False),
        (200, [(b"sec-fetch-dest", b"iframe")], b"application/json", False),
    ],
)
def test_only_whole_pages_get_it(
    status: int, request_headers: Headers, kind: bytes, is_page: bool
) -> None:
    assert inject.is_page(status, request_headers, [(b"content-type", kind)]) is is_page


def test_each_server_has_its_hosts(settings: object) -> None:
    label = "a" * 26
    settings.PREVIEW_HOST = ""  # type: ignore[attr-defined]  # pytest-django's
    assert label_of(f"{label}.localhost:4096") == label
    assert label_of("localhost:4096") is None
    assert label_of(f"{label}.example.net") is None
    assert host_of_previews("http://127.0.0.1:4096") == "localhost:4096"
    assert host_of_previews(APP) == ""
    settings.PREVIEW_HOST = "preview.example.net"  # type: ignore[attr-defined]
    assert label_of(f"{label}.preview.example.net") == label
    assert label_of(f"{label}.localhost") is None
    assert host_of_previews("https://agents.example.com:8443") == "preview.example.net:8443"
    assert keeps_secure_cookies(APP)
    assert not keeps_secure_cookies("http://agents.lan")
