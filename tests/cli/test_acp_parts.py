from __future__ import annotations

from pathlib import Path

import pytest
from opencode_web_cli.bridge.patches import apply_patch, fragments_of
from opencode_web_cli.bridge.place import Paths, normalized
from opencode_web_cli.bridge.wire import Lines

PATCH = """\
--- a/till.py
+++ b/till.py
@@ -1,2 +1,2 @@
 one
-two
+TWO
@@ -4 +4,2 @@
 four
+five
\\ No newline at end of file
"""


def test_a_patch_is_applied_to_its_text_alone() -> None:
    assert apply_patch("one\ntwo\nthree\nfour\n", PATCH) == "one\nTWO\nthree\nfour\nfive"
    assert apply_patch("one\nother\nthree\nfour\n", PATCH) is None
    assert apply_patch("one\n", "no patch") is None
    assert fragments_of(PATCH) == ("one\ntwo\nfour\n", "one\nTWO\nfour\nfive")
    assert apply_patch("", "@@ -0,0 +1,2 @@\n+a\n+b\n") == "a\nb\n"


@pytest.mark.parametrize(
    "remote",
    [
        "https://git.example.com/acme/till",
        "https://ada:secret@GIT.example.com/acme/till.git",
        "ssh://git@git.example.com:2222/acme/till.git/",
        "git@git.example.com:acme/till.git",
    ],
)
def test_a_repository_has_one_name(remote: str) -> None:
    assert normalized(remote) == "git.example.com/acme/till"


@pytest.mark.parametrize(
    "remote", ["", "/srv/till.git", "../till", "https://[", "file:///srv/till"]
)
def test_what_has_no_host_is_no_repository_of_others(remote: str) -> None:
    assert normalized(remote) == ""


def test_lines_come_whole_whatever_the_chunks_are() -> None:
    lines = Lines(limit=5)
    chunks = (b"a", b"b\nc", b"d\n", b"123456", b"7\nok\n12345\n", b"123456\n\n")
    cut = [line for chunk in chunks for line in lines.cut(chunk)]
    assert cut == [b"ab", b"cd", None, b"ok", b"12345", None, b""]


def test_paths_stay_in_the_folder_and_end_at_borders(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "out").symlink_to(tmp_path)
    paths = Paths(str(tmp_path / "in"), "/srv/till")
    assert paths.to_local("/srv/till/a/b.py") == str(tmp_path / "in" / "a" / "b.py")
    assert paths.to_local("b.py", "/srv/till/a") == str(tmp_path / "in" / "a" / "b.py")
    for path in ("/srv/tillage/a", "/srv/till/../x", "/etc/passwd"):
        assert paths.to_local(path) is None
    assert paths.to_remote(str(tmp_path / "in" / "a.py")) == "/srv/till/a.py"
    assert paths.to_remote("a.py") == "/srv/till/a.py"
    for path in ("../x", "out/x", "/etc/passwd", str(tmp_path / "inner")):
        assert paths.to_remote(path) is None
