from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage

from opencode_web.lib import static
from opencode_web.lib.static import StaticFilesApp
from tests.migrated import static_files


@pytest.fixture
def root(settings: Any) -> Path:
    settings.STATIC_ROOT = str(static_files())
    backend = "opencode_web.lib.static.ModuleManifestStorage"
    settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": backend}}
    return Path(settings.STATIC_ROOT)


async def _get(path: str, **headers: str) -> tuple[dict[bytes, bytes], bytes]:
    sent = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": path, "headers": sent, "query_string": b""}
    client = ApplicationCommunicator(StaticFilesApp(None), scope)
    await client.send_input({"type": "http.request", "body": b""})
    start = await client.receive_output()
    body = b""
    while (part := await client.receive_output()).get("more_body"):
        body += part["body"]
    await client.wait()
    assert start["status"] == 200
    return dict(start["headers"]), body + part["body"]


async def test_a_script_comes_compressed_and_may_be_kept_for_good(root: Path) -> None:
    url = staticfiles_storage.url("js/app.js")
    plain, source = await _get(url)
    packed, body = await _get(url, accept_encoding="gzip")

    assert b"content-encoding" not in plain
    assert packed[b"content-encoding"] == b"gzip"
    assert gzip.decompress(body) == source
    assert b"immutable" in packed[b"cache-control"]


@pytest.mark.deep
async def test_scripts_come_without_comments_and_name_each_other_as_they_are_kept(
    root: Path,
) -> None:
    for source in (settings.BASE_DIR / "static" / "js").glob("*.js"):
        _, body = await _get(staticfiles_storage.url(f"js/{source.name}"))
        names = re.findall(r'(?:from|import)\s*\(?\s*"\./([^"]+)"', body.decode())
        assert all(re.fullmatch(r"\w+\.[0-9a-f]{12}\.js", name) for name in names), names
        assert len(names) == len(re.findall(r'(?:from|import)\s*\(?\s*"\./', source.read_text()))
        assert not re.search(r"^\s*//", body.decode(), re.MULTILINE)


@pytest.mark.parametrize(("is_installed", "kept"), [(True, "let a=1"), (False, "let a = 1 // Why")])
def test_scripts_stay_as_they_are_where_nothing_can_make_them_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_installed: bool, kept: str
) -> None:
    if not is_installed:
        monkeypatch.setattr(static, "minify", None)
    source = FileSystemStorage(tmp_path / "from")
    storage = static.ModuleManifestStorage(tmp_path / "to", base_url="/static/")
    for one in (source, storage):
        one.save("js/a.js", ContentFile(b"let a = 1 // Why\n"))
    [(_, hashed, _)] = storage.post_process({"js/a.js": (source, "js/a.js")})
    assert (tmp_path / "to" / hashed).read_text().strip() == kept
