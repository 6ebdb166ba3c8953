from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from opencode_web.lib import telemetry
from opencode_web.lib.db import in_db
from sessions.models import Session
from sessions.runner import run_session
from teams.models import User
from tests.sessions.factories import prompt, script


@pytest.fixture
def spans(settings: Any, monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    settings.TRACING = True
    telemetry._tracer.cache_clear()
    return exporter


@pytest.fixture(autouse=True)
def fresh_tracer() -> Iterator[None]:
    yield
    telemetry._tracer.cache_clear()


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, logger="opencode_web.operations")
    return caplog


def fields_of(lines: pytest.LogCaptureFixture) -> list[dict]:
    return [record.fields for record in lines.records if hasattr(record, "fields")]


LISTS_THEN_SAYS = [[{"tool": "list", "input": {}}, {"text": "secret words"}], [{"text": "ok"}]]


async def test_nfr_04_one_line_for_each_drain_turn_and_call(
    alice: User, session: Session, lines: pytest.LogCaptureFixture
) -> None:
    await in_db(prompt, alice, session, script(turns=[[{"events": e} for e in LISTS_THEN_SAYS]]))
    await run_session(session.pk)
    found = fields_of(lines)
    assert [(one["operation"], one["outcome"]) for one in found] == [
        ("turn", "completed"),
        ("tool", "completed"),
        ("turn", "completed"),
        ("drain", "completed"),
    ]
    assert {one["session"] for one in found} == {session.pk}
    assert [one["calls"] for one in found if one["operation"] == "turn"] == [1, 0]
    assert found[1]["name"] == "list"
    assert "secret words" not in lines.text


async def test_nfr_04_spans_of_a_drain_nest(
    alice: User, session: Session, spans: InMemorySpanExporter
) -> None:
    await in_db(prompt, alice, session, script(turns=[[{"events": e} for e in LISTS_THEN_SAYS]]))
    await run_session(session.pk)
    finished: tuple[ReadableSpan, ...] = spans.get_finished_spans()
    assert [span.name for span in finished] == ["turn", "tool list", "turn", "drain"]
    drain = finished[-1]
    assert {span.parent.span_id for span in finished[:-1] if span.parent} == {drain.context.span_id}
    assert drain.attributes is not None
    assert drain.attributes["opencode_web.session"] == session.pk


async def test_a_suspended_call_is_told_from_a_failed_one(
    alice: User, session: Session, lines: pytest.LogCaptureFixture
) -> None:
    call = {"tool": "write", "input": {"filePath": "a", "content": "b"}}
    await in_db(prompt, alice, session, script([call]))
    await run_session(session.pk)
    outcomes = [one["outcome"] for one in fields_of(lines) if one["operation"] == "tool"]
    assert outcomes == ["parked"]
