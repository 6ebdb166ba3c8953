"""Connecting a subscription from the genuine terminal program."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.genuine import Genuine
from tests.e2e.installation import Installation
from tests.e2e.tmux import screen

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.deep,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed"),
    pytest.mark.any_database,
]


def test_copilot_is_signed_in_to_from_the_genuine_terminal_program(
    genuine: Genuine, played: Installation, tmp_path: Path
) -> None:
    fresh = replace(genuine, server=played, home=tmp_path)
    with screen(fresh.command("attach"), env=fresh.env, cwd=tmp_path) as shown:
        shown.wait("Ask anything", "Build")
        shown.type("/connect")
        shown.wait("Connect provider")
        shown.act_until(lambda: shown.press("Enter"), lambda seen: "Search" in seen)
        shown.type("GitHub Copilot")
        shown.press("Enter")
        shown.wait("Which GitHub do you use?")
        shown.press("Enter")
        shown.wait("WDJB-")
        # It asks again and again by itself, and then offers the models of the account.
        shown.wait("GPT-4.1", seconds=90)
    with played.client() as client:
        listed = client.get("/provider").json()
        assert "github-copilot" in listed["connected"]
        methods = client.get("/provider/auth").json()["github-copilot"]
        assert methods[0]["type"] == "oauth"
