from __future__ import annotations

import json
import re

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

pytestmark = pytest.mark.django_db


def test_the_manifest_names_icons_that_exist(client: Client) -> None:
    answer = client.get("/manifest.webmanifest")
    assert answer["Content-Type"] == "application/manifest+json"
    manifest = json.loads(answer.content)
    assert (manifest["start_url"], manifest["scope"], manifest["display"]) == (
        "/",
        "/",
        "standalone",
    )
    assert {icon["sizes"] for icon in manifest["icons"]} == {"192x192", "512x512"}
    for icon in manifest["icons"]:
        assert finders.find(icon["src"].removeprefix("/static/")) is not None
    assert b'rel="manifest" href="/manifest.webmanifest"' in client.get("/login").content


def test_the_service_worker_keeps_the_shell_and_no_conversation(client: Client) -> None:
    answer = client.get("/sw.js")
    assert answer["Content-Type"].startswith("text/javascript")
    assert "no-store" in answer["Cache-Control"]
    script = answer.content.decode()
    shell = re.findall(r'"(/static/[^"]+)"', script)
    assert shell
    for url in shell:
        assert finders.find(url.removeprefix("/static/")) is not None
    assert 'const OFFLINE = "/offline"' in script
    page = client.get("/offline").content.decode()
    assert "cannot be reached" in page
