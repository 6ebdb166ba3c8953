"""Prometheus metrics of this process, and the text that a scrape gets.

The library is loaded by the first measurement, or by `load` in the background after a start: its
import costs as much as a good part of the rest of a start.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

CONTENT_TYPE = "text/plain; version=1.0.0; charset=utf-8"
# Seconds. Tools and turns take milliseconds with a script and many minutes with a real model.
_LONG = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)
_SHORT = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)


@dataclass(frozen=True)
class Gauge:
    """A value that is read at the moment of a scrape, by the values of its labels."""

    name: str
    help: str
    labels: tuple[str, ...]
    values: Mapping[tuple[str, ...], float]


@cache
def _library() -> ModuleType:
    return importlib.import_module("prometheus_client")


class _Instruments:
    """What is measured. Labels have few values each: never an id, a path or a person."""

    def __init__(self) -> None:
        library = _library()
        # A registry of its own: what other libraries put into the default one is not ours to show.
        self.registry = library.CollectorRegistry()
        library.ProcessCollector(registry=self.registry)
        self.operations = library.Histogram(
            "opencode_web_operation_seconds",
            "Duration of drains, turns, tool calls and compactions by how they ended.",
            ("operation", "name", "outcome"),
            buckets=_LONG,
            registry=self.registry,
        )
        self.provider_errors = library.Counter(
            "opencode_web_provider_errors",
            "Failed calls of a model by the class of the error.",
            ("error", "status"),
            registry=self.registry,
        )
        self.event_lag = library.Histogram(
            "opencode_web_event_lag_seconds",
            "From the commit of a session's event to its arrival at a process with watchers.",
            buckets=_SHORT,
            registry=self.registry,
        )


@cache
def _instruments() -> _Instruments:
    return _Instruments()


def load() -> None:
    """Load the library now, so that no turn has to."""
    _instruments()


def observe_operation(operation: str, *, name: str, outcome: str, seconds: float) -> None:
    """Count an operation that ended, and how long it took."""
    _instruments().operations.labels(operation, name, outcome).observe(seconds)


def count_provider_error(error: str, *, status: int | None) -> None:
    """Count a failed call of a model; `error` is the name of its class."""
    _instruments().provider_errors.labels(error, str(status or "")).inc()


def observe_event_lag(seconds: float) -> None:
    """Count an event that reached this process. Clocks of two hosts may differ a little."""
    _instruments().event_lag.observe(max(seconds, 0.0))


class _Rows:
    """Gauges as the library collects them."""

    def __init__(self, gauges: Sequence[Gauge]) -> None:
        self._gauges = gauges

    def collect(self) -> Iterator[Any]:  # GaugeMetricFamily of the library
        family = importlib.import_module("prometheus_client.metrics_core").GaugeMetricFamily
        for gauge in self._gauges:
            made = family(f"opencode_web_{gauge.name}", gauge.help, labels=gauge.labels)
            for labels, value in gauge.values.items():
                made.add_metric(labels, value)
            yield made


def exposition(gauges: Sequence[Gauge] = ()) -> bytes:
    """Returns: the metrics of this process and the gauges, in Prometheus' text format."""
    library = _library()
    registry = library.CollectorRegistry()
    registry.register(_Rows(gauges))
    rows: bytes = library.generate_latest(registry)
    own: bytes = library.generate_latest(_instruments().registry)
    return rows + own


def listen(first_port: int, *, host: str, tries: int = 10) -> int:
    """Serve the metrics of this process on the first free port from `first_port` on.

    Returns: the port.
    Raises: OSError when all of them are taken.
    """
    library = _library()
    for port in range(first_port, first_port + tries):
        try:
            library.start_http_server(port, addr=host, registry=_instruments().registry)
        except OSError:
            if port == first_port + tries - 1:
                raise
        else:
            return port
    raise ValueError("tries must be positive")
