from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from opencode_web.lib.json import JsonObject
from opencode_web.lib.reasons import english
from tools.errors import ToolError
from tools.sandbox.base import Command, Exit, Sandbox, SandboxError

DESCRIBE_S = 20.0
RUN_S = 300.0
MAX_OUTPUT_BYTES = 2 * 1024 * 1024
MAX_REQUEST_BYTES = 1024 * 1024
_SHOWN_CHARS = 2_000
_NODE = frozenset({".js", ".mjs", ".ts"})


@dataclass
class _Collector:
    """Keeps the end of the output: the answer is its last line."""

    data: bytes = b""

    async def __call__(self, chunk: bytes) -> None:
        self.data = (self.data + chunk)[-MAX_OUTPUT_BYTES:]


async def describe(sandbox: Sandbox, file: Path, *, cwd: Path) -> list[JsonObject]:
    """Ask a tool's file what tools it has: `{export, description, parameters}` of each.

    Raises: ToolError saying why nothing came.
    """
    answer = await _ask(sandbox, file, {"do": "describe"}, cwd=cwd, timeout_s=DESCRIBE_S)
    tools = answer.get("tools")
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise ToolError("The program did not list its tools.")
    return [tool for tool in tools if isinstance(tool, dict)]


async def run(
    sandbox: Sandbox,
    file: Path,
    *,
    export: str,
    arguments: JsonObject,
    context: JsonObject,
    cwd: Path,
    timeout_s: float = RUN_S,
) -> JsonObject:
    """Run a tool. Returns: its answer, with `output`. Raises: ToolError for the model."""
    request: JsonObject = {
        "do": "run",
        "export": export,
        "arguments": arguments,
        "context": context,
    }
    answer = await _ask(sandbox, file, request, cwd=cwd, timeout_s=timeout_s)
    if not isinstance(answer.get("output"), str):
        raise ToolError("The tool did not return a text output.")
    return answer


async def _ask(
    sandbox: Sandbox, file: Path, request: JsonObject, *, cwd: Path, timeout_s: float
) -> JsonObject:
    if sandbox.refusal:
        raise ToolError(sandbox.refusal)
    # Nobody can know it before: what the tool prints is not mistaken for its answer by chance.
    marker = f"answer-{secrets.token_hex(16)}:"
    given = json.dumps({**request, "file": str(file), "marker": marker}).encode()
    if len(given) > MAX_REQUEST_BYTES:
        raise ToolError("The arguments are too large.")
    command = Command(argv=_program(file), cwd=cwd, timeout_s=timeout_s, network=True, stdin=given)
    output = _Collector()
    try:
        ended = await sandbox.run(command, on_output=output)
    except SandboxError as exc:
        raise ToolError(f"The tool could not be run: {exc}") from exc
    return _answer(output.data.decode("utf-8", "replace"), marker, ended, timeout_s)


def _program(file: Path) -> tuple[str, ...]:
    if file.suffix in _NODE:
        return node(_text("host.mjs"))
    # A compiled file of somebody's beside a tool would be read in place of it.
    return ("python3", "-B", "-X", "pycache_prefix=/tmp/.none", "-c", _text("host.py"))


def node(text: str, *options: str) -> tuple[str, ...]:
    """Returns: the command that runs a host program which the plugin package is put before."""
    whole = _text("package.mjs") + text
    return ("node", *options, "--no-warnings", "--input-type=module", "-e", whole)


@cache
def _text(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _answer(text: str, marker: str, ended: Exit, timeout_s: float) -> JsonObject:
    printed, found, line = text.rpartition(f"\n{marker}")
    shown = (printed if found else text).strip()[-_SHOWN_CHARS:]
    said = f"\n\nIt printed:\n{shown}" if shown else ""
    if ended.timed_out:
        raise ToolError(f"The tool was stopped because it ran longer than {timeout_s:.0f} s.{said}")
    if not found:
        why = english(ended.stopped or f"it ended with exit code {ended.code}")
        raise ToolError(f"The tool did not respond: {why}.{said}")
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError) as exc:
        raise ToolError(f"The tool's response is too large or not valid JSON.{said}") from exc
    if not isinstance(answer, dict):
        raise ToolError(f"The tool's response is not a JSON object.{said}")
    if error := answer.get("error"):
        raise ToolError(f"{error}{said}")
    return answer
