"""What models write into patches and edits, and the files that both programs leave behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# By path; None for a file that is gone.
Files = Mapping[str, str | None]

FILES: dict[str, str] = {
    "a.txt": "one\ntwo\nthree\nfour\n",
    "p.txt": "say \u2018hi\u2019 \u2014 \u201cok\u201d\u2026\nx\n",
    "t.txt": "\tif x:\n\t\treturn 1\n\n\tif y:\n\t\treturn 1\n",
}


@dataclass(frozen=True)
class Case:
    """A call of a tool and what it makes of `FILES`. None: the call is an error.

    `genuine` is what the genuine program makes of them where that is something else, for the
    reason `why`.
    """

    name: str
    tool: str
    arguments: dict[str, Any]
    changed: Files | None
    genuine: Files | None
    why: str = ""


class _Same:
    """The genuine program does the same."""


_SAME = _Same()
_TO_2 = {"a.txt": "one\n2\nthree\nfour\n"}
_TO_4 = {"a.txt": "one\ntwo\nthree\n4\n"}
_A = "*** Update File: a.txt"
_TWO = ("@@", "-two", "+2")
_MEANT = "The lines are taken as they are plainly meant. The genuine program ignores them silently."
_UNKNOWN = "What follows an unknown header would be lost without anybody noticing."
_NO_EFFECT = "A patch without effect is an error, so that the model does not believe it worked."


def _text(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


def _patch(
    name: str,
    text: str,
    changed: Files | None,
    *,
    genuine: Files | _Same | None = _SAME,
    why: str = "",
) -> Case:
    theirs = changed if isinstance(genuine, _Same) else genuine
    return Case(name, "apply_patch", {"patchText": text}, changed, theirs, why)


def _edit(
    name: str,
    arguments: tuple[str, str, str],
    changed: str | None,
    *,
    genuine: str | _Same | None = _SAME,
    why: str = "",
    **more: bool,
) -> Case:
    file, old, new = arguments
    ours = None if changed is None else {file: changed}
    theirs = None if genuine is None else {file: genuine}
    return Case(
        name,
        "edit",
        {"filePath": file, "oldString": old, "newString": new, **more},
        ours,
        ours if isinstance(genuine, _Same) else theirs,  # type: ignore[arg-type]
        why,
    )


_PLAIN = _text(_A, *_TWO)

PATCHES = [
    _patch("an update", _PLAIN, _TO_2),
    _patch("no end", _PLAIN.removesuffix("\n*** End Patch"), None),
    _patch("no begin", _PLAIN.removeprefix("*** Begin Patch\n"), None),
    _patch("no files", _text(), None),
    _patch("blank", "  ", None),
    _patch("heredoc of cat", f"cat <<'EOF'\n{_PLAIN}\nEOF", _TO_2),
    _patch("heredoc", f"<<EOF\n{_PLAIN}\nEOF", _TO_2),
    _patch("heredoc of the tool", f"apply_patch <<'X'\n{_PLAIN}\nX", _TO_2),
    _patch("fence", f"```\n{_PLAIN}\n```", _TO_2),
    _patch("words around it", f"Here it is:\n{_PLAIN}\nDone.", _TO_2),
    _patch("words before a header", _text("Now:", _A, *_TWO), _TO_2),
    _patch("CRLF", _PLAIN.replace("\n", "\r\n"), _TO_2),
    _patch("blanks after a header", _text(f"{_A}  ", *_TWO), _TO_2),
    _patch("header without blank", _text("*** Update File:a.txt", *_TWO), _TO_2),
    _patch("dot in the path", _text("*** Update File: ./a.txt", *_TWO), _TO_2),
    _patch("context line without its blank", _text(_A, "@@", "one", "-two", "+2"), _TO_2),
    _patch(
        "context line without its blank between others",
        _text(_A, "@@", " one", "two", "-three", "+3"),
        {"a.txt": "one\ntwo\n3\nfour\n"},
        genuine=None,
        why=_MEANT,
    ),
    _patch("line that the file does not have", _text(_A, "@@", " one", "#", "-two", "+2"), _TO_2),
    _patch("such a line below", _text(_A, "@@", "-two", "+2", "", "# and so on"), _TO_2),
    _patch(
        "only such a line and one to add",
        _text(_A, "@@", "zero", "+five"),
        None,
        genuine={"a.txt": "one\ntwo\nthree\nfour\nfive\n"},
        why="The place that is named does not exist, and the end of the file is not it.",
    ),
    _patch("empty line below", _text(_A, *_TWO, " "), _TO_2),
    _patch(
        "empty line between places",
        _text(_A, *_TWO, "", "@@", "-four", "+4"),
        {"a.txt": "one\n2\nthree\n4\n"},
    ),
    _patch("no @@", _text(_A, "-two", "+2"), _TO_2, genuine={}, why=_MEANT),
    _patch("context after @@", _text(_A, "@@ one", "-two", "+2"), _TO_2),
    _patch("blanks around that context", _text(_A, "@@   one  ", "-two", "+2"), _TO_2),
    _patch("context that is not there", _text(_A, "@@ zero", "-two", "+2"), None),
    _patch(
        "range of a unified diff",
        _text(_A, "@@ -1,2 +1,2 @@", "-two", "+2"),
        _TO_2,
        genuine=None,
        why="Models write unified diffs by habit, and the line numbers are not needed.",
    ),
    _patch("two contexts", _text(_A, "@@ one", "@@ three", "-four", "+4"), _TO_4),
    _patch(
        "line to add below its context",
        _text(_A, "@@ two", "+2b"),
        {"a.txt": "one\ntwo\n2b\nthree\nfour\n"},
        genuine={"a.txt": "one\ntwo\nthree\nfour\n2b\n"},
        why="The line belongs below its context, and not at the end of the file.",
    ),
    _patch(
        "line to add at the end",
        _text(_A, "@@", "+five"),
        {"a.txt": "one\ntwo\nthree\nfour\nfive\n"},
    ),
    _patch("end of the file", _text(_A, "@@", "-four", "+4", "*** End of File"), _TO_4),
    _patch(
        "no newline at the end",
        _text(_A, "@@", "-four", "+4", "\\ No newline at end of file"),
        _TO_4,
    ),
    _patch("blanks behind a line", _text(_A, "@@", "-two   ", "+2"), _TO_2),
    _patch("blanks before a line", _text(_A, "@@", "-   two", "+2"), _TO_2),
    _patch(
        "plain punctuation",
        _text("*** Update File: p.txt", "@@", "-say 'hi' - \"ok\"...", "+x"),
        {"p.txt": "x\nx\n"},
    ),
    _patch("places in the wrong order", _text(_A, "@@", "-four", "+4", *_TWO), None),
    _patch(
        "one file twice",
        _text(_A, *_TWO, _A, "@@", "-four", "+4"),
        {"a.txt": "one\n2\nthree\n4\n"},
        genuine=_TO_4,
        why="Both sections count. The genuine program loses the first.",
    ),
    _patch("nothing changes", _text(_A, "@@", " two"), None, genuine={}, why=_NO_EFFECT),
    _patch("no lines", _text(_A), None, genuine={}, why=_NO_EFFECT),
    _patch(
        "one section changes nothing",
        _text(_A, "*** Update File: p.txt", "@@", "-x", "+y"),
        {"p.txt": FILES["p.txt"].replace("x", "y")},
    ),
    _patch("new file", _text("*** Add File: n.txt", "+a", "+b"), {"n.txt": "a\nb\n"}),
    _patch("empty new file", _text("*** Add File: n.txt"), {"n.txt": ""}),
    _patch(
        "new file without +",
        _text("*** Add File: n.txt", "a", "b"),
        {"n.txt": "a\nb\n"},
        genuine={"n.txt": ""},
        why=_MEANT,
    ),
    _patch(
        "new file with some +",
        _text("*** Add File: n.txt", "+a", "", "b", "+c"),
        {"n.txt": "a\n\nb\nc\n"},
        genuine={"n.txt": "a\nc\n"},
        why=_MEANT,
    ),
    _patch("new file over another", _text("*** Add File: a.txt", "+new"), {"a.txt": "new\n"}),
    _patch("file to delete", _text("*** Delete File: a.txt"), {"a.txt": None}),
    _patch("its lines", _text("*** Delete File: a.txt", "-one"), {"a.txt": None}),
    _patch("no file to delete", _text("*** Delete File: z.txt"), None),
    _patch("no file to update", _text("*** Update File: z.txt", *_TWO), None),
    _patch(
        "file to move",
        _text(_A, "*** Move to: q.txt"),
        {"a.txt": None, "q.txt": FILES["a.txt"]},
    ),
    _patch(
        "file to move over another",
        _text(_A, "*** Move to: p.txt"),
        None,
        genuine={"a.txt": None, "p.txt": FILES["a.txt"]},
        why="The diff that a person approves would not show what is lost.",
    ),
    _patch(
        "unknown header",
        _text("*** Rename File: p.txt", _A, *_TWO),
        None,
        genuine=_TO_2,
        why=_UNKNOWN,
    ),
    _patch(
        "unknown header in an update",
        _text(_A, *_TWO, "*** What", "@@", "-four", "+4"),
        None,
        genuine=_TO_2,
        why=_UNKNOWN,
    ),
]

_DEDENTED = "if x:\n\treturn 1\n"

EDITS = [
    _edit("as it stands", ("a.txt", "two", "2"), "one\n2\nthree\nfour\n"),
    _edit("not there", ("a.txt", "zero", "0"), None),
    _edit("more than one", ("t.txt", "return 1", "return 2"), None),
    _edit(
        "all of them",
        ("t.txt", "return 1", "return 2"),
        FILES["t.txt"].replace("1", "2"),
        replaceAll=True,
    ),
    _edit("the same", ("a.txt", "two", "two"), None),
    _edit("empty in a file that is there", ("a.txt", "", "new"), None),
    _edit("empty in a new file", ("n.txt", "", "new"), "new"),
    _edit("blanks around it", ("a.txt", "  two  ", "2"), "one\n2\nthree\nfour\n"),
    _edit("blanks behind lines", ("a.txt", "one  \ntwo ", "1\n2"), "1\n2\nthree\nfour\n"),
    _edit(
        "other indentation",
        ("t.txt", "if x:\n    return 1", "\tpass"),
        "\tpass\n\n\tif y:\n\t\treturn 1\n",
    ),
    _edit(
        "indentation left out",
        ("t.txt", _DEDENTED, "pass\n"),
        "pass\n\n\n\tif y:\n\t\treturn 1\n",
    ),
    _edit(
        "other blanks within",
        ("t.txt", "if   x:", "while x:"),
        FILES["t.txt"].replace("\tif x", "while x"),
    ),
    _edit("escaped line end", ("a.txt", "one\\ntwo", "1"), "1\nthree\nfour\n"),
    _edit("CRLF", ("a.txt", "one\r\ntwo", "1"), "1\nthree\nfour\n"),
    _edit("first and last line", ("a.txt", "one\nzwo\nthree", "1"), "1\nfour\n"),
    _edit(
        "first and last line, little between",
        ("a.txt", "one\nvery different indeed\nfour", "1"),
        None,
    ),
    _edit("plain punctuation", ("p.txt", "say 'hi'", "x"), None),
]

CASES = [*PATCHES, *EDITS]
