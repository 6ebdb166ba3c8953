from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from providers.catalog_file import read_all
from providers.catalog_refresh import install_catalog, note_refusal

pytestmark = pytest.mark.django_db


def test_the_bundled_catalog_has_its_source_and_date(
    console: Client, settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    page = console.get("/ops/catalog").content.decode()
    assert "models.dev" in page
    assert "8,261" in page
    assert "The server does not check for a newer catalog." in page
    assert "The API of this provider is not supported" in page
    assert "This is the catalog that was shipped with this version." in page


def test_changes_and_refusals_are_shown(console: Client, settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR, settings.MODELS_URL = tmp_path, "https://models.example/api.json"
    api = read_all()
    api["new-one"] = {"name": "New <one>", "npm": "x", "models": {"m1": {"name": "M"}}}
    install_catalog(api, source="https://models.example/api.json", date="2026-10-01")
    page = console.get("/ops/catalog").content.decode()
    assert "Oct 1, 2026" in page
    assert "providers_added: 1: new-one" in page
    assert "The server checks https://models.example/api.json every 24 hours." in page
    assert "New &lt;one&gt;" in page
    assert "was not used" not in page
    note_refusal("https://models.example/api.json", reason="the server answered 503")
    page = console.get("/ops/catalog").content.decode()
    assert "The newest catalog was not used." in page
    assert "the server answered 503" in page
