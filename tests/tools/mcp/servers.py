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

# Remembers, and does by the name of the tool what a test wants. `ask` is its own way to ask us.
LIVING = """
import json, os, sys, threading, time
count, later, ids = 0, {}, iter(range(1000, 2000))
def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def text(number, said, **more):
    say(id=number, result={"content": [{"type": "text", "text": str(said)}], **more})
def ask(number, method, params):
    later["s%d" % number] = number
    say(id="s%d" % number, method=method, params=params)
TOOLS = ["count", "die", "slow", "last", "env", "roots", "form", "grow", "fail", "steps", "heard"]
TOOLS += ["sample", "flood", "hasty"]
flooded, sampling = [], "sampling/createMessage"
heard = []
for line in sys.stdin:
    asked = json.loads(line)
    number, method, params = asked.get("id"), asked.get("method"), asked.get("params", {})
    heard.append(method or ("error" if "error" in asked else "result"))
    if method is None and str(number).startswith("f"):
        flooded.append(asked.get("error", asked.get("result")))
        if len(flooded) == 30:
            text(later.pop("flood"), json.dumps(flooded))
    elif method is None and number not in later:
        heard.append(json.dumps(asked.get("error", "late")))
    elif method is None:
        text(later.pop(number), json.dumps(asked.get("result", asked.get("error"))))
    elif method == "initialize":
        assert params["protocolVersion"] == "2025-06-18", params
        say(id=number, result={
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "instructions": json.dumps(params["capabilities"]),
        })
    elif method == "tools/list":
        takes = {"properties": {"message": {}, "requestedSchema": {}, "n": {}}}
        say(id=number, result={"tools": [{"name": one, "inputSchema": takes} for one in TOOLS]})
    elif method == "tools/call":
        name, token = params["name"], params["_meta"]["progressToken"]
        if name == "count":
            count += 1
            text(number, count)
        elif name == "die":
            sys.stderr.write("it was too much\\n")
            os._exit(3)
        elif name == "slow":
            later["slow"] = number
            say(method="notifications/progress", params={
                "progressToken": token, "progress": 1, "message": "begun",
            })
        elif name == "last":
            text(number, "last")
            text(later.pop("slow"), "first")
        elif name == "env":
            text(number, os.environ.get("GIVEN"))
        elif name == "roots":
            ask(number, "roots/list", {})
        elif name == "form":
            ask(number, "elicitation/create", params["arguments"])
        elif name == "sample":
            ask(number, sampling, params["arguments"]["message"])
        elif name == "flood":
            later["flood"] = number
            for n in range(30):
                say(id="f%d" % n, method=sampling, params=params["arguments"]["message"])
        elif name == "hasty":
            say(id="hasty", method=sampling, params=params["arguments"]["message"])
            text(number, "done without it")
        elif name == "grow":
            TOOLS.append("grown")
            say(method="notifications/tools/list_changed")
            text(number, "grown")
        elif name == "grown":
            text(number, "new")
        elif name == "fail":
            say(method="notifications/message", params={"level": "error", "data": "no disk"})
            text(number, "failed", isError=True)
        elif name == "steps":
            for step in range(3):
                say(method="notifications/progress", params={
                    "progressToken": token, "progress": step + 1, "total": 3, "message": "reading",
                })
                time.sleep(0.3)
            text(number, "read")
        elif name == "heard":
            text(number, json.dumps(heard))
"""

# Has a resource that `change` changes, and says so. Keeps what it hears in heard.txt.
TELLING = """
import json, os, sys
from pathlib import Path
held = "9 to 5"
def say(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def updated(uri="shop://hours"):
    say(method="notifications/resources/updated", params={"uri": uri})
for line in sys.stdin:
    asked = json.loads(line)
    number, method, params = asked.get("id"), asked.get("method"), asked.get("params", {})
    with Path("heard.txt").open("a") as file:
        print(method, params.get("uri", ""), file=file)
    if method == "initialize":
        say(id=number, result={
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}, "resources": {"subscribe": Path("follows").exists()}},
        })
    elif method == "tools/list":
        say(id=number, result={"tools": [{
            "name": name, "inputSchema": {"properties": {"text": {}, "uri": {}, "times": {}}},
        } for name in ("change", "die")]})
    elif method == "tools/call" and params["name"] == "die":
        os._exit(3)
    elif method == "tools/call":
        given = params["arguments"]
        held = given["text"]
        for _ in range(given.get("times", 1)):
            updated(given.get("uri", "shop://hours"))
        say(id=number, result={"content": [{"type": "text", "text": "changed"}]})
    elif method == "resources/subscribe" and params["uri"] == "shop://refused":
        say(id=number, error={"code": -32602, "message": "not this one"})
    elif method == "resources/read":
        text = held.replace("READS", Path("heard.txt").read_text())
        say(id=number, result={"contents": [{"uri": params["uri"], "text": text}]})
        if "READS" in held:
            updated()
    elif number is not None:
        say(id=number, result={})
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


def living(folder: Path) -> tuple[str, ...]:
    """Write a server that remembers. Returns: its command."""
    (folder / "living.py").write_text(LIVING)
    return ("python3", "living.py")


def telling(folder: Path) -> tuple[str, ...]:
    """Write a server that says when its resource changes. Returns: its command."""
    (folder / "telling.py").write_text(TELLING)
    (folder / "follows").touch()
    return ("python3", "telling.py")
