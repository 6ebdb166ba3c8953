"""Write the server's OpenAPI document and the typed clients made from it: `make clients`.

The document is in the repository, the clients are not.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import npm

CLIENTS = Path(__file__).resolve().parent
DOCUMENT = CLIENTS / "openapi.json"
PYTHON = Path("python", "opencode_web_client")
TYPESCRIPT = Path("typescript", "src", "schema.ts")
_GENERATOR = Path("openapi-typescript", "bin", "cli.js")
_CONFIG = """\
project_name_override: opencode-web-client
package_name_override: opencode_web_client
post_hooks:
  - {ruff} check --isolated --silent --fix --exit-zero .
  - {ruff} format --isolated --quiet .
"""


def describe_api() -> bytes:
    """Returns: the OpenAPI document of the code, as JSON with sorted keys."""
    command = [sys.executable, "manage.py", "openapi"]
    with tempfile.TemporaryDirectory() as data:
        env = {"PATH": os.environ["PATH"], "HOME": data, "OPENCODE_WEB_DATA": data}
        done = subprocess.run(command, cwd=CLIENTS.parent, env=env, capture_output=True, check=True)
    return done.stdout


def make_python(target: Path) -> None:
    """Write the package into `target`, which is made anew."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "config.yaml")
        config.write_text(_CONFIG.format(ruff=Path(sys.executable).with_name("ruff")))
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        options = ["--meta", "none", "--fail-on-warning", "--output-path", str(target)]
        command = [str(Path(sys.executable).with_name("openapi-python-client")), "generate"]
        command += ["--path", str(DOCUMENT), "--config", str(config), *options]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr + done.stdout)
    for cache in target.rglob(".ruff_cache"):
        shutil.rmtree(cache)


def typescript_modules() -> Path:
    """Install what the TypeScript package needs. Returns: its `node_modules`.

    Raises: npm.Unavailable.
    """
    package = json.loads((CLIENTS / "typescript" / "package.json").read_text())
    wanted = package["devDependencies"] | package["dependencies"]
    names = [f"{name}@{version}" for name, version in sorted(wanted.items())]
    folder = npm.cache("typescript", "-".join(wanted.values()))
    npm.install(names, folder / "node_modules" / _GENERATOR, folder)
    return folder / "node_modules"


def make_typescript(target: Path) -> None:
    """Write the types into `target`. Raises: npm.Unavailable."""
    program = typescript_modules() / _GENERATOR
    command = ["node", str(program), str(DOCUMENT), "--output", str(target), "--alphabetize"]
    subprocess.run(command, check=True, capture_output=True)


def main() -> None:
    """Write the document and both clients below `clients/`. Raises: npm.Unavailable."""
    DOCUMENT.write_bytes(describe_api())
    make_python(CLIENTS / PYTHON)
    make_typescript(CLIENTS / TYPESCRIPT)


if __name__ == "__main__":
    try:
        main()
    except npm.Unavailable as exc:
        sys.exit(f"The TypeScript client, which needs Node.js and npm, was not made: {exc}")
