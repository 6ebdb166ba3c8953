"""A package is built, installed beside a real server and used in whole turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e.browser import chromium, signed_in_as, watched
from tests.e2e.installation import Installation, installation
from tests.e2e.rest import ask, new_session, script, text_of, wait_for
from tests.installed_plugins import write_package

pytestmark = [pytest.mark.e2e, pytest.mark.deep]
UV = Path(sys.executable).with_name("uv")
EXAMPLE = Path(__file__).with_name("example_plugin")


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example as its wheel brings it, and one package that is broken."""
    built, target = tmp_path_factory.mktemp("built"), tmp_path_factory.mktemp("packages")
    for command in (
        ["build", "--quiet", "--wheel", "--offline", "--out-dir", built, EXAMPLE],
        ["pip", "install", "--quiet", "--no-deps", "--no-index", "--target", target],
    ):
        wheels = built.glob("*.whl") if command[0] == "pip" else ()
        subprocess.run([UV, *command, *wheels], check=True, env=os.environ)
    write_package(target, "unfinished", "import a_module_that_is_not_there")
    return target


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("acme")
    (folder / "tickets.json").write_text(json.dumps({"ACME-1": "The till does not open."}))
    (folder / "rules").mkdir()
    (folder / "rules/style.md").write_text("At ACME we write tests first.")
    return folder


