"""MCP servers for tests. The first is a genuine one, of the protocol's own package."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

GENUINE = '''
import base64, os
from mcp.server.mcpserver import MCPServer, Image
server = MCPServer("shop", instructions="Ask for stock first.")

@server.tool()
def stock(item: str, count: int = 1) -> str:
    """Says what is there."""
    return f"{count} of {item} for {os.environ.get('TOKEN', 'nobody')}"

@server.tool()
def broken() -> str:
    """Fails."""
    raise ValueError("no such shelf")

@server.tool()
def picture() -> Image:
    """A picture."""
    return Image(data=b"png", format="png")

@server.resource("shop://opening-hours", mime_type="text/plain")
def hours() -> str:
    """When it is open."""
    return "9 to 5"

@server.resource("shop://shelf/{number}")
def shelf(number: str) -> str:
    """What is on a shelf."""
    return f"shelf {number}: tea"

@server.prompt()
def restock(item: str, count: str = "1") -> str:
    """Orders more."""
    return f"Order {count} of {item}, and nothing else."

server.run()
'''
# Answers by what the test has put in for ANSWERS: method → result; `None` never answers.
CANNED = """
import json, sys, time
ANSWERS = {answers}
print("hello, I am a server")
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if "method" not in asked:
        assert asked["error"]["code"] == -32601
        continue
    own = {{"jsonrpc": "2.0", "id": "s", "method": "sampling/createMessage"}}
    print(json.dumps(own), flush=True)
    answer = ANSWERS.get(asked["method"], {{}})
    if answer is None:
        time.sleep(60)
    print(json.dumps({{"jsonrpc": "2.0", "id": asked["id"], "result": answer}}), flush=True)
"""


# What a genuine server has to see in the sandbox beside the worktree: our Python, its packages.
PACKAGES = Path(sysconfig.get_path("purelib"))
LENT = (Path(sys.base_prefix), PACKAGES)


def genuine(folder: Path) -> tuple[str, ...]:
    """Write the genuine server. Returns: its command."""
    (folder / "shop.py").write_text(GENUINE)
    return (os.path.realpath(sys.executable), "shop.py")


def canned(folder: Path, answers: dict[str, object], name: str = "canned.py") -> tuple[str, ...]:
    """Write a server that gives these answers. Returns: its command."""
    hello = {"capabilities": {"tools": {}}}
    (folder / name).write_text(CANNED.format(answers=repr({"initialize": hello, **answers})))
    return ("python3", name)
