from __future__ import annotations

import contextlib
import gzip
import io
import shutil
import tarfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.npm_registry import FakeRegistry, packed, serving
from tests.tools.plugins.test_host import hooked, start
from tools.errors import ToolError
from tools.mcp.exchange import Greeted
from tools.plugins import registry as registry_module
from tools.plugins import store
from tools.plugins.host import PluginProgram, call_tool
from tools.plugins.loaded import loaded
from tools.plugins.registry import Pinned, Registry, digest_of, read_wanted, resolve
from tools.plugins.store import PackageFolder, fetch_packages
from tools.sandbox.select import select_sandbox

__all__ = ["start"]

pytestmark = pytest.mark.django_db
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
NOTHING = {"index.js": "export const x = 1"}


@pytest.fixture
def npm(settings: Any) -> Iterator[FakeRegistry]:
    settings.ALLOWED_PRIVATE_ADDRESSES = ["127.0.0.1"]
    with serving() as registry:
        yield registry


async def pinned(npm: FakeRegistry, name: str = "one", version: str = "1.0.0") -> list[Pinned]:
    return await resolve(Registry(npm.address, "test"), name, version)


async def fetched(npm: FakeRegistry, folder: Path, **which: str) -> list[Pinned]:
    pins = await pinned(npm, **which)
    await fetch_packages(pins, folder, user_agent="test")
    return pins


async def test_versions_lie_as_high_as_they_can_be_shared(
    npm: FakeRegistry, tmp_path: Path
) -> None:
    npm.put("one", "1.0.0", NOTHING, dependencies={"@a/b": "^1", "two": "~2.1.0"})
    npm.put("@a/b", "1.4.0", NOTHING, dependencies={"two": "^1.0.0"})
    npm.put("@a/b", "2.0.0", NOTHING)
    for version in ("1.0.0", "1.3.0", "2.1.7", "2.2.0"):
        npm.put("two", version, NOTHING)
    pins = await fetched(npm, tmp_path / "here")
    assert {one.path: one.version for one in pins} == {
        "node_modules/one": "1.0.0",
        "node_modules/@a/b": "1.4.0",
        "node_modules/two": "2.1.7",
        "node_modules/@a/b/node_modules/two": "1.3.0",
    }
    for one in pins:
        assert f'"{one.version}"' in (tmp_path / "here" / one.path / "package.json").read_text()


async def test_peers_aliases_tags_and_circles_are_followed_and_optional_ones_left_out(
    npm: FakeRegistry,
) -> None:
    npm.put(
        "one",
        "1.0.0",
        NOTHING,
        dependencies={"other": "npm:two@^1", "gone": "1", "@opencode-ai/plugin": "*"},
        optionalDependencies={"gone": "1"},
        peerDependencies={"three": "latest", "four": "*"},
        peerDependenciesMeta={"four": {"optional": True}},
    )
    npm.put("two", "1.1.0", NOTHING, dependencies={"one": "1.0.0"})
    npm.put("three", "3.0.0-rc.1", NOTHING)
    assert {one.path: one.version for one in await pinned(npm)} == {
        "node_modules/one": "1.0.0",
        "node_modules/other": "1.1.0",
        "node_modules/three": "3.0.0-rc.1",
    }
    assert not [path for path in npm.asked if "gone" in path or "opencode" in path]


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ({"two": "git+https://host.example/two.git"}, "does not come from the registry"),
        ({"two": "file:../two"}, "does not come from the registry"),
        ({"two": "owner/two"}, "does not come from the registry"),
        ({"../two": "1"}, "no name of a package"),
        ({"two": "^1"}, "two could not be looked up: the registry answered 404"),
        ({"one": "^7"}, "There is no version"),
    ],
)
async def test_what_is_not_in_the_registry_is_refused(
    npm: FakeRegistry, wanted: dict[str, str], says: str
) -> None:
    npm.put("one", "1.0.0", NOTHING, dependencies=wanted)
    with pytest.raises(ToolError, match=says):
        await pinned(npm)


@pytest.mark.parametrize("integrity", ["", "sha1-AAAA", "sha512-AAAA", "sha512-!", None])
async def test_a_package_without_a_strong_digest_is_refused(
    npm: FakeRegistry, integrity: str | None
) -> None:
    npm.put("one", "1.0.0", NOTHING)
    npm.about("one", "1.0.0")["dist"]["integrity"] = integrity
    with pytest.raises(ToolError, match="no SHA-512"):
        await pinned(npm)


