"""Operations on the files of a folder, by the names that travel between hosts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from sessions.browse import (
    apply,
    changes,
    content,
    edit,
    listing,
    repository,
    review,
    search,
    spans,
    staging,
    symbols,
    view,
)
from sessions.browse.file_scope import FileScope

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True)
class Operation(Generic[P, R_co]):
    """`run` takes what JSON can hold, by name, and returns such a value: both may travel."""

    name: str
    run: Callable[Concatenate[FileScope, P], Awaitable[R_co]]
    needs_sandbox: bool = True


LIST_FOLDER = Operation("file.list", listing.list_folder)
READ_FILE = Operation("file.read", content.read_file)
LIST_FILES_CHANGED = Operation("file.status", changes.list_files_changed)
LIST_TREE = Operation("file.tree", view.list_tree)
VIEW_FILE = Operation("file.view", view.view_file, needs_sandbox=False)
FIND_TEXT = Operation("find.text", search.find_text, needs_sandbox=False)
FIND_FILES = Operation("find.files", search.find_files, needs_sandbox=False)
FIND_SYMBOLS = Operation("find.symbols", symbols.find_symbols)
LIST_STATUS = Operation("vcs.status", changes.list_status)
LIST_DIFFS = Operation("vcs.diff", changes.list_diffs)
RAW_DIFF = Operation("vcs.raw", changes.raw_diff)
LIST_REVIEW = Operation("review.list", review.list_review)
DIFF_FILE = Operation("review.file", review.diff_file)
STAGE_HUNK = Operation("review.stage", staging.stage_hunk)
OLD_PICTURE = Operation("review.picture", review.old_picture)
COUNT_SPAN = Operation("span.list", spans.count_span)
DIFF_SPAN = Operation("span.file", spans.diff_span)
TEXT_OF_SPAN = Operation("span.text", spans.text_of_span)
PICTURE_OF_SPAN = Operation("span.picture", spans.picture_of_span)
INIT_REPOSITORY = Operation("vcs.init", repository.init_repository)
LAST_COMMIT = Operation("vcs.commit", repository.last_commit)
LIST_BRANCHES = Operation("vcs.branches", repository.list_branches)
HAS_BRANCH = Operation("vcs.branch", repository.has_branch)
APPLY_PATCH = Operation("vcs.apply", apply.apply_patch)
OPEN_FILE = Operation("file.open", edit.open_file, needs_sandbox=False)
# Files are written where the tools of agents write them.
SAVE_FILE = Operation("file.save", edit.save_file)

OPERATIONS: dict[str, Operation[..., Any]] = {  # their arguments and values come as JSON
    one.name: one
    for one in (
        *(LIST_FOLDER, READ_FILE, LIST_FILES_CHANGED, LIST_TREE, VIEW_FILE),
        *(FIND_TEXT, FIND_FILES, FIND_SYMBOLS),
        *(LIST_STATUS, LIST_DIFFS, RAW_DIFF),
        *(LIST_REVIEW, DIFF_FILE, STAGE_HUNK, OLD_PICTURE),
        *(COUNT_SPAN, DIFF_SPAN, TEXT_OF_SPAN, PICTURE_OF_SPAN),
        *(
            INIT_REPOSITORY,
            LAST_COMMIT,
            LIST_BRANCHES,
            HAS_BRANCH,
            APPLY_PATCH,
            OPEN_FILE,
            SAVE_FILE,
        ),
    )
}
