"""What plugins import without that anything is installed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.tools.plugins.test_host import plugin, start
from tools.errors import ToolError
from tools.plugins.host import call_tool
from tools.plugins.loaded import loaded

__all__ = ["start"]

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
PATH = ".opencode/plugin/a.js"


def returning(code: str, head: str = "") -> str:
    """A plugin with a tool that returns what the code leaves in `said`."""
    body = f"const said = {{}}; {code}; return JSON.stringify(said)"
    return head + plugin(
        f"return {{ tool: {{ go: {{ args: {{}}, execute: async () => {{ {body} }} }} }} }}"
    )


async def run(start: Any, text: str, **arguments: Any) -> Any:
    async with start(a=text) as greeted:
        assert loaded(greeted)[0].problem == ""
        answer = await call_tool(greeted.exchange, PATH, "go", arguments, {})
        return json.loads(str(answer["output"]))


ZOD = """
import { tool } from "@opencode-ai/plugin"
import z, { z as same } from "zod"
const level = z.enum(["low", "high"]).default("low").describe("How much.")
export const One = async () => ({ tool: { go: tool({ description: "Goes.", args: {
  level, at: tool.schema.string().regex(/^[a-z]+$/).transform((text) => text.toUpperCase()),
  sizes: same.array(same.number().int().positive()).optional(),
}, execute: async (args) => JSON.stringify(args) }) } })
"""


async def test_zod_describes_checks_and_changes_arguments(start: Any) -> None:
    async with start(a=ZOD) as greeted:
        [tool] = loaded(greeted)[0].tools
        parameters: Any = tool["parameters"]
        assert parameters["required"] == ["at"]
        assert parameters["properties"]["level"] == {
            "default": "low",
            "description": "How much.",
            "type": "string",
            "enum": ["low", "high"],
        }
        assert parameters["properties"]["at"]["pattern"] == "^[a-z]+$"
        answer = await call_tool(greeted.exchange, PATH, "go", {"at": "here"}, {})
        assert json.loads(str(answer["output"])) == {"level": "low", "at": "HERE"}
        with pytest.raises(ToolError, match="invalid_format"):
            await call_tool(greeted.exchange, PATH, "go", {"at": "Here 1"}, {})


BUN = """
  const bun = await import("bun")
  said.same = bun.$ === Bun.$ && bun.file === Bun.file
  said.written = await Bun.write("deep/a.txt", "hällo")
  await Bun.write(Bun.file("deep/b.json"), new Response('{"b": 1}'))
  said.text = await Bun.file("deep/a.txt").text()
  said.json = await bun.file(new URL("file://" + process.cwd() + "/deep/b.json")).json()
  said.exists = [await Bun.file("deep/a.txt").exists(), await Bun.file("none").exists()]
  said.size = [Bun.file("deep/a.txt").size, Bun.file("none").size]
  const child = Bun.spawn(["sh", "-c", "cat; echo $X; exit 3"],
    { stdin: new TextEncoder().encode("in "), env: { ...process.env, X: "x" } })
  said.out = await new Response(child.stdout).text()
  said.code = [await child.exited, child.exitCode]
  const done = Bun.spawnSync({ cmd: ["sh", "-c", "echo out; echo err >&2"] })
  said.sync = [done.success, String(done.stdout), String(done.stderr)]
  said.shell = await Bun.$`cat ${"deep/a.txt"} && exit 2`.nothrow().quiet().then((one) =>
    [one.exitCode, one.text()])
  said.failed = await Bun.$`exit 4`.catch((error) => error.exitCode)
  said.which = [Bun.which("sh") !== null, Bun.which("none-such")]
  said.found = [...new Bun.Glob("deep/*.{txt,json}").scanSync(".")].sort()
  said.matches = [["**/*.ts", "a/b/c.ts"], ["**/*.ts", "c.ts"], ["*.ts", "a/c.ts"],
    ["a?[!b].x", "abc.x"], ["a?[!b].x", "abb.x"], ["(a)+", "(a)+"]]
    .map(([pattern, text]) => new Bun.Glob(pattern).match(text))
  try { Bun.serve({}) } catch (error) { said.serve = error.message }
"""


async def test_bun_reads_writes_and_runs_in_the_sandbox(start: Any, worktree: Path) -> None:
    assert await run(start, returning(BUN)) == {
        "same": True,
        "written": 6,
        "text": "hällo",
        "json": {"b": 1},
        "exists": [True, False],
        "size": [6, 0],
        "out": "in x\n",
        "code": [3, 3],
        "sync": [True, "out\n", "err\n"],
        "shell": [2, "hällo"],
        "failed": 4,
        "which": [True, None],
        "found": ["deep/a.txt", "deep/b.json"],
        "matches": [True, True, False, True, False, True],
        "serve": "Bun.serve is not available here: plugins run in Node.js.",
    }
    assert (worktree / "deep/a.txt").read_text() == "hällo"


async def test_what_bun_starts_says_nothing_to_the_server(start: Any) -> None:
    code = """
      const child = Bun.spawn(["sh", "-c", "echo forged; echo 1 >&1"], { stdout: "inherit" })
      said.code = await child.exited
    """
    assert await run(start, returning(code)) == {"code": 0}


async def test_the_shell_has_settings_of_its_own(start: Any) -> None:
    code = """
      const shell = Bun.$.nothrow().env({ X: "y", PATH: process.env.PATH })
      said.all = await shell`echo $X; exit 1`.text()
      said.escape = Bun.$.escape("it's")
      said.lines = []
      for await (const line of Bun.$`printf 'a\\nb\\n'`.lines()) said.lines.push(line)
    """
    assert await run(start, returning(code)) == {
        "all": "y\n",
        "escape": "'it'\\''s'",
        "lines": ["a", "b"],
    }
