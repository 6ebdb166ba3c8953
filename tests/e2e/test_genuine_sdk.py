from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bench.npm import Unavailable
from bench.reference import install_sdk
from tests.e2e.installation import Installation
from tests.e2e.rest import script

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.deep,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not shutil.which("node"), reason="node is not installed"),
]
STORY = Path(__file__).with_name("sdk_story.mjs")
TEXT = "The till is changed, and this is said in several pieces."


@pytest.fixture(scope="module")
def story(server: Installation) -> dict[str, Any]:
    try:
        module = install_sdk()
    except Unavailable as exc:
        pytest.skip(f"the genuine SDK: {exc}")
    edit = {"filePath": "till.py", "oldString": "* self.discount_percent //", "newString": "//"}
    prompt = script(
        [{"tool": "read", "input": {"filePath": "till.py"}}],
        [{"tool": "edit", "input": edit}],
        [{"text": TEXT}],
    )
    command = ["node", str(STORY), str(module), server.url, server.token, prompt]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr + done.stdout
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_it_prompts_and_gets_the_answer(story: dict[str, Any], server: Installation) -> None:
    assert story["created"]["title"] == "By the SDK"
    assert story["created"]["id"].startswith("ses_")
    assert story["project"] == server.project
    assert [part["text"] for part in story["answer"]["parts"] if part["type"] == "text"] == [TEXT]
    asked, *answers = story["messages"]
    assert asked["info"]["role"] == "user"
    assert {answer["info"]["role"] for answer in answers} == {"assistant"}
    calls = [part for answer in answers for part in answer["parts"] if part["type"] == "tool"]
    assert [(call["tool"], call["state"]["status"]) for call in calls] == [
        ("read", "completed"),
        ("edit", "completed"),
    ]


def test_it_follows_the_events_and_answers_the_request(story: dict[str, Any]) -> None:
    events = story["events"]
    assert events[0] == "server.connected"
    assert events[-1] == "session.idle"
    assert {"message.updated", "message.part.updated", "session.status"} <= set(events)
    assert events.index("permission.asked") < events.index("permission.replied")
    assert story["asked"] == "edit"
    assert story["deltas"] == TEXT


def test_it_reads_finds_and_compares_files(story: dict[str, Any]) -> None:
    assert {"till.py", "test_till.py"} <= set(story["listed"])
    assert "till.py" in story["found"]
    assert story["matches"] >= 1
    assert [change["file"] for change in story["diff"]] == ["till.py"]


def test_it_reverts_and_restores(story: dict[str, Any]) -> None:
    assert "* self.discount_percent //" not in story["changed"]
    assert "* self.discount_percent //" in story["reverted"]
    assert story["restored"] == story["changed"]


def test_it_forks_lists_and_deletes(story: dict[str, Any]) -> None:
    assert {story["created"]["id"], story["forked"]} <= set(story["sessions"])
    assert story["created"]["id"] not in story["status"]
    assert {"build", "plan"} <= set(story["agents"])
    assert story["deleted"] is True
    assert story["gone"] == {"status": 404, "name": "NotFoundError"}


def test_it_shares_and_ends_it(story: dict[str, Any], server: Installation) -> None:
    assert story["shared"].startswith(f"{server.url}/share/")
    assert story["told"] == {"url": story["shared"]}
    assert story["unshared"] is None
