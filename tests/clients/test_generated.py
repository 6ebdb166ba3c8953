from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.npm import Unavailable
from clients.generate import (
    CLIENTS,
    DOCUMENT,
    PYTHON,
    TYPESCRIPT,
    describe_api,
    make_python,
    make_typescript,
    typescript_modules,
)
from tests.e2e.installation import Installation

pytestmark = [pytest.mark.e2e, pytest.mark.deep, pytest.mark.any_database, pytest.mark.timeout(300)]
STORY = """
import { createClient } from "./dist/index.js";
const [baseUrl, token] = process.argv.slice(2);
const client = createClient({ baseUrl, token });
const made = await client.POST("/session", { body: { title: "Typed" } });
const { data: listed } = await client.GET("/session", { params: { query: { limit: 5 } } });
const missing = await client.GET("/session/{session_id}", {
  params: { path: { session_id: "ses_missing" } },
});
console.log(JSON.stringify([made.data.title, listed[0].id === made.data.id, missing.error.name]));
"""


def test_the_committed_document_is_what_the_code_has() -> None:
    assert DOCUMENT.read_bytes() == describe_api(), "run `make clients`"


def test_the_python_client_works(server: Installation, tmp_path: Path) -> None:
    make_python(tmp_path / PYTHON.name)
    code = (
        "import sys\n"
        "from opencode_web_client import AuthenticatedClient\n"
        "from opencode_web_client.api.session import session_list\n"
        "from opencode_web_client.api.session import session_create\n"
        "from opencode_web_client.models import SessionCreate\n"
        "client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])\n"
        "made = session_create.sync(client=client, body=SessionCreate(title='Typed'))\n"
        "listed = session_list.sync(client=client, limit=5)\n"
        "print(made.title, listed[0].id == made.id)\n"
    )
    command = [sys.executable, "-c", code, server.url, server.token]
    path = {"PYTHONPATH": str(tmp_path), **server.env}
    done = subprocess.run(command, env=path, capture_output=True, text=True, timeout=100)
    assert done.stdout == "Typed True\n", done.stderr


def test_the_typescript_client_compiles_and_works(server: Installation, tmp_path: Path) -> None:
    package = tmp_path / TYPESCRIPT.parts[0]
    shutil.copytree(CLIENTS / package.name, package)
    try:
        make_typescript(tmp_path / TYPESCRIPT)
    except Unavailable as exc:
        pytest.skip(f"the TypeScript client: {exc}")
    (package / "node_modules").symlink_to(typescript_modules())
    tsc = package / "node_modules" / "typescript" / "bin" / "tsc"
    done = subprocess.run(["node", tsc], cwd=package, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout
    (package / "story.mjs").write_text(STORY)
    command = ["node", "story.mjs", server.url, server.token]
    told = subprocess.run(command, cwd=package, capture_output=True, text=True, timeout=100)
    assert told.returncode == 0, told.stderr
    assert json.loads(told.stdout) == ["Typed", True, "NotFoundError"]
