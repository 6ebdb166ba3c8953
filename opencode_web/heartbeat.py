"""Each process says every few seconds that it lives, and hears whether it shall drain."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path

from django.db import Error, connection

from opencode_web.lib.plugins.loading import plugin_states
from opencode_web.lib.sockets import open_sockets
from sessions.actions.processes import Vitals, forget_process, note_heartbeat, register_process
from sessions.models import ServerProcess

logger = logging.getLogger(__name__)

BEAT_S = 5.0


def _nothing_grows() -> list[str]:
    return []


def _calls_nobody() -> dict[str, dict[str, int]]:
    return {}


class Heartbeat:
    """A thread that keeps the row of this process.

    `growing` gives the sessions whose text grows here, and `providers` how calls of models have
    ended; `drains` is asked whether the process
    drains, and `set_drain` told whether it shall.
    """

    def __init__(
        self,
        kind: ServerProcess.Kind,
        *,
        growing: Callable[[], list[str]] = _nothing_grows,
        providers: Callable[[], dict[str, dict[str, int]]] = _calls_nobody,
        drains: Callable[[], bool] = lambda: False,
        set_drain: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self._kind = kind
        self._growing = growing
        self._providers = providers
        self._drains = drains
        self._set_drain = set_drain
        self._registered = False
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._live, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Say that the process ends. Waits for a beat that is under way."""
        self._end.set()
        self._thread.join(BEAT_S)

    def _live(self) -> None:
        try:
            while not self._end.is_set():
                self._try(self._beat)
                self._end.wait(BEAT_S)
            self._try(forget_process)
        finally:
            connection.close()

    def _try(self, say: Callable[[], None]) -> None:
        try:
            say()
        except Error as exc:
            # The next beat says it, or the row gets old.
            logger.warning("heartbeat.failed", exc_info=exc)
            connection.close()

    def _beat(self) -> None:
        vitals = Vitals(
            resident_bytes(),
            open_sockets(),
            tuple(self._growing()),
            self._providers(),
            plugin_states(),
        )
        shall_drain = note_heartbeat(vitals, drains=self._drains()) if self._registered else None
        if shall_drain is None:
            register_process(self._kind, vitals)
            self._registered = True
        else:
            self._set_drain(shall_drain)


def resident_bytes() -> int | None:
    """Returns: the memory of this process; None where the system does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text().split()[1]
    except OSError:
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