async def test_more_packages_than_there_may_be_are_refused(
    npm: FakeRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry_module, "MAX_PACKAGES", 3)
    for number in range(5):
        npm.put(f"p{number}", "1.0.0", NOTHING, dependencies={f"p{number + 1}": "1"})
    with pytest.raises(ToolError, match="more than 3 packages"):
        await pinned(npm, "p0")


async def test_a_file_that_is_not_what_was_pinned_is_not_taken(
    npm: FakeRegistry, tmp_path: Path
) -> None:
    npm.put("one", "1.0.0", NOTHING, dependencies={"two": "1"})
    npm.put("two", "1.0.0", NOTHING)
    pins = await pinned(npm)
    npm.put("two", "1.0.0", {"index.js": "export const x = 2"})
    with pytest.raises(ToolError, match=r"two@1\.0\.0 is not what was pinned"):
        await fetch_packages(pins, tmp_path / "here", user_agent="test")
    assert list(tmp_path.iterdir()) == []


async def test_a_registry_cannot_send_to_a_private_address(
    npm: FakeRegistry, settings: Any, tmp_path: Path
) -> None:
    npm.put("one", "1.0.0", NOTHING)
    pins = await pinned(npm)
    settings.ALLOWED_PRIVATE_ADDRESSES = [npm.address.removeprefix("http://")]
    with serving() as inside:
        headers = {"location": f"{inside.address}/secret"}
        npm.answers["/one/-/1.0.0.tgz"] = (302, headers, b"")
        with pytest.raises(ToolError, match="could not be fetched"):
            await fetch_packages(pins, tmp_path / "here", user_agent="test")
        npm.answers["/one"] = (302, headers, b"")
        with pytest.raises(ToolError, match="could not be looked up"):
            await pinned(npm)
        assert inside.asked == []


