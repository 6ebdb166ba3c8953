"""Runs inside the sandbox: loads a tool written in Python, describes it or runs it.

It is given to `python3 -c` as a text and must run on any Python from 3.8 on, without anything else.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

_EMPTY = {"type": "object", "properties": {}}


def load(path: str) -> dict[str, Any]:
    """Load a file. Returns: its tools by export: the module itself, and what `tools` has."""
    sys.path.insert(0, str(Path(path).parent))
    spec = importlib.util.spec_from_file_location("tool", path)
    if spec is None or spec.loader is None:
        raise ImportError("it cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules["tool"] = module
    spec.loader.exec_module(module)
    found: dict[str, Any] = {}
    if callable(getattr(module, "run", None)):
        found["default"] = {
            "description": getattr(module, "description", None) or inspect.getdoc(module) or "",
            "parameters": getattr(module, "parameters", None) or _EMPTY,
            "run": module.run,
        }
    for name, tool in (getattr(module, "tools", None) or {}).items():
        found[name] = {"description": "", "parameters": _EMPTY, **tool}
    if not found:
        raise TypeError("it has neither a function `run` nor a dict `tools`")
    return found


def describe(tools: dict[str, Any]) -> dict[str, Any]:
    """Returns: what a model has to know of each tool."""
    keys = ("description", "parameters")
    return {
        "tools": [
            {"export": name, **{key: tool[key] for key in keys}} for name, tool in tools.items()
        ]
    }


def run(tool: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    """Call a tool. Returns: what it said."""
    result = tool["run"](request["arguments"], request["context"])
    if inspect.isawaitable(result):
        result = asyncio.run(_wait(result))
    if isinstance(result, dict) and "output" in result:
        return {key: result[key] for key in ("title", "output", "metadata") if key in result}
    return {"output": result if isinstance(result, str) else json.dumps(result)}


async def _wait(result: Any) -> Any:
    return await result


def main() -> None:
    """Answer the request on standard input."""
    request = json.load(sys.stdin)
    text = ""
    try:
        tools = load(request["file"])
        if request["do"] == "describe":
            answer = describe(tools)
        else:
            answer = run(tools[request["export"]], request)
        text = json.dumps(answer)
    finally:
        text = text or json.dumps({"error": problem(request["file"])})
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(1, f"\n{request['marker']}{text}\n".encode())
        # Also when the tool wanted to exit: whatever was raised is in the answer.
        os._exit(0)


def problem(path: str) -> str:
    """Returns: what was raised, and in which line of the tool's file."""
    exc = sys.exc_info()[1]
    last = traceback.extract_tb(exc.__traceback__)[-1:] if exc else []
    where = f" (line {last[0].lineno})" if last and last[0].filename == path else ""
    return f"{type(exc).__name__}: {exc}{where}"


if __name__ == "__main__":
    main()
