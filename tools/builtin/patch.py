from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import Field

from opencode_web.lib.json import JsonObject
from tools.base import Params, Tool, ToolError, ToolResult, load_description
from tools.context import PermissionAsk, ToolContext
from tools.files.diff import FileDiff
from tools.files.file_change import (
    MAX_BYTES,
    diff_bytes,
    digest_of,
    format_changed,
    read_present,
    require_secrets_kept,
    require_seen,
)
from tools.files.file_set import Contents, change_files
from tools.files.patch_apply import FileChange, apply_sections
from tools.files.patch_format import (
    AddFile,
    DeleteFile,
    PatchError,
    Section,
    UpdateFile,
    parse_patch,
)
from tools.lsp.workspace import NOTHING, Findings
from tools.matching.search import EditMatchError
from tools.paths import Located, locate
from tools.redaction import Redactor

_MAX_FILES = 200
_MAX_CHARS = 2_000_000
# Of all files together: they are held in memory at once.
_MAX_TOTAL_BYTES = 50 * 1024 * 1024
# The diffs go into events and pages; the counts are always those of the whole.
_MAX_DIFF_CHARS = 400_000
_LETTERS = {"add": "A", "update": "M", "move": "M", "delete": "D"}


class PatchParams(Params):
    """A patch as text."""

    patch_text: str = Field(
        alias="patchText", description="The whole patch, from *** Begin Patch to *** End Patch."
    )


@dataclass(frozen=True)
class _Patch:
    """A patch whose sections name files by their keys in `files`."""

    sections: Sequence[Section]
    files: Mapping[str, Located]
    redactor: Redactor

    @property
    def named_keys(self) -> list[str]:
        """The files that have to have been read where they are there."""
        return list(dict.fromkeys(section.path for section in self.sections))

    def apply(self, present: Contents, seen: Mapping[str, str | None]) -> list[FileChange]:
        """Raises: ToolError."""
        for key in self.named_keys:
            require_seen(self.files[key], present[key], seen[key])
        try:
            changes = apply_sections(self.sections, present)
        except (PatchError, EditMatchError) as exc:
            raise _failed(str(exc)) from exc
        for one in changes:
            require_secrets_kept(self.files[one.target], one.before, one.after, self.redactor)
        return changes

    def plan(self, seen: Mapping[str, str | None]) -> list[_Shown]:
        """Compute what the patch would change."""
        present: dict[str, bytes | None] = {}
        total = 0
        for key, located in self.files.items():
            present[key] = read_present(located)
            total += len(present[key] or b"")
            if total > _MAX_TOTAL_BYTES:
                raise _failed(
                    f"its files have more than {_MAX_TOTAL_BYTES} bytes together. Send it in parts."
                )
        return self.shown(self.apply(present, seen))

    def make(self, seen: Mapping[str, str | None]) -> list[FileChange]:
        """Change the files."""
        changes: list[FileChange] = []

        def change(present: Contents) -> Contents:
            changes[:] = self.apply(present, seen)
            after = dict(present)
            for one in changes:
                after[one.path] = None
                after[one.target] = one.after
            return after

        moved = {
            section.move_to: section.path
            for section in self.sections
            if isinstance(section, UpdateFile) and section.move_to
        }
        change_files(self.files, change, moved=moved, max_bytes=MAX_BYTES)
        return changes

    def shown(self, changes: list[FileChange]) -> list[_Shown]:
        return [_Shown.of(change, self.files) for change in changes]


@dataclass(frozen=True)
class _Shown:
    """A change of a file as people see it."""

    kind: str
    located: Located
    target: Located
    diff: FileDiff

    @classmethod
    def of(cls, change: FileChange, files: Mapping[str, Located]) -> _Shown:
        target = files[change.target]
        diff = diff_bytes(target, change.before, change.after)
        return cls(change.kind, files[change.path], target, diff)

    def as_json(self, *, patch: str) -> JsonObject:
        moved: JsonObject = {"movePath": str(self.target.path)} if self.kind == "move" else {}
        return {
            "filePath": str(self.located.path),
            "relativePath": self.target.relative,
            "type": self.kind,
            "patch": patch,
            "additions": self.diff.additions,
            "deletions": self.diff.deletions,
            **moved,
        }


