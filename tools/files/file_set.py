"""Change several files of a worktree together: all of them, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from tools.errors import ToolError
from tools.paths import HeldFolder, Located, hold_folder

Contents = Mapping[str, bytes | None]


@dataclass(frozen=True)
class _Held:
    """One of the files, in its folder that is held, as it was found."""

    located: Located
    folder: HeldFolder
    content: bytes | None
    mode: int | None

    def put(self, content: bytes | None, *, mode: int | None) -> None:
        if content is not None:
            self.folder.write(self.located, content, mode=mode)
        else:
            self.folder.remove(self.located)


def change_files(
    files: Mapping[str, Located],
    change: Callable[[Contents], Contents],
    *,
    moved: Mapping[str, str],
    max_bytes: int,
) -> None:
    """Change files under the locks of all their folders.

    `change` gets the present contents by the keys of `files`, None where no file is, and returns
    the new ones, None for a file that goes. `moved` says for a new file which one it was before,
    so that it can be executed if that could. Missing folders are made.

    Raises: what `change` raises, before anything is written; ToolError when something could not be
    written: then what had been written is put back.
    """
    with ExitStack() as stack:
        # In one order for everybody, so that no two wait for each other.
        folders = {
            folder: stack.enter_context(hold_folder(located))
            for folder, located in sorted(
                {located.real.parent: located for located in files.values()}.items()
            )
        }
        held = {}
        for key, located in files.items():
            folder = folders[located.real.parent]
            content, mode = folder.read(located, max_bytes=max_bytes)
            held[key] = _Held(located, folder, content, mode)
        after = change({key: file.content for key, file in held.items()})
        # What goes comes last: until everything else is written nothing is lost.
        changed = [key for key in after if after[key] != held[key].content]
        changed.sort(key=lambda key: after[key] is None)
        _put_all(changed, held, after, moved)


def _put_all(
    changed: list[str], held: Mapping[str, _Held], after: Contents, moved: Mapping[str, str]
) -> None:
    done: list[_Held] = []
    for key in changed:
        file = held[key]
        before = held[moved[key]] if key in moved else file
        try:
            file.put(after[key], mode=before.mode)
        except (OSError, ToolError) as exc:
            lost = [one for one in reversed(done) if not _put_back(one)]
            raise ToolError(_failed(file, exc, done, lost)) from exc
        done.append(file)


def _put_back(file: _Held) -> bool:
    try:
        file.put(file.content, mode=file.mode)
    except (OSError, ToolError):
        return False
    return True


def _failed(file: _Held, problem: Exception, done: list[_Held], lost: list[_Held]) -> str:
    why = problem.strerror if isinstance(problem, OSError) else str(problem)
    said = f"{file.located.title} could not be written: {why}."
    if lost:
        names = ", ".join(one.located.title for one in lost)
        return f"{said} These files had been changed and could not be put back: {names}."
    if done:
        return f"{said} The files that had been written before it were put back: nothing changed."
    return f"{said} Nothing changed."
