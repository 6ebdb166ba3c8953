from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest
from django.db import connections

from opencode_web.heartbeat import Heartbeat, resident_bytes
from opencode_web.lib.sockets import counted_socket, open_sockets
from sessions.actions.processes import Vitals, forget_process, note_heartbeat, register_process
from sessions.models import ServerProcess
from sessions.processes import living_processes, process_name

WORKER = ServerProcess.Kind.WORKER


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.django_db
def test_a_process_says_that_it_lives() -> None:
    register_process(WORKER, Vitals(1000))
    calls = {"demo": {"": 2, "RateLimited": 1}}
    assert note_heartbeat(Vitals(2000, 3, ("ses_1",), calls), drains=False) is False
    row = living_processes().get()
    assert row.name == process_name()
    assert row.name.endswith(f":{os.getpid()}")
    assert (row.memory_bytes, row.sockets, row.growing) == (2000, 3, ["ses_1"])
    assert row.providers == calls
    forget_process()
    assert not ServerProcess.objects.exists()
    assert note_heartbeat(Vitals(None), drains=False) is None


@pytest.mark.django_db
def test_a_new_process_knows_nothing_of_what_an_earlier_one_was_asked() -> None:
    register_process(WORKER, Vitals(1000))
    row = ServerProcess.objects.get()
    row.drain_since = row.seen_at
    row.save()
    assert note_heartbeat(Vitals(1000), drains=True) is True
    assert ServerProcess.objects.get().drain_heard
    register_process(WORKER, Vitals(1000))
    assert note_heartbeat(Vitals(1000), drains=False) is False


@pytest.mark.django_db(transaction=True)
def test_the_thread_registers_hears_and_forgets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opencode_web.heartbeat.BEAT_S", 0.05)
    drains: list[bool] = []
    heartbeat = Heartbeat(
        WORKER,
        growing=lambda: ["ses_9"],
        drains=lambda: bool(drains and drains[-1]),
        set_drain=drains.append,
    )
    heartbeat.start()
    try:
        eventually(lambda: drains[-1:] == [False])
        row = ServerProcess.objects.get()
        assert row.growing == ["ses_9"]
        ServerProcess.objects.update(drain_since=row.seen_at)
        eventually(lambda: ServerProcess.objects.get().drain_heard)
        # Whoever clears the table is answered by the next beat.
        ServerProcess.objects.all().delete()
        eventually(ServerProcess.objects.exists)
    finally:
        monkeypatch.setattr("opencode_web.heartbeat.BEAT_S", 20)
        heartbeat.end()
    assert not ServerProcess.objects.exists()
    connections.close_all()


def test_memory_and_sockets_are_counted() -> None:
    assert (resident_bytes() or 0) > 1024 * 1024
    before = open_sockets()
    with counted_socket():
        assert open_sockets() == before + 1
    assert open_sockets() == before
