"""A real nginx in front of an installation, with the configuration that our documentation shows."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from tests.e2e.installation import ROOT, Installation, free_port
from tests.e2e.rest import wait_for

PROGRAM = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
needs_nginx = pytest.mark.skipif(not PROGRAM, reason="nginx is not installed")
_FOLDERS = "client_body proxy fastcgi uwsgi scgi"


@contextmanager
def behind_nginx(server: Installation, folder: Path, port: int) -> Iterator[Installation]:
    """Returns: the same installation, as those who come through the proxy see it."""
    site = _shown("proxies.md") + _shown("operations.md").replace(
        "preview.example.net", "localhost"
    )
    site = re.sub(r"(?m)^\s*ssl_.*\n", "", site)
    site = site.replace("listen 443 ssl", f"listen 127.0.0.1:{port}")
    site = site.replace("127.0.0.1:4096", f"127.0.0.1:{server.port}")
    temp = "".join(f"{name}_temp_path {folder}/{name};\n" for name in _FOLDERS.split())
    config = folder / "nginx.conf"
    config.write_text(
        f"daemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{temp}{site}}}\n"
    )
    process = subprocess.Popen([str(PROGRAM), "-e", folder / "error.log", "-c", config])
    proxied = replace(server, port=port)
    try:
        wait_for(lambda: process.poll() is not None or _listens(proxied))
        assert process.poll() is None, (folder / "error.log").read_text()
        yield proxied
    finally:
        process.terminate()
        process.wait(10)


@contextmanager
def below_agents(
    server: Installation, folder: Path, host: str = "127.0.0.1", **env: str
) -> Iterator[Installation]:
    """Start an installation for a path of a host, and nginx before it."""
    port = free_port()
    server.base = "/agents"
    server.env |= {
        "PUBLIC_URL": f"http://{host}:{port}/agents",
        "TRUSTED_PROXY_COUNT": "1",
        **env,
    }
    server.start()
    server.bootstrap()
    with behind_nginx(server, folder, port) as proxied:
        yield proxied


def _shown(page: str) -> str:
    found = re.search(r"```nginx\n(.*?)```", (ROOT / "docs" / page).read_text(), re.DOTALL)
    assert found
    return found[1]


def _listens(server: Installation) -> bool:
    try:
        return httpx.get(f"{server.url}/global/health", verify=False).status_code == 200
    except httpx.HTTPError:
        return False
