from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import psutil


def _first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return "none"
    return (done.stdout.strip().splitlines() or ["none"])[0]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def describe_machine() -> list[str]:
    """Returns: lines that say where and when figures were measured."""
    gib = psutil.virtual_memory().total / 2**30
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    return [
        f"Date: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        f"Machine: {os.cpu_count()} cores ({_processor()}), {gib:.0f} GiB, "
        f"{platform.system()} {platform.release()}",
        f"Python {platform.python_version()}, {_first_line('git', '--version')}, "
        f"node {_first_line('node', '--version')}, {_first_line('postgres', '--version')}, "
        f"{_first_line('redis-server', '--version')[:22]}",
        f"Load average when it began: {load}",
    ]