def _with_header(size: int) -> bytes:
    """A package whose extra header is that large, although its file is small."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("package/a")
        member.pax_headers = {"comment": "x" * size}
        archive.addfile(member)
    return gzip.compress(whole.getvalue())


@pytest.mark.parametrize(
    ("file", "says"),
    [
        (b"nothing of the kind", "no package"),
        (gzip.compress(b"x" * 2000), "no package"),
        (packed({"a": "x"})[:40], "no package"),
        (packed({"../../out.js": "x"}), "has the name"),
        (packed({"a/./b": "x"}), "has the name"),
        (packed({"a\\b": "x"}), "has the name"),
        (packed({"a": "x" * 5_000_000}), "larger than"),
        (packed({str(n): "" for n in range(60)}), "larger than"),
        (_with_header(5_000_000), "larger than"),
        (packed({"a": "x", "a/b": "y"}), "cannot be written"),
    ],
    # A compressed file has its time in it: processes would each have other names.
    ids=["plain", "other", "cut", "up", "dot", "backslash", "large", "many", "header", "clash"],
)
async def test_a_hostile_file_leaves_nothing(
    npm: FakeRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: bytes, says: str
) -> None:
    monkeypatch.setattr(store, "MAX_WHOLE_BYTES", 1024 * 1024)
    monkeypatch.setattr(store, "MAX_FILES", 50)
    npm.put("one", "1.0.0", file)
    with pytest.raises(ToolError, match=says):
        await fetched(npm, tmp_path / "in/here")
    assert [*(tmp_path / "in").iterdir()] == []
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


async def test_links_are_left_out(npm: FakeRegistry, tmp_path: Path) -> None:
    npm.put("one", "1.0.0", packed({"index.js": ""}, links={"etc": "/etc", "up": "../.."}))
    await fetched(npm, tmp_path / "here")
    assert [path.name for path in (tmp_path / "here/node_modules/one").iterdir()] == ["index.js"]


async def test_what_is_there_is_not_fetched_again(npm: FakeRegistry, tmp_path: Path) -> None:
    npm.put("one", "1.0.0", NOTHING)
    pins = await fetched(npm, tmp_path / "here")
    npm.asked.clear()
    await fetch_packages(pins, tmp_path / "here", user_agent="test")
    assert npm.asked == []


async def test_the_digest_is_of_contents_and_not_of_where_they_came_from(
    npm: FakeRegistry,
) -> None:
    npm.put("one", "1.0.0", NOTHING)
    first = digest_of(await pinned(npm))
    npm.about("one", "1.0.0")["dist"]["tarball"] = "https://other.example/one.tgz"
    assert digest_of(await pinned(npm)) == first
    npm.put("one", "1.0.0", {"index.js": "export const x = 2"})
    assert digest_of(await pinned(npm)) != first


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (" @a/b@1.2.3-rc.1 ", ("@a/b", "1.2.3-rc.1")),
        ("a.b@0.0.1", ("a.b", "0.0.1")),
        *((text, None) for text in ("a", "a@", "a@^1.2.3", "a@latest", "@a/b", "../a@1.2.3")),
        *((text, None) for text in ("a b@1.2.3", "a@v1.2.3", "https://x.example/a@1.2.3", "")),
    ],
)
def test_only_a_name_with_an_exact_version_is_one(text: str, found: Any) -> None:
    assert read_wanted(text) == found


@contextlib.asynccontextmanager
async def running(
    npm: FakeRegistry, tmp_path: Path, worktree: Path, options: Any = None, **texts: str
) -> AsyncIterator[Greeted]:
    folder = tmp_path / "packages/one"
    await fetched(npm, folder)
    sandbox = select_sandbox(
        worktree=worktree,
        session_dir=tmp_path / "session",
        network=True,
        hidden=(tmp_path / "server",),
    )
    files = {f".opencode/plugin/{name}.js": text for name, text in texts.items()}
    package = PackageFolder("one@1.0.0", "one", folder, options)
    entries = ("one@1.0.0", *files)
    program = PluginProgram(sandbox, worktree, worktree, files, entries, {}, (package,))
    async with program.connect() as greeted:
        yield greeted


PLUGIN = """
import { tool } from "@opencode-ai/plugin"
import { z } from "zod"
import plain, { twice } from "plain"
import inside from "./lib"
import more from "./more.json"
import text from "./text.txt"
export const One = async ({ directory }, options) => ({
  "tool.execute.before": async (i, o) => { o.args.a = "package" },
  tool: { go: tool({ description: "Goes",
    args: { a: tool.schema.string(), b: z.number().optional() },
    execute: async ({ a }) =>
      [twice(a), plain.name, inside, more.said, text, options.key].join(" "),
  }) },
})
"""
CODE = {
    "dist/index.js": PLUGIN,
    "dist/lib/index.js": 'export { default } from "./deep"',
    "dist/lib/deep.js": 'export default "deep"',
    "dist/more.json": '{"said": "json"}',
    "dist/text.txt": "`text`",
}


def put_plugin(npm: FakeRegistry, **more: Any) -> None:
    plain = {"index.cjs": "exports.name = require('./b').name; exports.twice = (a) => a + a"}
    npm.put(
        "plain", "1.0.0", {**plain, "b.js": "exports.name = 'plain'"}, main="index.cjs", type=""
    )
    exports = {"./server": "./dist/index.js", ".": "./none.js"}
    npm.put("one", "1.0.0", CODE, exports=exports, dependencies={"plain": "1"}, **more)


@needs_node
async def test_a_package_runs_with_what_it_needs_before_files(
    npm: FakeRegistry, tmp_path: Path, worktree: Path
) -> None:
    put_plugin(npm, scripts={"postinstall": f"touch {worktree}/installed"})
    then = """export const Two = async () => ({
      "tool.execute.before": async (i, o) => { o.args.a += " file" } })"""
    async with running(npm, tmp_path, worktree, {"key": "given"}, b=then) as greeted:
        first, second = loaded(greeted)
        assert (first.path, first.hooks, first.problem) == (
            "one@1.0.0",
            ("tool.execute.before",),
            "",
        )
        assert first.tools[0]["parameters"]["required"] == ["a"]
        assert second.problem == ""
        changed = await hooked(greeted)
        assert changed.output == {"args": {"a": "package file"}}
        answer = await call_tool(greeted.exchange, "one@1.0.0", "go", {"a": "x"}, {})
        assert answer["output"] == "xx plain deep json `text` given"
    assert not (worktree / "installed").exists()


@needs_node
async def test_a_package_cannot_be_changed_by_what_it_runs(
    npm: FakeRegistry, tmp_path: Path, worktree: Path
) -> None:
    code = """
import { writeFileSync } from "node:fs"
export const One = async () => {
  const file = new URL(import.meta.url).pathname
  try { writeFileSync(file, "") } catch (error) { throw new Error(error.code) }
}
"""
    npm.put("one", "1.0.0", {"index.js": code})
    async with running(npm, tmp_path, worktree) as greeted:
        assert loaded(greeted)[0].problem == "EROFS"


@needs_node
async def test_files_of_a_repository_do_not_reach_into_packages(
    npm: FakeRegistry, tmp_path: Path, worktree: Path
) -> None:
    put_plugin(npm)
    reach = 'import plain from "plain"; export const Two = async () => ({ event() {} })'
    async with running(npm, tmp_path, worktree, {}, b=reach) as greeted:
        assert "cannot be imported" in loaded(greeted)[1].problem
