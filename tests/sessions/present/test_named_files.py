from __future__ import annotations

from typing import Any

import pytest

from sessions.models import Part
from sessions.present.conversation.named_files import NamedFiles
from sessions.present.place import Place

PLACE = Place("acme", "ses_1", "/srv/shop")


def call(tool: str, path: str, *, status: str = "completed", **more: Any) -> Part:
    state = {"status": status, "input": {"filePath": path}, **more}
    return Part(data={"type": "tool", "tool": tool, "state": state})


def test_files_of_calls_have_pages_by_each_name_that_texts_have_for_them() -> None:
    named = NamedFiles(PLACE)
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-a\n+b\n*** End Patch"
    patched = Part(
        data={
            "type": "tool",
            "tool": "apply_patch",
            "state": {"status": "completed", "input": {"patchText": patch}},
        }
    )
    named.add([call("read", "/srv/shop/src/till.py"), call("write", "Makefile"), patched])
    page = "/t/acme/s/ses_1?panel=files&file=src%2Ftill.py"
    for name in ("till.py", "src/till.py", "/srv/shop/src/till.py"):
        assert named.page_of(name) == page
    assert named.page_of("Makefile").endswith("file=Makefile")
    assert named.page_of("a.py").endswith("file=src%2Fa.py")

    # What a command has changed is known from its step.
    named.add([Part(data={"type": "patch", "hash": "1", "files": ["/srv/shop/docs/guide.md"]})])
    assert named.page_of("docs/guide.md").endswith("file=docs%2Fguide.md")

    # What two files share names neither, unless it is all of one's path.
    named.add([call("edit", "/srv/shop/till.py"), call("edit", "/srv/shop/other/a.py")])
    assert named.page_of("till.py").endswith("file=till.py")
    assert named.page_of("a.py") == ""


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (call("read", "/etc/passwd"), "/etc/passwd"),
        (call("read", "/etc/passwd.py"), "passwd.py"),
        (call("write", "../other/till.py"), "../other/till.py"),
        (call("write", "../other/till.py"), "till.py"),
        (call("read", "src/none.py", status="error"), "src/none.py"),
        (call("bash", "src/till.py"), "src/till.py"),
        (call("read", "src.d", metadata={"display": {"type": "directory"}}), "src.d"),
        (call("read", ""), ""),
    ],
)
def test_nothing_else_has_a_page(part: Part, name: str) -> None:
    named = NamedFiles(PLACE)
    named.add([part])
    assert named.page_of(name) == ""
