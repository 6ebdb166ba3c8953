from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from django.http import HttpResponse
from django.test import Client

from sessions.models import Project, Session
from sessions.present.pages.files import MAX_DOWNLOAD_BYTES, MAX_TEXT_BYTES
from teams.models import User
from tests.sessions.factories import make_session

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.fixture
def folder(project: Project) -> Path:
    folder = Path(project.directory)
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "src" / "deep" / "till.py").write_text("def total():\n    return 1\n")
    (folder / "src" / "a b&c.txt").write_text("<script>alert(1)</script>\n")
    (folder / "logo.png").write_bytes(PNG)
    (folder / "logo.svg").write_text(SVG)
    (folder / "fake.png").write_text(SVG)
    (folder / "data.bin").write_bytes(b"\0\1\2")
    (folder / ".env").write_text("KEY=hidden-value\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder)]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "First"], check=True)
    return folder


class Files:
    def __init__(self, client: Client, session: Session) -> None:
        self.client = client
        self.url = f"/t/acme/s/{session.pk}"

    def ask(self, path: str, *, htmx: bool = True) -> HttpResponse:
        headers = {"HX-Request": "true"} if htmx else {}
        return self.client.get(self.url + path, headers=headers)

    def get(self, path: str, *, htmx: bool = True) -> str:
        answer = self.ask(path, htmx=htmx)
        assert answer.status_code == 200, answer.content
        return answer.content.decode()


@pytest.fixture
def files(
    client_for: Callable[[User | None], Client], alice: User, project: Project, folder: Path
) -> Files:
    return Files(client_for(alice), make_session(alice, project))


def names(html: str) -> list[str]:
    return [one.split("<")[0] for one in html.split('class="file-node-name">')[1:]]


def test_a_tree_opens_folder_by_folder_and_says_what_git_says(files: Files, folder: Path) -> None:
    (folder / "src" / "deep" / "till.py").write_text("def total():\n    return 2\n")
    (folder / "src" / "new.txt").write_text("n\n")
    html = files.get("?panel=files")
    assert names(html)[:2] == ["src", ".env"]
    assert "till.py" not in html
    assert "has changes" in html.split('node-name">src<')[1].split("</a>")[0]
    rows = files.get("/files?folder=src/")
    assert names(rows) == ["deep", "a b&amp;c.txt", "new.txt"]
    assert "> new</span>" in rows.split('node-name">new.txt<')[1]
    assert "file=src%2Fa+b%26c.txt" in rows


def test_an_address_of_a_line_shows_tree_and_file_without_a_script(files: Files) -> None:
    html = files.get("?panel=files&file=src/deep/till.py", htmx=False)
    assert 'data-tab="files"' in html
    assert names(html)[1:4] == ["deep", "till.py", "a b&amp;c.txt"]
    assert '<tr id="L2"><td class="diff-number"><a href="#L2"' in html
    assert '<span class="k">return</span>' in html
    assert 'data-mention-file="src/deep/till.py"' in html


def test_a_part_by_itself_leads_to_the_page(files: Files) -> None:
    answer = files.ask("/files?file=src/a%20b%26c.txt", htmx=False)
    assert answer.status_code == 302
    assert answer["Location"].endswith("?panel=files&file=src%2Fa+b%26c.txt")
    assert "alert(1)&lt;/" in files.get(answer["Location"].removeprefix(files.url), htmx=False)


def test_a_filter_finds_paths_and_says_when_there_is_none(files: Files) -> None:
    assert names(files.get("/files?filter=till")) == ["src/deep/till.py"]
    assert names(files.get("?panel=files&filter=till", htmx=False)) == ["src/deep/till.py"]
    assert "No file matches “zzz&lt;b&gt;”." in files.get("/files?filter=zzz%3Cb%3E")
    assert names(files.get("/files?filter="))[:2] == ["src", ".env"]


def test_only_what_is_an_image_by_its_bytes_is_sent_as_one(files: Files) -> None:
    assert "<img src=" in files.get("/files?file=logo.png")
    answer = files.ask("/files/raw?file=logo.png", htmx=False)
    assert answer.content == PNG
    assert answer["Content-Type"] == "image/png"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"].startswith("default-src 'none'")
    for name in ("logo.svg", "fake.png", "data.bin", "src"):
        assert files.ask(f"/files/raw?file={name}").status_code in (400, 404)
    drawing = files.get("/files?file=logo.svg")
    assert "<img" not in drawing
    assert "<script>" not in drawing
    assert "alert" in drawing


@pytest.mark.parametrize(
    ("name", "content"),
    [("logo.svg", SVG.encode()), ("data.bin", b"\0\1\2"), ("src/deep/till.py", None)],
)
def test_a_download_is_never_shown(
    files: Files, folder: Path, name: str, content: bytes | None
) -> None:
    answer = files.ask(f"/files/download?file={name}", htmx=False)
    assert answer.content == (content or (folder / name).read_bytes())
    assert answer["Content-Type"] == "application/octet-stream"
    last = name.rpartition("/")[2]
    assert answer["Content-Disposition"] == f'attachment; filename="{last}"'
    assert "sandbox" in answer["Content-Security-Policy"]


def test_large_and_binary_files_say_so(files: Files, folder: Path) -> None:
    assert "Binary file" in files.get("/files?file=data.bin")
    (folder / "big.txt").write_text("x" * (MAX_TEXT_BYTES + 1))
    big = files.get("/files?file=big.txt")
    assert "Large file" in big
    assert "xxxx" not in big
    assert "/files/download?file=big.txt" in big
    with (folder / "huge.bin").open("wb") as file:
        file.truncate(MAX_DOWNLOAD_BYTES + 1)
    assert "Too large to download" in files.get("/files?file=huge.bin")
    assert files.ask("/files/download?file=huge.bin").status_code == 413


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "gone.py", "link", "a\0b"])
def test_what_is_not_there_or_outside_is_refused(files: Files, folder: Path, path: str) -> None:
    (folder / "link").symlink_to("/etc/passwd")
    for part in ("/files", "/files/raw", "/files/download"):
        answer = files.ask(f"{part}?file={quote(path)}")
        assert answer.status_code in (400, 404), part
        assert b"root:" not in answer.content
    if "\0" not in path:
        html = files.get(f"?panel=files&file={quote(path)}", htmx=False)
        assert 'role="alert"' in html.split("data-files-view")[1]
        assert "root:" not in html


def test_viewers_do_not_get_what_agents_have_to_ask_for(
    files: Files, client_for: Callable[[User | None], Client], vera: User
) -> None:
    assert "hidden-value" in files.get("/files?file=.env")
    viewer = Files(client_for(vera), Session.objects.get())
    for part in ("/files", "/files/raw", "/files/download"):
        answer = viewer.ask(f"{part}?file=.env")
        assert answer.status_code == 403, part
        assert b"hidden-value" not in answer.content
    page = viewer.get("?panel=files&file=.env", htmx=False)
    assert "do not allow you to read .env" in page
    assert "hidden-value" not in page
    assert "till" in viewer.get("/files?file=src/deep/till.py")


def test_a_folder_that_is_gone_is_a_sentence_in_the_panel(files: Files, project: Project) -> None:
    Project.objects.update(directory="/nowhere/at/all")
    html = files.get("?panel=files", htmx=False)
    assert 'role="alert">' in html.split('id="files"')[1]
    assert "Try again" in html
