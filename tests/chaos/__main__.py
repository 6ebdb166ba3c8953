from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles

import django

from tests.chaos.scenarios import Scenario, scenario
from tests.chaos.target import Target, target


def main() -> int:
    """Returns: the exit code, 0 when every seed held."""
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="How many to play.")
    parser.add_argument("--first", type=int, default=0, help="The first of them.")
    parser.add_argument("--at-once", type=int, default=4, help="Sessions that are played at once.")
    parser.add_argument("--lease", type=int, default=12, help="LEASE_S of the server.")
    parser.add_argument("--embedded", action="store_true", help="One process on SQLite.")
    wanted = parser.parse_args()
    seeds = range(wanted.first, wanted.first + wanted.seeds)
    scenarios = [scenario(seed, embedded=wanted.embedded) for seed in seeds]
    folder = Path(tempfile.mkdtemp(prefix="ocw-chaos-"))
    with target(folder / "server", embedded=wanted.embedded, lease_s=wanted.lease) as server:
        _use_database_of(server)
        with server.client() as client:
            client.patch("/config", json={"experimental": {"batch_tool": True}}).raise_for_status()
        failed = _play_all(server, scenarios, at_once=wanted.at_once)
        if failed:
            kept = Path(tempfile.gettempdir(), f"ocw-chaos-{os.getpid()}.log")
            kept.write_text(server.log())
            print(f"The server's log: {kept}")
    return 1 if failed else 0


def _use_database_of(server: Target) -> None:
    """Look at the server's rows with the server's own models, from this process."""
    os.environ.pop("REDIS_URL", None)
    os.environ.pop("DATABASE_URL", None)
    wanted = ("DATABASE_URL", "REDIS_URL", "OPENCODE_WEB_DATA", "SECRET_KEY")
    os.environ.update({key: server.env[key] for key in wanted if key in server.env})
    if "DATABASE_URL" in server.env:
        # A fault drops every other connection.
        os.environ["DATABASE_URL"] += "?application_name=chaos"
    os.environ["DJANGO_SETTINGS_MODULE"] = "opencode_web.settings"
    django.setup()


def _play_all(server: Target, scenarios: list[Scenario], *, at_once: int) -> int:
    """Returns: how many seeds failed."""
    # Its modules are those of the server, which need the settings of `_use_database_of`.
    from django.db import close_old_connections

    from tests.chaos.play import Player, Result

    def play(one: Scenario) -> Result:
        close_old_connections()
        try:
            return Player(server, one).play()
        except Exception as exc:
            return Result(one, [f"{type(exc).__name__}: {exc}"])

    started, results = time.monotonic(), []
    with ThreadPoolExecutor(at_once) as pool:
        for result in pool.map(play, scenarios):
            results.append(result)
            shown = f"recovered in {result.recovery_s:.1f} s" if result.recovery_s else "ok"
            print(f"{result.scenario.name}: {'; '.join(result.complaints) or shown}", flush=True)
    times = sorted(result.recovery_s for result in results if result.recovery_s is not None)
    faults = Counter(result.scenario.fault for result in results)
    failed = [result for result in results if result.complaints]
    print(f"\n{len(results)} seeds in {time.monotonic() - started:.0f} s")
    print("faults: " + ", ".join(f"{count} {fault}" for fault, count in faults.most_common()))
    if len(times) > 1:
        p95 = quantiles(times, n=20, method="inclusive")[-1]
        print(f"{len(times)} recoveries: p50 {median(times):.1f} s, p95 {p95:.1f} s")
    missed = sum(1 for result in results if result.recovery_s is None)
    print(f"struck by another seed's fault before their own: {missed}")
    print(f"failed: {len(failed)}")
    return len(failed)


sys.exit(main())
