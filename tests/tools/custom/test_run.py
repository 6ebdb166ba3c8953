from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.json import JsonObject
from tools.custom.run import describe, run
from tools.errors import ToolError
from tools.sandbox.base import Sandbox
from tools.sandbox.select import select_sandbox

PYTHON = '''
"""Adds numbers."""
import helper

parameters = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}

def run(arguments, context):
    print("working")
    return {"title": "Sum", "output": str(arguments["a"] + helper.ONE), "metadata": context}

async def _say(arguments, context):
    return [arguments, context["agent"]]

tools = {"say": {"description": "Says.", "run": _say}}
'''
JAVASCRIPT = """
import { tool } from "@opencode-ai/plugin"
import { ONE } from "./helper.js"

export default tool({
  description: "Adds numbers.",
  args: {
    a: tool.schema.number().int().min(1).describe("A number"),
    how: tool.schema.enum(["plain", "loud"]).default("plain"),
    tags: tool.schema.array(tool.schema.string()).optional(),
  },
  async execute(args, context) {
    console.log("working")
    context.metadata({ title: "Sum" })
    return String(args.a + ONE) + context.agent
  },
})
export const where = { description: "Where.", args: {}, execute: (_, context) => context.directory }
"""
CONTEXT: JsonObject = {"agent": "build", "directory": "/x"}


@pytest.fixture
def sandbox(tmp_path: Path, worktree: Path) -> Sandbox:
    return select_sandbox(worktree=worktree, session_dir=tmp_path / "session", network=False)


@pytest.fixture
def write(worktree: Path) -> Any:
    folder = worktree / ".opencode/tool"
    folder.mkdir(parents=True)

    def write(name: str, text: str) -> Path:
        (folder / name).write_text(text)
        return folder / name

    return write


needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")


async def test_a_tool_in_python_is_described_and_run(
    sandbox: Sandbox, worktree: Path, write: Any
) -> None:
    write("helper.py", "ONE = 1\n")
    file = write("add.py", PYTHON)
    found = await describe(sandbox, file, cwd=worktree)
    assert [(one["export"], one["description"]) for one in found] == [
        ("default", "Adds numbers."),
        ("say", "Says."),
    ]
    assert found[1]["parameters"] == {"type": "object", "properties": {}}
    given: JsonObject = {"a": 2}
    answer = await run(
        sandbox, file, export="default", arguments=given, context=CONTEXT, cwd=worktree
    )
    assert answer == {"title": "Sum", "output": "3", "metadata": CONTEXT}
    answer = await run(sandbox, file, export="say", arguments=given, context=CONTEXT, cwd=worktree)
    assert answer == {"output": '[{"a": 2}, "build"]'}
    assert not (file.parent / "__pycache__").exists()


@needs_node
async def test_a_tool_in_javascript_for_the_plugin_package_works(
    sandbox: Sandbox, worktree: Path, write: Any
) -> None:
    write("helper.js", "export const ONE = 1\n")
    file = write("add.js", JAVASCRIPT)
    found = {str(one["export"]): one for one in await describe(sandbox, file, cwd=worktree)}
    assert found["default"]["parameters"] == {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "minimum": 1, "description": "A number"},
            "how": {"enum": ["plain", "loud"], "default": "plain"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["a"],
    }
    assert found["where"]["description"] == "Where."
    answer = await run(
        sandbox, file, export="default", arguments={"a": 2}, context=CONTEXT, cwd=worktree
    )
    assert answer == {"title": "Sum", "output": "3build"}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.py", "1 / 0", r"ZeroDivisionError: division by zero \(line 1\)"),
        ("a.py", "x = 1", "neither a function `run` nor"),
        ("a.py", "import sys; print('so far'); sys.exit(3)", "SystemExit: 3"),
        ("a.py", "import os; print('so far', flush=True); os._exit(3)", "exit code 3(.|\n)*so far"),
        pytest.param("a.js", "throw new Error('no luck')", "no luck", marks=needs_node),
        pytest.param("a.js", "export const x = 1", "it exports no tool", marks=needs_node),
        pytest.param("a.ts", "export default {}", "TypeScript needs|exports no", marks=needs_node),
    ],
)
async def test_what_is_wrong_with_a_tool_is_said(
    sandbox: Sandbox, worktree: Path, write: Any, name: str, text: str, said: str
) -> None:
    with pytest.raises(ToolError, match=said):
        await describe(sandbox, write(name, text), cwd=worktree)


async def test_a_tool_has_so_long_and_no_more(sandbox: Sandbox, worktree: Path, write: Any) -> None:
    file = write("a.py", "import time\ndef run(arguments, context):\n    time.sleep(60)\n")
    with pytest.raises(ToolError, match="longer than 1 s"):
        await run(
            sandbox, file, export="default", arguments={}, context={}, cwd=worktree, timeout_s=1
        )


async def test_a_tool_sees_neither_the_server_nor_other_projects(
    sandbox: Sandbox, tmp_path: Path, worktree: Path, write: Any
) -> None:
    (tmp_path / "secret").write_text("s3cret")
    code = (
        "import os\n"
        "def run(arguments, context):\n"
        f"    found = os.path.exists({str(tmp_path / 'secret')!r})\n"
        "    own = {'GIT_CONFIG_KEY_0'}\n"
        "    named = {k for k in os.environ if 'KEY' in k or 'URL' in k} - own\n"
        "    return repr([found, sorted(named)])\n"
    )
    answer = await run(
        sandbox, write("a.py", code), export="default", arguments={}, context={}, cwd=worktree
    )
    assert answer["output"] == "[False, []]"


async def test_much_output_does_not_hide_the_answer(
    sandbox: Sandbox, worktree: Path, write: Any
) -> None:
    code = "def run(arguments, context):\n    print('x' * 5_000_000)\n    return 'end'\n"
    answer = await run(
        sandbox, write("a.py", code), export="default", arguments={}, context={}, cwd=worktree
    )
    assert answer["output"] == "end"
