"""What is staged: how git's index differs from the last commit, and the files from it."""

from __future__ import annotations

from dataclasses import dataclass

from opencode_web.lib.hunks import HunkRange, overlap, patch_of_hunks
from sessions.browse.changes import BIG_FILES, LITERAL_NAMES, exactly
from sessions.checkouts.repository import Repository

_DIFF = (
    *("diff", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"),
    "--submodule=short",
)
_RAW = ("--raw", "-z", "--no-abbrev")


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


async def staged_of(repository: Repository, base: str, name: str) -> Staged:
    """Raises: CheckoutError."""
    blob = (await staged_blobs(repository, base, name)).get(name)
    if blob is None:
        return NOTHING_STAGED
    patch = await staged_patch(repository, base, name)
    return Staged(blob, patch, await unstaged_patch(repository, name))


async def staged_patch(repository: Repository, base: str, name: str) -> str:
    """Without lines around the changes. Raises: CheckoutError."""
    cached = ("--cached", "--unified=0", base, "--", *exactly(name))
    return await repository.ask(*BIG_FILES, *_DIFF, *cached, cut=True)


async def unstaged_patch(repository: Repository, name: str) -> str:
    """Without lines around the changes. Raises: CheckoutError."""
    return await repository.ask(*BIG_FILES, *_DIFF, "--unified=0", "--", *exactly(name), cut=True)


async def stage_lines(repository: Repository, name: str, hunk: HunkRange) -> bool:
    """Put what a hunk of the changes since the last commit has in the file into the index.

    Returns: whether there was anything. Raises: CheckoutError.
    """
    patch = await unstaged_patch(repository, name)
    return await _apply(
        repository,
        patch_of_hunks(patch, lambda one: overlap(one.new_span, hunk.new_span), reverse=False),
    )


async def unstage_lines(repository: Repository, base: str, name: str, hunk: HunkRange) -> bool:
    """Take what a hunk has in the index out of it again. As `stage_lines`."""
    patch = await staged_patch(repository, base, name)
    return await _apply(
        repository,
        patch_of_hunks(patch, lambda one: overlap(one.old_span, hunk.old_span), reverse=True),
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
