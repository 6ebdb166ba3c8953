"""One tool call in a repository of 50,000 files: its own time, beside the bare program."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.api import Api, Json
from bench.repository import NEEDLE, Repository
from bench.stats import median

COUNT = 10
WARM_UP = 2


@dataclass(frozen=True)
class _Call:
    """`arguments` of the n-th call; `bare` is the program that it cannot be faster than."""

    tool: str
    arguments: Callable[[int], dict[str, str]]
    bare: Sequence[str] = ()


def _calls(repository: Repository) -> list[_Call]:
    counter = str(Path(repository.directory) / "counter.txt")
    box = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all"]
    glob = "**/file_77*.txt"
    command = {"command": "true", "description": "Nothing"}

    def edit(number: int) -> dict[str, str]:
        old, new = f"counter = {number}\n", f"counter = {number + 1}\n"
        return {"filePath": counter, "oldString": old, "newString": new}

    return [
        _Call("read", lambda _: {"filePath": repository.file}),
        _Call("glob", lambda _: {"pattern": glob}, ["rg", "--files", "-g", glob]),
        _Call("grep", lambda _: {"pattern": NEEDLE}, ["rg", "-n", NEEDLE, "."]),
        _Call("list", lambda _: {"path": str(Path(repository.file).parent)}),
        _Call("edit", edit),
        _Call("bash", lambda _: command, [*box, "bash", "-c", "true"]),
    ]


async def measure_calls(api: Api, repository: Repository, *, count: int) -> dict[str, float | str]:
    """Returns: by row, milliseconds of a call, its turn and the bare program, medians."""
    values: dict[str, float | str] = {}
    for call in _calls(repository):
        own, turn = await _measure(api, repository, call, count=count)
        values[f"tools.{call.tool}"] = own
        values[f"tools.{call.tool}.turn"] = turn
        bare = await asyncio.to_thread(_bare_ms, call.bare, repository.directory, count)
        values[f"tools.{call.tool}.bare"] = bare
        if isinstance(own, float) and isinstance(bare, float):
            values[f"tools.{call.tool}.beyond"] = own - bare
    return values


async def _measure(
    api: Api, repository: Repository, call: _Call, *, count: int
) -> tuple[float | str, float | str]:
    """Returns: milliseconds of the call, and of the turn with its two answers and snapshots."""
    session = await api.create_session()
    # One that was not read cannot be edited everywhere.
    if call.tool == "edit":
        given = json.dumps({"filePath": call.arguments(0)["filePath"]})
        await api.prompt(session, f"BENCH call read {given}")
    turns = []
    for number in range(WARM_UP + count):
        given = json.dumps(call.arguments(number))
        started = time.monotonic()
        await api.prompt(session, f"BENCH call {call.tool} {given}")
        turns.append((time.monotonic() - started) * 1000)
    parts = [
        part
        for message in await api.messages(session)
        for part in message["parts"]
        if part["type"] == "tool" and part["tool"] in (call.tool, "invalid")
    ]
    reason = _unusable(parts, WARM_UP + count)
    if reason:
        return f"not measured: {reason}", f"not measured: {reason}"
    own = median([_took_ms(part["state"]) for part in parts[WARM_UP:]])
    return float(own), float(median(turns[WARM_UP:]))


def _unusable(parts: list[Json], count: int) -> str:
    if any(part["tool"] == "invalid" for part in parts):
        return "no such tool"
    failed = next((part["state"] for part in parts if part["state"]["status"] != "completed"), None)
    if failed:
        return str(failed.get("error"))[:80]
    return "" if len(parts) == count else f"{len(parts)} calls of {count}"


def _took_ms(state: Json) -> float:
    return float(state["time"]["end"] - state["time"]["start"])


def _bare_ms(command: Sequence[str], folder: str, count: int) -> float | str:
    if not command:
        return 0.0
    if shutil.which(command[0]) is None:
        return f"not measured: no {command[0]}"
    walls = []
    for _ in range(WARM_UP + count):
        started = time.monotonic()
        subprocess.run(command, cwd=folder, capture_output=True, timeout=60, check=False)
        walls.append((time.monotonic() - started) * 1000)
    return float(median(walls[WARM_UP:]))
