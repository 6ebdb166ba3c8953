"""Install what the action needs into an environment of its own, and say where its Python is.

With a server only the command line is installed, which is pure Python, so Windows will do. Without
one it is the whole server, from this checkout or from the wheel beside this file.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
# Set on Ubuntu; the sandbox of commands needs user namespaces.
APPARMOR = "kernel.apparmor_restrict_unprivileged_userns"


def main() -> int:
    server, sandbox = os.environ["OCW_SERVER"].strip(), os.environ["OCW_SANDBOX"].strip()
    if sandbox not in {"on", "off"}:
        return refuse("The input `sandbox` is `on` or `off`.")
    if server and not os.environ["OCW_TOKEN"].strip():
        return refuse("The input `server` needs `token`, an API token of a service account there.")
    if not server and sys.platform == "win32":
        return refuse("On Windows the action needs a server: set the inputs `server` and `token`.")
    if not server and sys.platform != "linux" and sandbox == "on":
        return refuse(
            "The sandbox needs Linux. Set `sandbox: off` to run the agent's commands with the "
            "rights of this job, or use a server."
        )
    folder = Path(os.environ["RUNNER_TEMP"], f"opencode-web-{'client' if server else 'server'}")
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not python.exists():
        run(sys.executable, "-m", "venv", str(folder))
        for arguments in client_parts() if server else server_parts():
            run(str(python), "-m", "pip", "install", "--quiet", "--no-input", *arguments)
    if not server and sandbox == "on":
        allow_namespaces()
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.write(f"python={python.as_posix()}\n")
    return 0


def client_parts() -> list[list[str]]:
    if (ROOT / "clients/python/pyproject.toml").is_file():
        return [[str(ROOT / "clients/python")]]
    return [["httpx>=0.28,<0.29"], ["--no-deps", str(wheel())]]


def server_parts() -> list[list[str]]:
    is_checkout = (ROOT / "pyproject.toml").is_file()
    lock = (ROOT if is_checkout else HERE) / "requirements.lock"
    # Without its dependencies: those are the locked ones, each checked against its hash.
    source = ROOT if is_checkout else wheel()
    return [["--require-hashes", "--requirement", str(lock)], ["--no-deps", str(source)]]


def wheel() -> Path:
    found = sorted(HERE.glob("opencode_web-*.whl"))
    if len(found) != 1:
        raise SystemExit(refuse(f"There is no wheel of the server in {HERE}."))
    return found[0]


def allow_namespaces() -> None:
    """On GitHub's own runners, which are thrown away after the job; others are left as they are."""
    setting = Path("/proc/sys", *APPARMOR.split("."))
    if os.environ.get("RUNNER_ENVIRONMENT") != "github-hosted" or not setting.exists():
        return
    if setting.read_text().strip() == "1":
        run("sudo", "-n", "sysctl", "--quiet", "--write", f"{APPARMOR}=0")


def run(*command: str) -> None:
    done = subprocess.run(command, check=False)
    if done.returncode:
        raise SystemExit(refuse(f"{command[0]} failed: see above."))


def refuse(why: str) -> int:
    print(f"::error::{why}")
    return 2


if __name__ == "__main__":
    sys.exit(main())
