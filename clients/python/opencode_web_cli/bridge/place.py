"""Which project of the server a folder of the editor is, and which file of one is which there."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import posixpath
import subprocess
from dataclasses import dataclass
from pathlib import Path

from acp import RequestError

from opencode_web_cli.bridge.server import Json, Refused, Server
from opencode_web_cli.remotes import normalized

_GIT_S = 10.0
_MAX_NAMED = 20


@dataclass(frozen=True)
class Paths:
    """Two names of one folder: `local` for the editor, `remote` on the server. No end slashes."""

    local: str
    remote: str

    @property
    def is_same_folder(self) -> bool:
        """Whether the editor sees the very files that the agent works on."""
        return self.local == self.remote

    def to_local(self, path: str, base: str = "") -> str | None:
        """Returns: a path of the server as the editor has it; None when it is not in the folder.

        `base` is where relative ones begin, by default the folder.
        """
        absolute = posixpath.normpath(posixpath.join(base or self.remote, path))
        if self.is_same_folder:
            return absolute
        inside = _below(absolute, self.remote)
        return None if inside is None else str(Path(self.local, *inside.split("/")))

    def to_remote(self, path: str) -> str | None:
        """Returns: a path of the editor as the server has it; None when it is not in the folder,
        wherever links in it lead."""
        root = Path(self.local).resolve()
        real = Path(self.local, path).resolve()
        if not real.is_relative_to(root):
            return None
        return posixpath.join(self.remote, *real.relative_to(root).parts)


@dataclass(frozen=True)
class Place:
    """A project, the editor's name of its folder, and the part of it that the editor has open."""

    project: Json
    local: str
    inside: str = ""

    @property
    def directory(self) -> str:
        """Where sessions of this place work."""
        return posixpath.join(self.project["worktree"], self.inside).rstrip("/")

    def paths_of(self, session: Json) -> Paths:
        """A session may work in a worktree of its own, which stands for the same folder."""
        root = str(session["directory"])
        if inside := str(session.get("path") or ""):
            root = root.removesuffix(f"/{inside}")
        local = self.local
        if local == self.project["worktree"]:
            local = root
        return Paths(local, root)


async def find_place(server: Server, cwd: str, named: str) -> Place:
    """Find the project by the name that was given, by its folder where the server is on this
    machine, or by the remote of the repository.

    Raises: RequestError, with the projects that could be named; Refused; Lost.
    """
    if not Path(cwd).is_absolute() or not Path(cwd).is_dir():
        raise _invalid(f"{cwd} is no folder on this machine", {"cwd": cwd})
    real = os.path.realpath(cwd)
    root = await _git(cwd, "rev-parse", "--show-toplevel")
    inside = _below(Path(real).as_posix(), Path(os.path.realpath(root)).as_posix()) if root else ""
    if inside is None:
        root, inside = "", ""
    root = root or cwd
    if named:
        project = await server.call("GET", "/project/current", directory=named)
        if _is_this_machine(server.host) and _below(real, project["worktree"]) is not None:
            return _same_folder(project, real)
        return Place(project, root, inside)
    projects = await server.call("GET", "/project")
    if _is_this_machine(server.host):
        at = [one for one in projects if _below(real, one["worktree"]) is not None]
        if at:
            return _same_folder(max(at, key=lambda one: len(one["worktree"])), real)
    remote = normalized(await _git(cwd, "remote", "get-url", "origin"))
    found = [one for one in projects if remote and normalized(one.get("remote", "")) == remote]
    if len(found) == 1:
        return Place(found[0], root, inside)
    raise _unknown(found or projects, remote, is_one_of=bool(found))


def _same_folder(project: Json, cwd: str) -> Place:
    worktree = project["worktree"]
    return Place(project, worktree, _below(cwd, worktree) or "")


def _unknown(projects: list[Json], remote: str, *, is_one_of: bool) -> RequestError:
    names = [f"{one['name']} ({one['id']})" for one in projects[:_MAX_NAMED]]
    known = ", ".join(names) + (" and more" if len(projects) > _MAX_NAMED else "")
    if is_one_of:
        why = f"several projects have the remote {remote}"
    elif remote:
        why = f"no project of the server has the remote {remote}"
    else:
        why = "the folder is no project of the server and has no git remote"
    there = f"Name one with --project: {known}" if known else "You have no project there"
    listed = [
        {"id": one["id"], "name": one["name"], "remote": one.get("remote", "")}
        for one in projects[:_MAX_NAMED]
    ]
    return _invalid(f"{why}. {there}", {"projects": listed})


def _invalid(message: str, data: Json) -> RequestError:
    return RequestError(-32602, f"Invalid params: {message}", data)


async def _git(cwd: str, *arguments: str) -> str:
    """Returns: what git says, empty when it knows nothing or is not there."""
    command = ["git", "-C", cwd, *arguments]

    def run() -> str:
        try:
            done = subprocess.run(  # noqa: S603  no shell reads it
                command, capture_output=True, timeout=_GIT_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return os.fsdecode(done.stdout).removesuffix("\n") if done.returncode == 0 else ""

    return await asyncio.to_thread(run)


def _below(path: str, folder: str) -> str | None:
    """Returns: the way from a folder to what is inside it, else None."""
    folder = folder.rstrip("/")
    if path.rstrip("/") == folder:
        return ""
    return path.removeprefix(f"{folder}/") if path.startswith(f"{folder}/") else None


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def require_path(paths: Paths, path: str) -> str:
    """Returns: the path on the server. Raises: Refused for one outside the folder."""
    remote = paths.to_remote(path)
    if remote is None:
        raise Refused(400, f"{path} is outside the folder {paths.local}")
    return remote
