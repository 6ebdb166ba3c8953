"""Change one file as a call wants: compare with what was read, ask, compare again, write."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from opencode_web.lib.json import JsonObject
from tools.context import PermissionAsk, ToolContext
from tools.errors import ToolError
from tools.files.diff import FileDiff, diff_file
from tools.formatters.run import format_files
from tools.lsp.workspace import NOTHING, Findings
from tools.paths import Located, read_bytes, replace_file
from tools.redaction import Redactor
from tools.text_file import decode_text, displayable

# Files of this size are data, not something a model writes.
MAX_BYTES = 10 * 1024 * 1024

# Gets the present content, None where no file is, and returns the new one. It may run more than
# once, and raises ToolError when the change is not possible.
Change = Callable[[bytes | None], bytes]


@dataclass(frozen=True)
class Changed:
    """What became of a file."""

    existed: bool
    diff: FileDiff
    findings: Findings = NOTHING

    @property
    def told(self) -> str:
        """What the model is told of the file after the change: nothing when all is well."""
        reports = [
            *(f"in this file, please fix:\n{text}" for text in self.findings.reports.values()),
            *(f"in other files:\n{text}" for text in self.findings.others),
        ]
        return "".join(f"\n\nLSP errors detected {text}" for text in reports)

    def metadata(self) -> JsonObject:
        """Build the metadata of an edit, as clients read it."""
        return {
            "diff": self.diff.shown,
            "filediff": self.diff.as_json(),
            "diagnostics": self.findings.metadata,
            "truncated": False,
        }


async def change_file(
    context: ToolContext, located: Located, change: Change, *, others: bool = False
) -> Changed:
    """Ask for a change with its diff, then make it on what the file holds by then.

    With `others` language servers also say what is wrong in other files.

    Raises: ToolError when the session does not know the present content, or the change is not
    possible; what `ToolContext.ask` raises.
    """
    change = _keeping_secrets(located, change, context.sandbox.redactor)
    async with context.files.changing():
        # Else another call of this answer could change the file between the two.
        seen = await context.files.seen(located.key)
        planned = await asyncio.to_thread(_plan, located, change, seen)
    await context.ask(
        PermissionAsk(
            "edit",
            located.patterns,
            metadata={
                "filepath": str(located.path),
                "exists": planned.existed,
                "diff": planned.diff.shown,
            },
        )
    )
    async with context.files.changing():
        # A person may have thought about it for hours, and another call of this answer may have
        # changed another place of the file: that must not be undone.
        seen = await context.files.seen(located.key)
        changed, old, new = await asyncio.to_thread(_apply, located, change, seen)
        made = () if changed.existed else (located.key,)
        await context.files.mark_changed({located.key: digest_of(new)}, new=made)
        formatted = await format_changed(context, [(located, new)])
        if formatted:
            diff = await asyncio.to_thread(diff_bytes, located, old, formatted[located.key])
            changed = replace(changed, diff=diff)
    if context.language_servers is None:
        return changed
    return replace(
        changed, findings=await context.language_servers.diagnose([located], others=others)
    )


async def format_changed(
    context: ToolContext, written: Sequence[tuple[Located, bytes]]
) -> dict[str, bytes]:
    """Have files formatted that were just written and marked as changed, `changing` still held.

    Returns: what they hold now, by key, where that is something else. It is marked, too.
    """
    formatted = await format_files(
        context.formatters, context.sandbox, written, max_bytes=MAX_BYTES
    )
    if formatted:
        digests = {key: digest_of(data) for key, data in formatted.items()}
        await context.files.mark_changed(digests)
    return formatted


def digest_of(data: bytes) -> str:
    """Name a content, to tell later whether a file still has it."""
    return hashlib.sha256(data).hexdigest()


def require_seen(located: Located, present: bytes | None, seen: str | None) -> None:
    """Refuse a change of what the session has not read as it is now.

    `seen` is the digest of what it read or wrote last.
    """
    if present is None or digest_of(present) == seen:
        return
    if seen is None:
        raise ToolError(
            f"{located.path} exists and has not been read in this session. Read it first, then "
            "make the change."
        )
    raise ToolError(
        f"{located.path} has changed since it was last read in this session: a command, a person "
        "or another session changed it. Read it again, then make the change."
    )


def require_secrets_kept(
    located: Located, old: bytes | None, new: bytes | None, redactor: Redactor
) -> None:
    """Refuse a change that puts the mark of a secret, as it was read, into a file that has one."""
    if old and new and redactor.is_overwritten(old, new):
        raise ToolError(
            f"{located.path} holds secrets or keys, which you see as [secret NAME] or "
            "[hidden ...]. This change would write such a mark into the file, and the value may be "
            "lost. Change only the lines around it, for example with the edit tool."
        )


def _keeping_secrets(located: Located, change: Change, redactor: Redactor) -> Change:
    def kept(present: bytes | None) -> bytes:
        new = change(present)
        require_secrets_kept(located, present, new, redactor)
        return new

    return kept


def read_present(located: Located) -> bytes | None:
    """Read a file that shall be changed. Returns: None where no file is.

    Raises: ToolError when there is something that cannot be changed.
    """
    try:
        return read_bytes(located, max_bytes=MAX_BYTES)
    except FileNotFoundError:
        return None
    except IsADirectoryError as exc:
        raise ToolError(f"Path is a directory, not a file: {located.path}") from exc
    except NotADirectoryError as exc:
        raise ToolError(f"A folder in the path of {located.path} is a file.") from exc


def diff_bytes(located: Located, old: bytes | None, new: bytes | None) -> FileDiff:
    """Compare two contents of a file, for people."""
    before, after = (displayable(decode_text(data or b"")[0]) for data in (old, new))
    return diff_file(str(located.path), before, after)


def _plan(located: Located, change: Change, seen: str | None) -> Changed:
    old = read_present(located)
    require_seen(located, old, seen)
    return Changed(old is not None, diff_bytes(located, old, change(old)))


def _apply(
    located: Located, change: Change, seen: str | None
) -> tuple[Changed, bytes | None, bytes]:
    """Returns: also the old and the new content."""

    def checked(present: bytes | None) -> bytes:
        require_seen(located, present, seen)
        return change(present)

    old, new = replace_file(located, checked, max_bytes=MAX_BYTES)
    return Changed(old is not None, diff_bytes(located, old, new)), old, new
