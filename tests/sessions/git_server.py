from __future__ import annotations

import base64
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

USER, PASSWORD = "robot", "s3cret/t0ken"


def run_git(*arguments: str, cwd: Path) -> str:
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.com",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.com",
    }
    done = subprocess.run(
        ["git", *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def make_repository(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True)
    run_git("init", "--quiet", "--initial-branch=main", cwd=folder)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    run_git("add", "--all", cwd=folder)
    run_git("commit", "--quiet", "--message", "first", cwd=folder)
    return folder


class _Handler(BaseHTTPRequestHandler):
    root: Path
    closed: bool
    stalled: threading.Event
    # The path and the Authorization of every request, as they came.
    seen: list[tuple[str, str | None]]

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        self._serve(self.rfile.read(int(self.headers.get("content-length") or 0)))

    def _serve(self, body: bytes) -> None:
        wanted = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        parts = urlsplit(self.path)
        self.seen.append((self.path, self.headers.get("authorization")))
        if parts.path.startswith("/to/"):
            _, _, place, rest = self.path.split("/", 3)
            self.send_response(302)
            self.send_header("Location", f"http://{place}/{rest}")
            self.end_headers()
            return
        if parts.path.startswith("/stall/"):
            self.stalled.wait(30)
            return
        if parts.path.startswith("/private/") and self.headers.get("authorization") != wanted:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.end_headers()
            return
        env = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": parts.path.replace("/private/", "/"),
            "QUERY_STRING": parts.query,
            "CONTENT_TYPE": self.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=env, capture_output=True, check=False
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        return


@contextmanager
def git_server(root: Path, *, seen: list[tuple[str, str | None]] | None = None) -> Iterator[str]:
    stalled = threading.Event()
    state = {"root": root, "stalled": stalled, "seen": [] if seen is None else seen}
    handler = type("Handler", (_Handler,), state)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            stalled.set()
            server.shutdown()
            thread.join()
