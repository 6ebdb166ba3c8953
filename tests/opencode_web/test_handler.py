from __future__ import annotations

import threading
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.http import HttpRequest, HttpResponse
from django.urls import path

from opencode_web.handler import PageHandler

# Django looks after the connections of a request, also of one that asks the database nothing.
pytestmark = [pytest.mark.urls(__name__), pytest.mark.django_db(transaction=True)]


def slow(request: HttpRequest) -> HttpResponse:
    return HttpResponse(threading.current_thread().name)


async def quick(request: HttpRequest) -> HttpResponse:
    return HttpResponse(threading.current_thread().name)


def broken(request: HttpRequest) -> HttpResponse:
    raise ValueError("our own fault")


urlpatterns = [path("slow", slow), path("quick", quick), path("broken", broken)]


async def get(address: str) -> tuple[int, dict[bytes, bytes], bytes]:
    scope: dict[str, Any] = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "path": address,
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
    }
    app = ApplicationCommunicator(PageHandler(), scope)
    await app.send_input({"type": "http.request", "body": b""})
    start = await app.receive_output(5)
    body = await app.receive_output(5)
    await app.wait(5)
    return start["status"], dict(start["headers"]), body["body"]


async def test_it_runs_a_synchronous_view_on_the_pool() -> None:
    status, headers, body = await get("/slow")
    assert status == 200
    assert body.startswith(b"web_")
    assert headers[b"X-Frame-Options"] == b"DENY"


async def test_it_runs_an_asynchronous_view_on_the_loop() -> None:
    status, headers, body = await get("/quick")
    assert status == 200
    assert body.decode() == threading.current_thread().name
    assert headers[b"X-Frame-Options"] == b"DENY"


async def test_it_answers_an_unknown_address() -> None:
    assert (await get("/nothing"))[0] == 404


async def test_it_answers_500_when_a_view_fails() -> None:
    assert (await get("/broken"))[0] == 500
