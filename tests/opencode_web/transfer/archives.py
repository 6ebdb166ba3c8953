from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from opencode_web.transfer.export import export_team
from sessions.actions.erasure import request_team_erasure
from sessions.jobs.erasure import run_erasure
from sessions.models import Session, State
from teams.models import Team

Files = dict[str, bytes]


def say(_line: str) -> None:
    pass


def export(team: Team, path: Path) -> Path:
    export_team(team, path, say=say)
    return path


def gone(team: Team) -> None:
    """The other server has nothing of it."""
    Session.objects.update(state=State.IDLE)
    run_erasure(request_team_erasure(None, team, confirm=team.slug).pk)
    assert not Session.objects.exists()


def files_of(path: Path) -> Files:
    found = {}
    with tarfile.open(path) as tar:
        for info in tar:
            file = tar.extractfile(info)
            assert file is not None
            data = file.read()
            found[info.name] = gzip.decompress(data) if info.name.endswith(".gz") else data
    return found


def pack(files: Files, path: Path, *, lie: Callable[[Any], None] = lambda _m: None) -> Path:
    """Write an archive with right hashes, whatever is in it."""
    packed = {name: gzip.compress(data) for name, data in files.items() if name != "manifest.json"}
    manifest = json.loads(files["manifest.json"])
    manifest["files"] = [
        {
            "name": name,
            "size_bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "content_bytes": len(files[name]),
        }
        for name, data in packed.items()
    ]
    lie(manifest)
    with tarfile.open(path, "w") as tar:
        for name, data in {"manifest.json": json.dumps(manifest).encode(), **packed}.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def changed_team(**change: Any) -> Callable[[Files], None]:
    def change_files(files: Files) -> None:
        team = json.loads(files["team.json.gz"])
        files["team.json.gz"] = json.dumps({**team, **change}).encode()

    return change_files
