from __future__ import annotations

import logging
from concurrent.futures import Executor, Future
from typing import Any

import pytest
from celery import current_app
from django.http import HttpRequest
from kombu.exceptions import OperationalError

from opencode_web.handler import FirstVisit


class Inline(Executor):
    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, **_: names.append(name))
    return names


def request_with(**attributes: object) -> HttpRequest:
    request = HttpRequest()
    for name, value in attributes.items():
        setattr(request, name, value)
    return request


def test_strangers_and_probes_load_nothing(sent: list[str]) -> None:
    visit = FirstVisit()
    visit.note(request_with(user=object()), Inline())
    assert sent == []


@pytest.mark.parametrize("mark", ["access", "auth"])
def test_the_first_request_of_somebody_signed_in_has_a_worker_warm_up_once(
    sent: list[str], mark: str
) -> None:
    visit = FirstVisit()
    visit.note(request_with(**{mark: object()}), Inline())
    visit.note(request_with(**{mark: object()}), Inline())
    assert sent == ["providers.warm_up"]


def test_a_broker_that_is_away_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(name: str, **_: object) -> None:
        raise OperationalError("no broker")

    monkeypatch.setattr(current_app, "send_task", refuse)
    with caplog.at_level(logging.WARNING):
        FirstVisit().note(request_with(auth=object()), Inline())
    assert "warm_up.not_sent" in caplog.text
    assert "no broker" in caplog.text
