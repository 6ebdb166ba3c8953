"""A registry of npm packages on loopback, and packages to put into it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote


def packed(files: dict[str, str], *, links: dict[str, str] | None = None) -> bytes:
    """Returns: a package's file, with these files below package/."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(f"package/{name}")
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)
    return gzip.compress(whole.getvalue())


class FakeRegistry:
    """What was asked for is in `asked`; `answers` are said in the place of what there is."""

    def __init__(self) -> None:
        self.address = ""
        self.asked: list[str] = []
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self._packages: dict[str, dict[str, Any]] = {}
        self._files: dict[str, bytes] = {}

    def put(
        self,
        name: str,
        version: str,
        files: dict[str, str] | bytes,
        *,
        main: str = "index.js",
        **more: Any,
    ) -> None:
        """Publish a package; `more` stands in its package.json."""
        about = {"name": name, "version": version, "main": main, "type": "module", **more}
        if isinstance(files, dict):
            files = packed({"package.json": json.dumps(about), **files})
        path = f"/{name}/-/{version}.tgz"
        self._files[path] = files
        digest = base64.b64encode(hashlib.sha512(files).digest()).decode()
        dist = {"tarball": f"{self.address}{path}", "integrity": f"sha512-{digest}"}
        package = self._packages.setdefault(name, {"versions": {}, "dist-tags": {}})
        package["versions"][version] = {**about, "dist": dist}
        package["dist-tags"]["latest"] = version

    def about(self, name: str, version: str) -> dict[str, Any]:
        """Returns: what it says of a version, which can be changed."""
        found: dict[str, Any] = self._packages[name]["versions"][version]
        return found

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Returns: the answer to a GET."""
        self.asked.append(path)
        if path in self.answers:
            return self.answers[path]
        if path in self._files:
            return 200, {}, self._files[path]
        package = self._packages.get(path[1:])
        return (200, {}, json.dumps(package).encode()) if package else (404, {}, b"{}")


@contextmanager
def serving() -> Iterator[FakeRegistry]:
    """Serve an empty registry."""
    registry = FakeRegistry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = registry.answer(unquote(self.path))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    registry.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
