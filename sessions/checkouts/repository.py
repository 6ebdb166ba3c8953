"""A repository that an agent could have written, as git is told about it."""

from __future__ import annotations

import asyncio
import os
import re
import stat
import uuid
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from opencode_web.lib.reasons import Cause, Told, Value, english
from sessions.events.checkout_reasons import CheckoutReason as Why
from sessions.git.box import Box, BoxedGitError, git_environment, pipe
from sessions.git.places import checkouts_root, store_of

_MAX_OUTPUT_BYTES = 4 * 1024 * 1024
# Every file that is changed or not tracked, for `fields`.
STATUS = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files")
# What is packed is handed on as it is; the rest is not worth a long search for similar objects.
_QUICK = ("--window=0", "--compression=1", "-q")
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_CONFIG = {"core.autocrlf": "false", "diff.ignoreSubmodules": "all", "advice.addEmbeddedRepo": "no"}
# It covers a repository's own, which could name filters and other programs to start.
_CLEAN = "[core]\n\trepositoryformatversion = {version}\n\tbare = false\n{extension}"
_FORMATS = {"sha1": (0, ""), "sha256": (1, "[extensions]\n\tobjectFormat = sha256\n")}


class CheckoutError(Exception):
    """It could not be done, and nothing was changed. `told` says why, for people."""

    def __init__(self, told: Why | str, /, **values: Value) -> None:
        self.told: Told = Cause(told, values) if isinstance(told, Why) else told
        super().__init__(english(self.told))


class NoCheckouts(CheckoutError):
    """This project cannot have checkouts, as it is now."""


@dataclass(frozen=True)
class Person:
    """In whose name a commit is made."""

    name: str
    email: str

    def environment(self) -> dict[str, str]:
        """What git takes author and committer from."""
        # git refuses names of nothing but such characters.
        name = re.sub(r"[<>\n\0]", "", self.name).strip(" .,:;\"'") or "Somebody"
        email = re.sub(r"[<>\s\0]", "", self.email) or "nobody@localhost"
        return {
            f"GIT_{role}_{key}": value
            for role in ("AUTHOR", "COMMITTER")
            for key, value in (("NAME", name), ("EMAIL", email))
        }


