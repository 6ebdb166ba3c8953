"""A language server that does as the project's `script.json` says; run by the sandbox's Python.

It knows lines `ERROR some words` and `WARNING …`, and names. What it hears is told in the answer to
`workspace/symbol`, so that a test can ask for it.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import time

HEARD: list[dict] = []
DOCUMENTS: dict[str, dict] = {}
SCRIPT = json.loads(pathlib.Path("script.json").read_text())
MODE = SCRIPT.get("mode", "")


def send(message: dict) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def raw(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def receive() -> dict | None:
    length = 0
    while line := sys.stdin.buffer.readline():
        if line == b"\r\n":
            return json.loads(sys.stdin.buffer.read(length))
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return None


def found_in(text: str) -> list[dict]:
    return [
        {
            "range": {
                "start": {"line": number, "character": units(line[: line.index(word)])},
                "end": {"line": number, "character": units(line)},
            },
            "severity": severity,
            "source": "scripted",
            "message": line.partition(word)[2].strip(),
        }
        for number, line in enumerate(text.split("\n"))
        for word, severity in (("ERROR", 1), ("WARNING", 2))
        if word in line
    ]


def publish(uri: str) -> None:
    document = DOCUMENTS[uri]
    for other in SCRIPT.get("others", []):
        send(
            {
                "method": "textDocument/publishDiagnostics",
                "params": {"uri": other, "diagnostics": found_in("ERROR elsewhere")},
            }
        )
    params = {"uri": uri, "diagnostics": found_in(document["text"])}
    if MODE != "unversioned":
        params["version"] = document["version"]
    if MODE == "stale":
        params["version"] -= 1
    if MODE == "hostile":
        params["diagnostics"] = [*SCRIPT["diagnostics"], *params["diagnostics"]]
    send({"method": "textDocument/publishDiagnostics", "params": params})


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def places(uri: str, name: str) -> list[dict]:
    return [
        {
            "uri": uri,
            "range": {
                "start": {"line": number, "character": units(line[: match.start()])},
                "end": {"line": number, "character": units(line[: match.end()])},
            },
        }
        for number, line in enumerate(DOCUMENTS[uri]["text"].split("\n"))
        if name
        for match in re.finditer(rf"\b{re.escape(name)}\b", line)
    ]


def name_at(uri: str, position: dict) -> str:
    line = DOCUMENTS[uri]["text"].split("\n")[position["line"]]
    before = line.encode("utf-16-le")[: position["character"] * 2].decode("utf-16-le")
    start = re.search(r"\w*$", before).group()
    return start + re.match(r"\w*", line[len(before) :]).group()


def item(uri: str, name: str) -> dict:
    return {"name": name, "kind": 12, "uri": uri, "range": {}, "selectionRange": {}, "data": [1]}


def answer(method: str, params: dict) -> object:
    uri = params.get("textDocument", {}).get("uri", "")
    name = name_at(uri, params["position"]) if "position" in params else ""
    match method:
        case "workspace/symbol" if "symbols" in SCRIPT:
            return SCRIPT["symbols"]
        case "workspace/symbol":
            return [{"name": params["query"], "heard": HEARD[-40:]}]
        case "textDocument/definition":
            return (places(uri, name) or [None])[0]
        case "textDocument/references" | "textDocument/implementation":
            return places(uri, name)
        case "textDocument/hover":
            return {"contents": {"kind": "markdown", "value": f"about {name}"}} if name else None
        case "textDocument/documentSymbol":
            return [
                {"name": word, "kind": 12}
                for word in re.findall(r"def (\w+)", DOCUMENTS[uri]["text"])
            ]
        case "textDocument/prepareCallHierarchy":
            return [item(uri, name)] if name else None
        case "callHierarchy/incomingCalls" | "callHierarchy/outgoingCalls":
            side = "from" if method.endswith("incomingCalls") else "to"
            return [{side: item("file:///x", params["item"]["name"] + "_caller"), "fromRanges": []}]
        case "textDocument/diagnostic":
            return {"kind": "full", "items": found_in(DOCUMENTS[uri]["text"])}
    return None


def flood(number: int) -> None:
    while True:
        raw(1000 * b'Content-Length: 30\r\n\r\n{"jsonrpc":"2.0","method":"x"}')


def die(number: int) -> None:
    secret = os.environ.get("SECRET", "compiler")
    sys.stderr.write(f"cannot find the {secret}\n")
    sys.exit(3)


def say(data: bytes) -> None:
    raw(data)
    time.sleep(3600)


STARTS = {
    "never_ready": lambda number: None,
    "refuses": lambda number: send({"id": number, "error": {"code": -1, "message": "no licence"}}),
    "dies": die,
    "junk": lambda number: say(b"Welcome to the server! " * 1000),
    "no_json": lambda number: say(b"Content-Length: 5\r\n\r\n{{{{{"),
    "huge": lambda number: say(b"Content-Length: 99999999\r\n\r\n"),
    "bomb": lambda number: say(b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000),
    "flood": flood,
    "columns": lambda number: send(
        {"id": number, "result": {"capabilities": {"positionEncoding": "utf-8"}}}
    ),
}


def start(number: int) -> None:
    if MODE in STARTS:
        STARTS[MODE](number)
        return
    if MODE == "banner":
        raw(b"Starting up\n")
    capabilities = {
        "textDocumentSync": {"openClose": True, "change": 1, "save": {"includeText": False}},
        **{
            f"{name}Provider": True
            for name in ("definition", "references", "hover", "documentSymbol", "workspaceSymbol")
        },
        "implementationProvider": True,
        "callHierarchyProvider": {},
    }
    if MODE == "pull":
        capabilities["diagnosticProvider"] = {"identifier": "scripted"}
    if MODE == "reopens":
        capabilities["textDocumentSync"] = {"openClose": True, "change": 0}
    capabilities.update(SCRIPT.get("capabilities", {}))
    send({"id": number, "result": {"capabilities": capabilities}})


def hear(method: str, params: dict) -> None:
    document = params.get("textDocument", {})
    uri = document.get("uri", "")
    match method:
        case "initialized":
            for count, (asked, what) in enumerate(SCRIPT.get("asks", [])):
                send({"id": f"ask-{count}", "method": asked, "params": what})
            return
        case "textDocument/didOpen":
            DOCUMENTS[uri] = document
        case "textDocument/didChange":
            text = params["contentChanges"][0]["text"]
            DOCUMENTS[uri] = {"text": text, "version": document["version"]}
        case _:
            return
    if MODE == "writes":
        try:
            pathlib.Path("planted.txt").write_text("x")
        except OSError as exc:
            HEARD.append({"write": exc.strerror})
    if MODE == "spawns":
        subprocess.Popen(["setsid", "sleep", SCRIPT["sleep"]])
    if MODE == "crashes":
        sys.exit(1)
    if MODE == "late":
        time.sleep(1)
    if MODE not in ("pull", "silent"):
        publish(uri)


def main() -> None:
    HEARD.append({"environment": dict(os.environ), "argv": sys.argv[1:]})
    contended: dict[str, int] = {}
    while (message := receive()) is not None:
        HEARD.append(
            {
                key: message[key]
                for key in ("id", "method", "params", "result", "error")
                if key in message
            }
        )
        method, number, params = message.get("method"), message.get("id"), message.get("params")
        if method is None:
            continue
        if method == "initialize":
            start(number)
        elif number is None:
            hear(method, params or {})
        elif MODE == "hangs":
            continue
        elif MODE == "busy" and contended.setdefault(method, 0) < 2:
            contended[method] += 1
            send({"id": number, "error": {"code": -32801, "message": "content modified"}})
        elif MODE == "fails":
            send({"id": number, "error": {"code": -32603, "message": "internal error"}})
        else:
            send({"id": number, "result": answer(method, params or {})})


main()