async def run(params: PatchParams, context: ToolContext) -> ToolResult:
    """Change several files by one patch: all of them, or none."""
    patch = _read(params.patch_text, context)
    async with context.files.changing():
        planned = await asyncio.to_thread(patch.plan, await _seen(patch, context))
    ask = {name: None for located in patch.files.values() for name in located.patterns}
    names = dict.fromkeys(one.located.relative for one in planned)
    await context.ask(
        PermissionAsk(
            "edit", tuple(ask), metadata={"filepath": ", ".join(names), **_metadata(planned)}
        )
    )
    async with context.files.changing():
        # Computed again: see `tools.files.file_change.change_file`.
        changes = await asyncio.to_thread(patch.make, await _seen(patch, context))
        made = {one.target for one in changes if one.kind == "move" or one.before is None}
        await context.files.mark_changed(_digests(changes), new=made)
        formatted = await format_changed(
            context, [(patch.files[one.target], one.after) for one in changes if one.after]
        )
        changes = [replace(one, after=formatted.get(one.target, one.after)) for one in changes]
    done = await asyncio.to_thread(patch.shown, changes)
    lines = [f"{_LETTERS[one.kind]} {one.target.relative}" for one in done]
    summary = "\n".join(["Success. Updated the following files:", *lines])
    findings = await _diagnose(done, context)
    return ToolResult(
        title=summary,
        output=summary + _told(done, findings),
        metadata={**_metadata(done), "diagnostics": findings.metadata, "truncated": False},
    )


async def _diagnose(done: list[_Shown], context: ToolContext) -> Findings:
    if context.language_servers is None:
        return NOTHING
    there = {one.target.key: one.target for one in done if one.kind != "delete"}
    return await context.language_servers.diagnose(list(there.values()))


def _told(done: list[_Shown], findings: Findings) -> str:
    names = {one.target.path: one.target.relative for one in done}
    return "".join(
        f"\n\nLSP errors detected in {names[path]}, please fix:\n{text}"
        for path, text in findings.reports.items()
    )


def _digests(changes: list[FileChange]) -> dict[str, str | None]:
    digests: dict[str, str | None] = {}
    for one in changes:
        digests[one.path] = None
        digests[one.target] = None if one.after is None else digest_of(one.after)
    return digests


async def _seen(patch: _Patch, context: ToolContext) -> dict[str, str | None]:
    return {key: await context.files.seen(key) for key in patch.named_keys}


def _read(text: str, context: ToolContext) -> _Patch:
    if not text.strip():
        raise ToolError("patchText is required")
    if len(text) > _MAX_CHARS:
        raise ToolError(f"The patch is larger than the {_MAX_CHARS} characters allowed.")
    try:
        sections = parse_patch(text)
    except PatchError as exc:
        raise _failed(str(exc)) from exc
    if len(sections) > _MAX_FILES:
        raise ToolError(f"A patch can change at most {_MAX_FILES} files. Send several patches.")
    files: dict[str, Located] = {}
    named = [_named(section, context, files) for section in sections]
    return _Patch(named, files, context.sandbox.redactor)


def _named(section: Section, context: ToolContext, files: dict[str, Located]) -> Section:
    """The section with the keys of its files, which are added to `files`."""
    located = _locate(section.path, context, files)
    if isinstance(section, AddFile):
        return replace(section, path=located.key)
    if isinstance(section, UpdateFile) and section.move_to is None:
        return replace(section, path=located.key)
    if located.key != located.relative:
        raise _failed(
            f"{section.path} is a link or lies below one: name the file itself, {located.key}."
        )
    if isinstance(section, DeleteFile):
        return replace(section, path=located.key)
    assert section.move_to is not None
    target = _locate(section.move_to, context, files)
    return replace(section, path=located.key, move_to=target.key)


def _locate(path: str, context: ToolContext, files: dict[str, Located]) -> Located:
    located = locate(context, path)
    if not located.parts:
        raise _failed(f"{path} is the project folder, not a file.")
    files.setdefault(located.key, located)
    return located


def _metadata(changes: list[_Shown]) -> JsonObject:
    room = _MAX_DIFF_CHARS
    patches = []
    for one in changes:
        patches.append(one.diff.patch if len(one.diff.patch) <= room else "")
        room -= len(patches[-1])
    files = [one.as_json(patch=patch) for one, patch in zip(changes, patches, strict=True)]
    return {"diff": "".join(patches), "files": [*files]}


def _failed(why: str) -> ToolError:
    return ToolError(f"apply_patch verification failed: {why}")


TOOL = Tool("apply_patch", PatchParams, run, "edit", load_description(__file__))
