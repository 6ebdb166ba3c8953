"""What operators see of the work: for each operation one log line, one span, one measurement.

with operation("turn", session=session_id) as turn:
    ...
    turn.outcome = "completed"
    turn.note(calls=2)
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

from django.conf import settings

from opencode_web.lib.metrics import observe_operation

logger = logging.getLogger("opencode_web.operations")

Value = str | int | float | bool


class Operation:
    """A drain, turn, tool call or compaction under way.

    Without a word it is `completed`, `stopped` when cancelled and `failed` when it raises.
    """

    def __init__(self, kind: str, name: str, fields: dict[str, Value]) -> None:
        self.kind = kind
        self.name = name
        self.outcome = ""
        self.fields = fields

    def note(self, **fields: Value) -> None:
        """Add to the log line and the span. Ids, counts and classes; never text of a person."""
        self.fields.update(fields)


@contextmanager
def operation(kind: str, *, name: str = "", **fields: Value) -> Iterator[Operation]:
    """Measure what runs inside, in whatever way it ends. Spans nest as the calls do.

    `name` tells kinds of the same operation apart, such as tools: it has few values.
    """
    done = Operation(kind, name, fields)
    started = time.monotonic()
    with _span(kind if not name else f"{kind} {name}") as span:
        try:
            yield done
        except asyncio.CancelledError:
            done.outcome = done.outcome or "stopped"
            raise
        except BaseException:
            done.outcome = done.outcome or "failed"
            raise
        finally:
            done.outcome = done.outcome or "completed"
            seconds = time.monotonic() - started
            observe_operation(kind, name=name, outcome=done.outcome, seconds=seconds)
            line = {"outcome": done.outcome, **({"name": name} if name else {}), **done.fields}
            if span is not None:
                span.set_attributes({f"opencode_web.{key}": value for key, value in line.items()})
            logged = {"operation": kind, **line, "ms": round(seconds * 1000, 1)}
            logger.info("%s ended", kind, extra={"fields": logged})


def _span(name: str) -> AbstractContextManager[Any]:  # a Span of OpenTelemetry, or None
    if not settings.TRACING:
        return nullcontext()
    # An interrupted turn is no fault of the program, so nothing is recorded by itself.
    return _tracer().start_as_current_span(  # type: ignore[no-any-return]
        name, record_exception=False, set_status_on_exception=False
    )


@cache
def _tracer() -> Any:  # a Tracer: the library is loaded only where somebody wants spans
    return importlib.import_module("opentelemetry.trace").get_tracer("opencode_web")


def start_exporter(service: str) -> None:
    """Send the spans of this process where OTEL_EXPORTER_OTLP_ENDPOINT says.

    Raises: ImportError without the packages of the SDK and the exporter.
    """
    trace = importlib.import_module("opentelemetry.trace")
    sdk = importlib.import_module("opentelemetry.sdk.trace")
    export = importlib.import_module("opentelemetry.sdk.trace.export")
    resources = importlib.import_module("opentelemetry.sdk.resources")
    otlp = importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    resource = resources.Resource.create({"service.name": service})
    provider = sdk.TracerProvider(resource=resource)
    provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
