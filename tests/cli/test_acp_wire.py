from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.editor import PROGRAM, environment, worktree_of
from tests.e2e.installation import Installation, free_port
from tests.e2e.rest import script, wait_for

pytestmark = [pytest.mark.deep, pytest.mark.e2e, pytest.mark.timeout(300), pytest.mark.any_database]
INITIALIZE = {"protocolVersion": 1, "clientCapabilities": {}}
Program = subprocess.Popen[str]


@contextmanager
def bridge(server: Installation, *options: str) -> Iterator[Program]:
    process = subprocess.Popen(
        [*PROGRAM, *options],
        env=environment(server),
        cwd=worktree_of(server),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def call(process: Program, id: Any, method: str, params: Any) -> dict[str, Any]:
    line = json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    return tell(process, line, id)


def tell(process: Program, line: str, id: Any) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    print(line, file=process.stdin, flush=True)
    while True:
        answer = json.loads(process.stdout.readline())
        if "method" not in answer and answer.get("id") == id:
            return dict(answer)


def test_what_is_no_message_hurts_nobody(server: Installation) -> None:
    odd = (
        "this is no JSON",
        "[]",
        '[{"jsonrpc": "2.0", "id": 7, "method": "initialize"}]',
        "null",
        '"text"',
        "[" * 100_000,
        '{"id": [], "result": 1}',
        '{"id": {}, "method": "initialize"}',
        '{"id": 1, "error": "no object"}',
        '{"id": 99, "result": {}}',
        '{"method": 5, "id": 1}',
        '{"jsonrpc": "2.0", "method": "session/cancel", "params": 5}',
        '{"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "ses_no"}}',
        "\udcff\udcfe".encode("utf-8", "surrogateescape").decode("latin-1"),
        "",
    )
    with bridge(server) as process:
        for number, line in enumerate(odd):
            assert process.stdin is not None
            print(line, file=process.stdin, flush=True)
            answer = call(process, number, "initialize", INITIALIZE)
            assert answer["result"]["protocolVersion"] == 1
        assert call(process, None, "initialize", INITIALIZE)["id"] is None
        for params in (None, [], 5, "x", {"cwd": 5}):
            assert call(process, "bad", "session/new", params)["error"]["code"] == -32602
        for name in ("_opencode/agent/list", "_opencode/usage", "_opencode/file/read"):
            for params in (None, [1], {"sessionId": 5}, {"cwd": "\0"}):
                assert call(process, "ext", name, params)["error"]["code"] == -32602


def test_a_line_without_end_is_refused_and_the_next_one_is_read(server: Installation) -> None:
    with bridge(server) as process:
        refused = tell(process, json.dumps({"id": 1, "pad": "x" * 17 * 1024 * 1024}), None)
        assert "too long" in refused["error"]["message"]
        assert "result" in call(process, 2, "initialize", INITIALIZE)


def test_a_text_that_is_half_a_character_is_taken(server: Installation) -> None:
    with bridge(server) as process:
        cwd = str(worktree_of(server))
        new = call(process, 1, "session/new", {"cwd": cwd, "mcpServers": []})
        session = new["result"]["sessionId"]
        model = {"sessionId": session, "configId": "model", "value": "demo/inline"}
        call(process, 2, "session/set_config_option", model)
        prompt = [{"type": "text", "text": "half \ud800"}]
        answer = call(process, 3, "session/prompt", {"sessionId": session, "prompt": prompt})
        assert "result" in answer or answer["error"]["code"] == -32602


def test_the_end_of_input_ends_the_bridge_and_not_the_turn(server: Installation) -> None:
    turn = script([{"text": "Slow."}, {"delay_ms": 2000}, {"text": " Done."}])
    with bridge(server) as process, server.client() as client:
        new = call(process, 1, "session/new", {"cwd": str(worktree_of(server)), "mcpServers": []})
        session = new["result"]["sessionId"]
        params = {"sessionId": session, "configId": "model", "value": "demo/inline"}
        call(process, 2, "session/set_config_option", params)
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": turn}]}
        assert process.stdin is not None
        assert process.stdout is not None
        line = json.dumps({"jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": prompt})
        print(line, file=process.stdin, flush=True)
        while "agent_message_chunk" not in process.stdout.readline():
            pass
        process.stdin.close()
        assert process.wait(10) == 0

        def last() -> bool:
            rows = client.get(f"/session/{session}/message").json()
            return any(part.get("text") == "Slow. Done." for part in rows[-1]["parts"])

        wait_for(last, seconds=60)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--listen", "0.0.0.0:4000"), "no loopback address"),
        (("--listen", "example.com:4000"), "no loopback address"),
        (("--listen", "127.0.0.1"), "HOST:PORT"),
        (("--url", "ftp://example.com"), "no address of a server"),
        (("--token-file", "/no/such/file"), "cannot be read"),
    ],
)
def test_wrong_arguments_are_told(
    server: Installation, options: tuple[str, ...], told: str
) -> None:
    with bridge(server, *options) as process:
        _, error = process.communicate(timeout=60)
        assert (process.returncode, told in error) == (2, True), error


class Connection:
    def __init__(self, port: int, until: ExitStack) -> None:
        client = until.enter_context(socket.create_connection(("127.0.0.1", port), 20))
        self.file = until.enter_context(client.makefile("rw", encoding="utf-8"))

    def call(self, method: str, params: Any) -> dict[str, Any]:
        print(
            json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}),
            file=self.file,
            flush=True,
        )
        line = self.file.readline()
        return dict(json.loads(line)) if line else {}


def test_a_port_opens_to_who_has_the_key_once(server: Installation) -> None:
    port = free_port()
    with bridge(server, "--listen", f"127.0.0.1:{port}") as process, ExitStack() as until:
        assert process.stdout is not None
        assert process.stdout.readline() == f"Listening on 127.0.0.1:{port}\n"
        key = process.stdout.readline().rpartition(": ")[2].strip()
        shown = {"methodId": "opencode-web-key", "_meta": {"key": key}}
        for method, params in (
            ("initialize", INITIALIZE),
            ("authenticate", {"methodId": "opencode-web-key", "_meta": {"key": "wrong"}}),
            ("authenticate", {"methodId": "opencode-login"}),
            ("authenticate", None),
        ):
            stranger = Connection(port, until)
            assert stranger.call(method, params)["error"]["code"] == -32000
            assert stranger.file.readline() == ""
        with socket.create_connection(("127.0.0.1", port), 20) as browser:
            browser.sendall(b"POST / HTTP/1.1\r\nHost: x\r\n\r\n" + b"x" * 100_000 + b"\n")
        friend = Connection(port, until)
        assert friend.call("authenticate", shown)["result"] == {}
        assert "result" in friend.call("initialize", INITIALIZE)
        new = {"cwd": str(worktree_of(server)), "mcpServers": []}
        assert friend.call("session/new", new)["result"]["sessionId"]
        again = Connection(port, until)
        assert again.call("authenticate", shown)["error"]["code"] == -32000
        next_key = process.stdout.readline().rpartition(": ")[2].strip()
        shown["_meta"] = {"key": next_key}
        assert Connection(port, until).call("authenticate", shown)["result"] == {}
        process.terminate()


def test_a_checkout_without_the_package_says_what_is_missing(
    server: Installation, tmp_path: Path
) -> None:
    (tmp_path / "acp.py").write_text("raise ImportError('none here')")
    env = environment(server)
    env["PYTHONPATH"] = os.pathsep.join([str(tmp_path), env["PYTHONPATH"]])
    done = subprocess.run([*PROGRAM], env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, "opencode-web-client[acp]" in done.stderr) == (2, True)
