"""What is staged: how git's index differs from the last commit, and the files from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from opencode_web.lib.hunks import HunkRange, overlap, patch_of_hunks, ranges_of
from sessions.browse.changes import BIG_FILES, LITERAL_NAMES, exactly
from sessions.checkouts.repository import Repository

_DIFF = (
    *("diff", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"),
    "--submodule=short",
)
_RAW = ("--raw", "-z", "--no-abbrev")
_HEAD = re.compile(r"\A.*?^(?=@@ )", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Staged:
    """Of one file: the `blob` in the index, and the lines in which it differs from the last commit
    and in which the file differs from it. Empty where nothing is staged."""

    blob: str = ""
    patch: str = ""
    rest: str = ""


NOTHING_STAGED = Staged()


async def staged_blobs(repository: Repository, base: str, *names: str) -> dict[str, str]:
    """Returns: by name what is staged of each file that is. Raises: CheckoutError."""
    cached = (*_DIFF, "--cached", *_RAW, base, "--", *exactly(*names))
    fields = (await repository.ask(*BIG_FILES, *cached, cut=True)).split("\0")
    pairs = zip(fields[::2], fields[1::2], strict=False)
    return {name: raw.split(" ")[3] for raw, name in pairs if raw.startswith(":")}


async def staged_of(repository: Repository, base: str, name: str, old: str = "") -> Staged:
    """`old` is what the last commit calls it, when it was renamed. Raises: CheckoutError."""
    blob = (await staged_blobs(repository, base, name)).get(name)
    if blob is None:
        return NOTHING_STAGED
    patch = await _staged_patch(repository, base, name, old)
    return Staged(blob, patch, await _patch(repository, "--", *exactly(name)))


async def changed_ranges(
    repository: Repository, base: str, names: Sequence[str], within: HunkRange
) -> list[HunkRange]:
    """Returns: the lines of a hunk that differ from the last commit, and those that go with them,
    whatever of them was shown. `names` as `names_of` has them. Raises: CheckoutError."""
    how = ("--find-renames=1%", "--unified=0", base, "--", *exactly(*names))
    patch = await repository.ask(*BIG_FILES, *_DIFF, *how, cut=True)
    return [one for one in ranges_of(patch) if overlap(one.new_span, within.new_span)]


async def _staged_patch(repository: Repository, base: str, name: str, old: str) -> str:
    if not old:
        return await _patch(repository, "--cached", base, "--", *exactly(name))
    # The index can still have the old name beside the new one, which is no rename to git.
    patch = await _patch(repository, f"{base}:{old}", f":0:{name}", "--")
    return _HEAD.sub(lambda _: _head_of(name), patch)


async def _patch(repository: Repository, *compared: str) -> str:
    """Without lines around the changes. Raises: CheckoutError."""
    return await repository.ask(*BIG_FILES, *_DIFF, "--unified=0", *compared, cut=True)


def _head_of(name: str) -> str:
    """The head of a patch of the file, with its name in git's notation for any characters."""
    code = "".join(f"\\{byte:03o}" for byte in name.encode("utf-8", "surrogateescape"))
    old, new = (f'"{side}/{code}"' for side in "ab")
    return f"diff --git {old} {new}\n--- {old}\n+++ {new}\n"


async def stage_lines(repository: Repository, name: str, hunk: HunkRange) -> bool:
    """Put what a hunk of the changes since the last commit has in the file into the index, with
    the changes in its lines that were not shown.

    Returns: whether there was anything. Raises: CheckoutError.
    """
    patch = await _patch(repository, "--", *exactly(name))
    return await _apply(
        repository,
        patch_of_hunks(patch, lambda one: overlap(one.new_span, hunk.new_span), reverse=False),
    )


async def stage_rename(repository: Repository, base: str, name: str, old: str) -> None:
    """A file's new name in place of its old one, with the old content unless something of it is
    staged already. Raises: CheckoutError."""
    if not await staged_blobs(repository, base, name):
        listed = await repository.ask("ls-tree", "-z", base, "--", old, extra=LITERAL_NAMES)
        mode, _, blob = listed.partition("\t")[0].split(" ")
        entry = f"{mode},{blob},{name}"
        await repository.ask("update-index", "--add", "--cacheinfo", entry, writes=True)
    await repository.ask("update-index", "--force-remove", "--", old, writes=True)


async def unstage_lines(
    repository: Repository, base: str, name: str, hunks: Sequence[HunkRange], old: str = ""
) -> bool:
    """Take what these hunks have in the index out of it again; `old` as `staged_of`. As
    `stage_lines`."""
    patch = await _staged_patch(repository, base, name, old)
    spans = [hunk.old_span for hunk in hunks]
    return await _apply(
        repository,
        patch_of_hunks(
            patch, lambda one: any(overlap(one.old_span, span) for span in spans), reverse=True
        ),
        "--reverse",
    )


async def stage_file(repository: Repository, name: str) -> None:
    """All of a file, also that it is new or gone. Raises: CheckoutError."""
    await repository.ask("update-index", "--add", "--remove", "--", name, writes=True)


async def unstage_file(repository: Repository, *names: str) -> None:
    """Raises: CheckoutError."""
    await repository.ask("reset", "-q", "--", *names, writes=True, extra=LITERAL_NAMES)


async def _apply(repository: Repository, patch: str, *options: str) -> bool:
    if patch:
        await repository.ask(
            *("apply", "--cached", "--unidiff-zero", "--whitespace=nowarn", *options, "-"),
            writes=True,
            given=patch.encode("utf-8", "surrogateescape"),
        )
    return bool(patch)
