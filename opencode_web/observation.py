"""Let operators look into a process from outside: spans go out, and workers serve their metrics."""

from __future__ import annotations

import logging
import threading

from django.conf import settings

from opencode_web.lib import metrics, telemetry

logger = logging.getLogger(__name__)


def observe(process: str) -> None:
    """Begin with what the settings ask for. `process` is web or worker."""
    if settings.TRACING:
        try:
            telemetry.start_exporter(f"opencode-web-{process}")
        except ImportError as exc:
            logger.warning(
                "No spans are sent: OTEL_EXPORTER_OTLP_ENDPOINT is set, but %s is not installed. "
                "Install opentelemetry-sdk and opentelemetry-exporter-otlp-proto-http.",
                exc.name,
            )
    if process == "worker" and settings.METRICS_PORT:
        try:
            metrics.listen(settings.METRICS_PORT, host=settings.METRICS_HOST)
        except OSError as exc:
            logger.warning(
                "The metrics of this worker are not served from port %d on: %s. "
                "Choose another METRICS_PORT.",
                settings.METRICS_PORT,
                exc.strerror,
            )
    # Who waits for the first pages goes first; the first turn finds it loaded.
    timer = threading.Timer(3.0, metrics.load)
    timer.daemon = True
    timer.start()
