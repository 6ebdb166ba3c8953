from __future__ import annotations

import re
import subprocess
from html import unescape
from pathlib import Path

from django.http import HttpResponse
from django.test import Client

from sessions.models import Session

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
MARKUP = re.compile(r"<[^>]*>")


class Repository:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def git(self, *arguments: str) -> None:
        name = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *name, "-C", str(self.folder), *arguments], check=True)

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.folder / name).write_text(text)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", "x")


class Review:
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

    def post(self, form: str, **fields: str) -> int:
        url = f"{self.url}/review/{form}"
        return self.client.post(url, fields, headers={"HX-Request": "true"}).status_code

    def pane(self, more: str) -> str:
        return self.get(f"?panel=changes&{more}")

    def diff(self, more: str) -> list[str]:
        table = self.get(f"/file?{more}").split("</table>")[0]
        rows = [row for row in table.split("<tr")[2:] if "data-hunk" not in row.split(">")[0]]
        return [" ".join(MARKUP.sub(" ", f"<tr{row}").split()) for row in rows]


def hunks_of(html: str) -> list[dict[str, str]]:
    """The fields of the form at the head of each hunk."""
    heads = re.findall(r'<tr id="hunk-.*?</tr>', html, re.DOTALL)
    found = [dict(re.findall(r'name="([^"]*)" value="([^"]*)"', head)) for head in heads]
    return [{name: unescape(value) for name, value in fields.items()} for fields in found]


def paths(html: str) -> list[str]:
    return re.findall(r'data-file-card aria-label="([^"]*)"', html)


def letters(html: str) -> str:
    cards = html.split('class="changes-diffs"')[1]
    return "".join(re.findall(r'class="change-letter"[^>]*><span aria-hidden="true">(.)', cards))


def fields_of(html: str, action: str, file: str) -> dict[str, str]:
    """What the form of a file with this address would send."""
    for form in html.split(f'action="{action}"')[1:]:
        inputs = re.findall(r'name="([^"]*)" value="([^"]*)"', form.split("</form>")[0])
        fields = {name: unescape(value) for name, value in inputs}
        if fields.get("file") == file:
            return fields
    raise AssertionError(f"no form of {file} posts to {action}")
