"""What an npm package consists of: it and its dependencies, each as exactly one file.

The registry is asked for names and versions only. What it says is pinned: the place of each package
in `node_modules`, its version, and the SHA-512 of its file.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import json
import re
from collections import deque
from dataclasses import dataclass, field
from urllib.parse import quote

from opencode_web.lib.json import JsonObject, object_of
from opencode_web.lib.outbound import FetchError, open_page
from tools.errors import ToolError
from tools.plugins.versions import best_version, satisfies, version_key

MAX_PACKAGES = 400
MAX_NAMED_CHARS = 214
_MAX_METADATA_BYTES = 32 * 1024 * 1024
_METADATA_S = 60.0
_ACCEPT = "application/vnd.npm.install-v1+json, application/json;q=0.8"
_NAME = re.compile(r"(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-zA-Z0-9._~-]*")
# What the host gives every plugin itself.
_GIVEN = frozenset({"@opencode-ai/plugin"})
_ALGORITHM = "sha512-"


@dataclass(frozen=True)
class Pinned:
    """A package at its `path` below the folder: node_modules/name, or deeper. `integrity` is the
    SHA-512 of the file at `address`, as npm writes it."""

    path: str
    version: str
    address: str
    integrity: str

    @property
    def sha512(self) -> bytes:
        return base64.b64decode(self.integrity.removeprefix(_ALGORITHM))

    def to_json(self) -> JsonObject:
        """Returns: as it is kept."""
        return {
            "path": self.path,
            "version": self.version,
            "address": self.address,
            "integrity": self.integrity,
        }


def digest_of(pinned: list[Pinned]) -> str:
    """Returns: SHA-256 in hex over every place, version and content. Where it came from is no
    part of it."""
    whole = hashlib.sha256()
    for one in sorted(pinned, key=lambda one: one.path):
        whole.update(f"{one.path}\0{one.version}\0{one.integrity}\n".encode())
    return whole.hexdigest()


def read_wanted(text: str) -> tuple[str, str] | None:
    """Returns: the name and the exact version of `name@version`; None where it is no such."""
    name, _, version = text.strip().rpartition("@")
    is_one = is_name(name) and version_key(version) and version[:1].isdigit()
    return (name, version) if is_one else None


def is_name(name: str) -> bool:
    """Whether a package may have this name."""
    return len(name) <= MAX_NAMED_CHARS and _NAME.fullmatch(name) is not None


@dataclass
class Registry:
    """The registry at an address, with what it has said. Use one for each resolution."""

    address: str
    user_agent: str
    _known: dict[str, JsonObject] = field(default_factory=dict)

    async def _package(self, name: str) -> JsonObject:
        if name not in self._known:
            self._known[name] = await self._ask(name)
        return self._known[name]

    async def _ask(self, name: str) -> JsonObject:
        url = f"{self.address.rstrip('/')}/{quote(name, safe='@')}"
        headers = {"user-agent": self.user_agent, "accept": _ACCEPT, "accept-encoding": "identity"}
        try:
            async with open_page(url, headers=headers, timeout_s=_METADATA_S) as (_, answer):
                if answer.status_code != 200:
                    raise FetchError(f"the registry answered {answer.status_code}")
                body = bytearray()
                async for chunk in answer.aiter_raw(64 * 1024):
                    body += chunk
                    if len(body) > _MAX_METADATA_BYTES:
                        raise FetchError("the registry says too much of it")
            said = await asyncio.to_thread(json.loads, bytes(body))
        except (FetchError, ValueError, RecursionError) as exc:
            raise ToolError(f"{name} could not be looked up: {exc}.") from exc
        return said if isinstance(said, dict) else {}

    async def find(self, name: str, wanted: str) -> tuple[str, JsonObject]:
        """Returns: the version that fits best, and what the registry says of it.

        Raises: ToolError.
        """
        if not is_name(name):
            raise ToolError(f"{name[:100]!r} is no name of a package.")
        package = await self._package(name)
        versions = object_of(package, "versions")
        tags = {tag: str(one) for tag, one in object_of(package, "dist-tags").items()}
        version = best_version(wanted, versions, tags)
        about = versions.get(version) if version else None
        if version is None or not isinstance(about, dict):
            raise ToolError(f"There is no version {wanted[:100]} of {name}.")
        return version, about


async def resolve(registry: Registry, name: str, version: str) -> list[Pinned]:
    """Choose the versions of a package and of all that it needs, and where each lies.

    As npm does it, but without optional dependencies: a package lies as high as those that find it
    there want the same version. Raises: ToolError.
    """
    found: dict[str, Pinned] = {}
    waiting = deque([("", name, version)])
    while waiting:
        parent, alias, wanted = waiting.popleft()
        real, wanted = _meant(alias, wanted)
        near = _nearest(found, parent, alias)
        if near is not None and satisfies(found[near].version, wanted):
            continue
        if len(found) >= MAX_PACKAGES:
            raise ToolError(f"It needs more than {MAX_PACKAGES} packages.")
        if not is_name(alias):
            raise ToolError(f"{alias[:100]!r} is no name of a package.")
        chosen, about = await registry.find(real, wanted)
        if near is not None and found[near].version == chosen:
            continue  # a tag
        folder = parent if near is not None else ""
        path = f"{folder}/node_modules/{alias}".lstrip("/")
        if path in found:
            raise ToolError(f"{alias} is wanted in two versions at the same place.")
        found[path] = _pinned(path, chosen, about)
        waiting += [(path, *one) for one in _needs(about)]
    return list(found.values())


def _meant(alias: str, wanted: str) -> tuple[str, str]:
    """Returns: the name and the range of a dependency, which may go by another name."""
    if wanted.startswith("npm:"):
        name, _, version = wanted.removeprefix("npm:").rpartition("@")
        return (name, version) if name else (version, "*")
    if ":" in wanted or "/" in wanted:
        raise ToolError(f"{alias} does not come from the registry but from {wanted[:200]}.")
    return alias, wanted


def _nearest(found: dict[str, Pinned], parent: str, name: str) -> str | None:
    """Returns: what Node.js finds under a name from the folder of a package."""
    while True:
        path = f"{parent}/node_modules/{name}".lstrip("/")
        if path in found:
            return path
        if not parent:
            return None
        parent = parent.rpartition("node_modules/")[0].rstrip("/")


def _pinned(path: str, version: str, about: JsonObject) -> Pinned:
    dist = object_of(about, "dist")
    given = str(dist.get("integrity") or "").split()
    integrity = next((one for one in given if one.startswith(_ALGORITHM)), "")
    try:
        is_whole = len(base64.b64decode(integrity.removeprefix(_ALGORITHM), validate=True)) == 64
    except (binascii.Error, ValueError):
        is_whole = False
    if not is_whole:
        raise ToolError(f"The registry gives no SHA-512 for {path} {version}.")
    return Pinned(path, version, str(dist.get("tarball") or ""), integrity)


def _needs(about: JsonObject) -> list[tuple[str, str]]:
    optional = object_of(about, "optionalDependencies")
    meta = object_of(about, "peerDependenciesMeta")
    peers = {
        name: wanted
        for name, wanted in object_of(about, "peerDependencies").items()
        if not object_of(meta, name).get("optional")
    }
    both = {**peers, **object_of(about, "dependencies")}
    return [
        (name, str(wanted))
        for name, wanted in sorted(both.items())
        if name not in optional and name not in _GIVEN
    ]