class _Models(BaseHTTPRequestHandler):
    """ACME's models, which know one key."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        is_known = self.path == "/acme/talk" and self.headers["x-acme-key"] == "key-for-sesame"
        delta = {"content": "Anvil speaking."}
        chunks = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        ]
        text = "".join(f"data: {json.dumps(one)}\n\n" for one in chunks) + "data: [DONE]\n\n"
        self.send_response(200 if is_known else 401)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(text.encode() if is_known else b"{}")
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


@pytest.fixture(scope="module")
def models() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Models) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, packages: Path, home: Path, models: str
) -> Iterator[Installation]:
    with installation(tmp_path_factory.mktemp("installation")) as made:
        made.env |= {"PYTHONPATH": str(packages), "ACME_HOME": str(home), "ACME_MODELS": models}
        made.start()
        made.bootstrap()
        yield made


def calls_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [part["state"] for part in message["parts"] if part["type"] == "tool"]


def turn(client: httpx.Client, session: str, tool: str, **given: Any) -> dict[str, Any]:
    """Returns: how the only call of a turn has ended."""
    ask(client, session, script([{"tool": tool, "input": given}], [{"text": "Done."}]))
    messages = client.get(f"/session/{session}/message").json()
    return [state for one in messages for state in calls_of(one)][-1]


def permit(server: Installation, **rules: Any) -> None:
    server.run(
        "from sessions.models import Project\n"
        f"Project.objects.filter(pk={server.project!r}).update(config={{'permission': {rules!r}}})"
    )


def test_a_tool_and_both_hooks_take_part_in_turns(
    server: Installation, client: httpx.Client
) -> None:
    permit(server, ticket="allow", bash="allow")
    session = new_session(client)
    found = turn(client, session, "ticket", number="ACME-1")
    assert (found["output"], found["title"]) == ("The till does not open.", "Ticket ACME-1")
    assert found["metadata"]["ticket"] == "ACME-1"
    assert turn(client, session, "ticket", number="ACME-9")["error"] == "There is no ticket ACME-9."
    run = turn(client, session, "bash", command="echo at acme.internal $ACME")
    assert run["output"].strip() == "at [host] 1"
    assert run["input"]["command"] == "export ACME=1; echo at acme.internal $ACME"
    forbidden = turn(client, session, "bash", command="git push --force")
    assert forbidden["error"] == "acme: At ACME nobody forces a push."
    assert "ticket" in client.get("/experimental/tool/ids").json()
    permit(server, ticket="deny", bash="allow")
    denied = turn(client, session, "ticket", number="ACME-1")
    assert "The till" not in json.dumps(denied)
    permit(server, ticket="allow", bash="allow")


def test_fr_06_texts_come_change_and_go_between_turns(
    server: Installation, client: httpx.Client, home: Path
) -> None:
    session = new_session(client)

    def told() -> tuple[str, str]:
        answer = ask(client, session, script([{"text": "Done."}]))
        assert text_of(answer) == "Done."
        return server.run(
            "from sessions.models import ContextEpoch\n"
            f"row = ContextEpoch.objects.get(session={session!r})\n"
            "result = [' '.join(row.baseline), ' '.join(one['text'] for one in row.updates)]"
        )

    baseline, said = told()
    assert "At ACME we write tests first." in baseline
    assert said == ""
    (home / "rules/names.md").write_text("Name it after the customer.")
    assert told()[0] == baseline
    assert "Name it after the customer." in told()[1]
    (home / "rules/names.md").write_text("Name it after the till.")
    assert "Name it after the till." in told()[1]
    (home / "rules/names.md").unlink()
    left, said = told()
    assert left == baseline
    assert "The instructions from acme/names are gone and no longer apply." in said


def test_fr_03_its_provider_is_signed_in_to_and_called(
    server: Installation, client: httpx.Client
) -> None:
    methods = client.get("/provider/auth").json()["acme"]
    assert methods == [{"type": "oauth", "label": "ACME portal"}]
    begun = client.post("/provider/acme/oauth/authorize", json={"method": 0}).json()
    assert begun["url"] == "https://portal.acme.example/code"
    address = "/provider/acme/oauth/callback"
    assert client.post(address, json={"method": 0, "code": "wrong"}).status_code == 400
    assert client.post(address, json={"method": 0, "code": "sesame"}).json() is True
    model = {"providerID": "acme", "modelID": "anvil"}
    answer = ask(client, new_session(client), "Who is there?", model=model)
    assert text_of(answer) == "Anvil speaking."
    assert answer["info"]["modelID"] == "anvil"


def test_fr_04_terminals_have_its_variables(server: Installation, client: httpx.Client) -> None:
    folder = Path(client.get("/path").json()["directory"])
    body = {"command": "sh", "args": ["-c", "printenv ACME_USER > seen.new; mv seen.new seen"]}
    assert client.post("/pty", json=body).status_code == 200
    wait_for((folder / "seen").exists)
    assert (folder / "seen").read_text().strip() == server.email


def test_a_broken_package_stops_nothing_and_is_told_to_operators(server: Installation) -> None:
    checked = subprocess.run(
        [sys.executable, "manage.py", "check"],
        env=server.env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "The plugin unfinished 1.0 is not loaded: ModuleNotFoundError" in checked.stderr
    doctor = server.run(
        "from opencode_web.diagnosis import _settings\nresult = [one.detail for one in _settings()]"
    )
    assert "a_module_that_is_not_there" in doctor[0]
    with (
        chromium() as browser,
        signed_in_as(browser, server, server.email) as context,
        watched(context, console=True) as page,
    ):
        page.goto(f"{server.url}/ops/health")
        table = page.get_by_role("region", name="Plugins of the server")
        acme = table.get_by_role("row").filter(has_text="acme")
        expect(acme).to_contain_text("1.2.0")
        expect(acme).to_contain_text("Loaded")
        expect(acme).to_contain_text("before_tool")
        broken = table.get_by_role("row").filter(has_text="unfinished")
        expect(broken).to_contain_text("Failed")
        expect(broken).to_contain_text("a_module_that_is_not_there")

        page.goto(f"{server.url}/t/{server.team}/settings/models/new?q=acme")
        page.get_by_role("link", name="ACME models").click()
        expect(page.get_by_role("main")).to_contain_text("ACME portal")

        page.goto(f"{server.url}/t/{server.team}/")
        page.locator("#topbar [data-menu] > summary").last.click()
        link = page.get_by_role("link", name="ACME tracker")
        expect(link).to_have_attribute("href", "https://tracker.acme.example/")
        expect(link).to_have_attribute("data-command", "plugin-acme-tracker")
        page.keyboard.press("Escape")
        page.keyboard.press("Control+k")
        page.get_by_role("combobox", name="Search term").fill("> tickets")
        expect(page.get_by_role("option").first).to_contain_text("ACME tracker")