@dataclass(frozen=True)
class Repository:
    """Files with their git dir, or a bare git dir. `lends` is where objects are borrowed from."""

    git_dir: Path
    files: Path | None = None
    lends: Path | None = None
    object_format: str = "sha1"

    @property
    def folder(self) -> Path:
        return self.files or self.git_dir

    async def ask(
        self,
        *arguments: str,
        writes: bool = False,
        given: bytes = b"",
        extra: dict[str, str] | None = None,
        fine: tuple[int, ...] = (0,),
        cut: bool = False,
    ) -> str:
        """Run git in the sandbox with this repository, and nothing else, to read or to write.

        Codes other than `fine` are failures, and so is more output than 4 MiB; with `cut` what
        comes after them is left out.

        Returns: what it said. Raises: CheckoutError.
        """
        box = await asyncio.to_thread(self._box, writes=writes)
        try:
            output = await box.run(
                *("-C", str(self.folder)),
                *arguments,
                environment={**self._environment(), **(extra or {})},
                given=given,
                limit_bytes=_MAX_OUTPUT_BYTES,
                timeout_s=settings.CLONE_TIMEOUT_S,
                fine=fine,
            )
        except BoxedGitError as exc:
            raise CheckoutError(str(exc)) from exc
        if not output.whole and not cut:
            raise CheckoutError(Why.TOO_MUCH_SAID, command=arguments[0])
        return output.data.decode("utf-8", "surrogateescape")

    async def fields(
        self, *arguments: str, extra: dict[str, str] | None = None
    ) -> AsyncGenerator[list[str]]:
        """As `ask`, to read: what git says with `-z`, however much, a few names at a time.

        Raises: CheckoutError.
        """
        box = await asyncio.to_thread(self._box, writes=False)
        asked = box.fields(
            *("-C", str(self.folder)),
            *arguments,
            environment={**self._environment(), **(extra or {})},
            timeout_s=settings.CLONE_TIMEOUT_S,
        )
        try:
            async with aclosing(asked) as said:
                async for fields in said:
                    yield [one.decode("utf-8", "surrogateescape") for one in fields]
        except BoxedGitError as exc:
            raise CheckoutError(str(exc)) from exc

    async def first_fields(self, most: int, *arguments: str) -> tuple[list[str], int]:
        """Returns: as many fields, and how many there are beside them. Raises: CheckoutError."""
        kept, total = list[str](), 0
        async with aclosing(self.fields(*arguments)) as said:
            async for fields in said:
                total += len(fields)
                kept += fields[: max(0, most - len(kept))]
        return kept, total - len(kept)

    async def init(self, *options: str) -> None:
        """Make the repository, without a template. Raises: CheckoutError."""
        init = ("init", "--quiet", "--template=", f"--object-format={self.object_format}")
        where = ("--bare", str(self.git_dir)) if self.files is None else (str(self.files),)
        try:
            # Without the place in the environment: it is what is made.
            await Box(write=(self.folder,)).run(
                *init,
                *options,
                *where,
                environment=git_environment(_CONFIG, home=self.folder),
                limit_bytes=_MAX_OUTPUT_BYTES,
                timeout_s=settings.CLONE_TIMEOUT_S,
            )
        except BoxedGitError as exc:
            raise CheckoutError(str(exc)) from exc

    async def find(self, revision: str) -> str | None:
        """Returns: the id of the commit that `revision` stands for, None when there is none."""
        name = f"{revision}^{{commit}}"
        try:
            said = await self.ask("rev-parse", "--verify", "--quiet", "--end-of-options", name)
        except CheckoutError:
            return None
        found = said.strip()
        return found if _SHA.fullmatch(found) else None

    async def branch(self) -> str:
        """Returns: the branch it is on; empty when it is on none."""
        try:
            return (await self.ask("symbolic-ref", "-q", "--short", "HEAD")).strip()
        except CheckoutError:
            return ""

    async def is_ancestor(self, old: str, new: str) -> bool:
        """Whether everything of `old` is in `new`. Both must exist."""
        return (await self.ask("rev-list", "--max-count=1", old, f"^{new}")).strip() == ""

    async def send(self, want: str, target: Repository, *, known: Iterable[str] = ()) -> None:
        """Hand a commit over with all that it builds on, beside what is known there.

        Raises: CheckoutError.
        """
        if await target.find(want) is not None:
            return
        base = [commit for commit in known if await self.find(commit) is not None]
        given = "".join([f"{want}\n", *(f"^{commit}\n" for commit in base)])
        pack = ("pack-objects", "--revs", "--stdout", "--thin", "--delta-base-offset", *_QUICK)
        unpack = ("index-pack", "--stdin", "--fix-thin")
        source_box, target_box = self._box(writes=False), target._box(writes=True)
        try:
            await pipe(
                await asyncio.to_thread(source_box.start, *pack),
                await asyncio.to_thread(target_box.start, *unpack),
                environments=(self._environment(), target._environment()),
                given=given.encode(),
                timeout_s=settings.CLONE_TIMEOUT_S,
            )
        except BoxedGitError as exc:
            raise CheckoutError(str(exc)) from exc

    def _box(self, *, writes: bool) -> Box:
        covers: tuple[tuple[Path, Path], ...] = ()
        # A bare one is the server's own.
        if self.files is not None:
            covers = ((clean_config(self.object_format), self.git_dir / "config"),)
        borrowed = (self.lends,) if self.lends else ()
        if writes:
            return Box(read=borrowed, write=(self.folder,), covers=covers)
        return Box(read=(*borrowed, self.folder), covers=covers)

    def _environment(self) -> dict[str, str]:
        environment = {
            **git_environment(_CONFIG, home=self.git_dir),
            "GIT_DIR": str(self.git_dir),
            # Else a file `commondir` could lead to another config.
            "GIT_COMMON_DIR": str(self.git_dir),
            # A plain look must not write.
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_EDITOR": "true",
        }
        if self.files is not None:
            environment["GIT_WORK_TREE"] = str(self.files)
        return environment


def clean_config(object_format: str) -> Path:
    """The config that is put over one that cannot be trusted. Blocks."""
    path = checkouts_root() / f"config-{object_format}"
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        version, extension = _FORMATS[object_format]
        # Threads of one process can come here at once, so its number would not tell them apart.
        draft = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
        draft.write_text(_CLEAN.format(version=version, extension=extension), encoding="ascii")
        draft.replace(path)
    return path


async def open_project(directory: str, *, whole: bool = True) -> Repository:
    """The repository in a project's folder; with `whole` it has to have all of its history.

    Raises: NoCheckouts, saying what is missing.
    """
    folder = Path(os.path.realpath(directory))
    git_dir = folder / ".git"
    if not _is_folder(git_dir):
        why = Why.GIT_NO_FOLDER if os.path.lexists(git_dir) else Why.GIT_MISSING
        raise NoCheckouts(why)
    # Its config is read for this one answer; no command of it starts a program.
    said = await Repository(git_dir).ask(
        "rev-parse", "--show-object-format", "--is-shallow-repository"
    )
    object_format, _, shallow = said.strip().partition("\n")
    if object_format not in _FORMATS:
        raise NoCheckouts(Why.UNKNOWN_FORMAT, format=object_format)
    if whole and shallow.strip() == "true":
        raise NoCheckouts(Why.SHALLOW)
    return Repository(git_dir, folder, object_format=object_format)


async def open_store(project_id: str, object_format: str) -> Repository:
    """The store of a project, made when there is none. Raises: CheckoutError."""
    store = Repository(store_of(project_id), object_format=object_format)
    if not (store.git_dir / "objects" / "info").exists():
        store.git_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        await store.init()
    return store


def open_checkout(project_id: str, folder: Path, object_format: str) -> Repository:
    """The repository of a session's own files."""
    lends = store_of(project_id) / "objects"
    return Repository(folder / ".git", folder, lends=lends, object_format=object_format)


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False
