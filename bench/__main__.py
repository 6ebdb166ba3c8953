"""Measure and print one table. Ctrl+C ends every process that was started."""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.machine import describe_machine
from bench.measure import BROWSER, FAULTS, REQUESTS, TOOLS, Plan, measure
from bench.npm import Unavailable
from bench.ours import ROOT, embedded, scaled
from bench.reference import VERSION, reference
from bench.report import GENUINE, Column, build_table, to_text, write_results
from bench.server import Server

TITLES = {
    GENUINE: f"opencode serve {VERSION}",
    "embedded": "ours, embedded",
    "scaled": "ours, PostgreSQL + Redis",
}
# Stand among the servers: no columns of the table, but some of its rows.
_GROUPS = (TOOLS, REQUESTS, BROWSER)


@contextmanager
def _endpoint() -> Iterator[str]:
    """Returns: the base URL of the scripted model, in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.endpoint"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.stdin.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5)


@contextmanager
def _server(key: str, work: Path, endpoint: str) -> Iterator[Server]:
    if key == "scaled":
        with scaled(work, endpoint) as server:
            yield server
    else:
        yield embedded(work, endpoint) if key == "embedded" else reference(work, endpoint)


def _measure(key: str, endpoint: str, plan: Plan) -> Column:
    with tempfile.TemporaryDirectory(prefix="ocw-bench-", ignore_cleanup_errors=True) as folder:
        try:
            with _server(key, Path(folder) / key, endpoint) as server:
                return Column(key, server.title, asyncio.run(measure(server, plan, _say)))
        except (Unavailable, *FAULTS) as exc:  # at its set-up; the others go on
            _say(f"{TITLES[key]}: {exc}")
            return Column(key, TITLES[key], {}, reason=f"not measured: {exc}")


def _say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


def _revision() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a fifth of the work, rough figures")
    help_only = "just this server, or just this group of rows"
    choices = sorted([*TITLES, *_GROUPS])
    parser.add_argument("--only", choices=choices, action="append", help=help_only)
    parser.add_argument("--no-write", action="store_true", help="leave RESULTS.md as it is")
    options = parser.parse_args()
    only = set(options.only or ())
    machine = describe_machine()
    group = next((one for one in _GROUPS if one in only), "")
    plan = Plan(quick=options.quick, only=group)
    servers = only - set(_GROUPS) or set(TITLES)
    with _endpoint() as endpoint:
        columns = [
            _measure(key, endpoint, plan)
            if key in servers
            else Column(key, title, {}, reason="left out of this run")
            for key, title in TITLES.items()
        ]
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    notes = {"Our revision": _revision(), "Load average when it ended": load}
    notes |= {column.title: column.reason for column in columns if column.reason}
    table = build_table(columns)
    print("\n".join([*machine, *(f"{name}: {note}" for name, note in notes.items())]))
    print(f"\n{to_text(table)}")
    if not (options.no_write or options.quick or options.only):
        write_results(table, machine=machine, notes=notes)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
