"""The genuine terminal program attached to a server, driven by keys and judged by its screen."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.genuine import Genuine
from tests.e2e.rest import ask, new_session, script, text_of, wait_for
from tests.e2e.tmux import Screen, screen

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.deep,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed"),
    pytest.mark.any_database,
]

# White space and frames: long lines are broken anywhere.
_GAPS = re.compile(r"[\s┃]+")
TILL = "sample-project"
READ = {"tool": "read", "input": {"filePath": "till.py"}}
EDIT = {
    "tool": "edit",
    "input": {
        "filePath": "till.py",
        "oldString": "* self.discount_percent //",
        "newString": "//",
    },
}


@pytest.fixture
def client(genuine: Genuine) -> Iterator[httpx.Client]:
    with genuine.server.client() as made:
        yield made


@pytest.fixture(scope="module")
def started(genuine: Genuine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    with attached(genuine, tmp_path_factory.mktemp("terminal")) as shown:
        shown.wait("Ask anything", "Build")
        yield shown


@pytest.fixture
def terminal(started: Screen) -> Iterator[Screen]:
    """Attached, with an empty prompt. One for all tests: to start it takes longer than most do."""
    yield started
    # From a session or a list, and from where a failure has left it.
    started.act_until(
        lambda: started.press("Escape", "C-x", "n"),
        lambda shown: "Ask anything" in shown and "Permission required" not in shown,
    )
    if "Build ·" not in started.text:
        started.act_until(lambda: started.press("Tab"), lambda shown: "Build ·" in shown)


@contextmanager
def attached(genuine: Genuine, home: Path, *arguments: str) -> Iterator[Screen]:
    fresh = replace(genuine, home=home)
    with screen(fresh.command("attach", *arguments), env=fresh.env, cwd=home) as shown:
        yield shown


def chord(terminal: Screen, key: str, wanted: str) -> None:
    """The leader key and another, again until it is heard."""

    def press() -> None:
        terminal.press("C-x", key)

    terminal.act_until(press, lambda shown: wanted in shown)


def choose_script(terminal: Screen, *, agent: str = "Build") -> None:
    wanted = f"{agent} · Script in the prompt"
    if wanted in terminal.text:
        return
    chord(terminal, "m", "Select model")
    terminal.type("in the prompt")
    terminal.wait_gone("● Tour of a first fix")
    terminal.press("Enter")
    terminal.wait_gone("Select model")
    terminal.wait(wanted)


def send(terminal: Screen, text: str) -> None:
    terminal.type(text)
    end = _GAPS.sub("", text)[-20:]
    terminal.until(lambda shown: end in _GAPS.sub("", shown), f"all of {text!r}")
    terminal.press("Enter")


def play(*steps: list[dict[str, Any]]) -> str:
    """A script that is short enough to be typed, and in which no answer stands as it is shown."""
    return play_turns(steps)


def play_turns(*turns: Sequence[list[dict[str, Any]]]) -> str:
    """As `play`, for several prompts."""
    played = [[{"events": events} for events in steps] for steps in turns]
    text = json.dumps({"name": "e2e", "turns": played}, separators=(",", ":"))
    text = re.sub(r'(?<="text":")[ \w]', lambda first: f"\\u{ord(first[0]):04x}", text)
    return f"<<script{text}>>"


def newest(client: httpx.Client) -> str:
    return str(client.get("/session").json()[0]["id"])


def tools(client: httpx.Client, session: str) -> dict[str, str]:
    messages = client.get(f"/session/{session}/message").json()
    parts = [part for message in messages for part in message["parts"]]
    return {part["tool"]: part["state"]["status"] for part in parts if part["type"] == "tool"}


def test_sessions_are_listed_and_opened(terminal: Screen, client: httpx.Client) -> None:
    session = new_session(client)
    client.patch(f"/session/{session}", json={"title": "Earlier work"})
    ask(client, session, script([{"text": "What was said before."}]))
    chord(terminal, "l", "Sessions")
    terminal.wait("Today", "Earlier work", TILL)
    terminal.type("Earlier")
    terminal.wait("Earlier")
    terminal.press("Enter")
    terminal.wait("What was said before.")
    send(terminal, "/share")
    terminal.wait("Are you sure you want to share it?")
    terminal.act_until(lambda: terminal.press("Enter"), lambda shown: "/share/" in shown)
    url = client.get(f"/session/{session}").json()["share"]["url"]
    terminal.wait(url.rpartition("/")[2][:20])


def test_model_and_agent_are_switched(terminal: Screen, client: httpx.Client) -> None:
    terminal.act_until(lambda: terminal.press("Tab"), lambda shown: "Plan ·" in shown)
    choose_script(terminal, agent="Plan")
    known = {row["id"] for row in client.get("/session").json()}
    send(terminal, play([{"text": "Planned."}]))
    terminal.wait("Planned.")
    session = newest(client)
    assert session not in known
    asked, answer = client.get(f"/session/{session}/message").json()
    assert asked["info"]["agent"] == answer["info"]["mode"] == "plan"
    assert answer["info"]["modelID"] == "inline"


def test_a_turn_streams_asks_and_is_undone(
    terminal: Screen, client: httpx.Client, genuine: Genuine
) -> None:
    folder = Path(client.get("/path").json()["directory"])
    before = (folder / "till.py").read_text()
    choose_script(terminal)
    slow = [{"text": "First half,"}, {"delay_ms": 4_000}, {"text": " second half."}, READ]
    send(terminal, play(slow, [EDIT], [{"text": "All is changed."}]))
    terminal.wait("First half,")
    assert "First half, second half." not in terminal.text
    terminal.wait("First half, second half.", "Permission required", "Edit till.py", "Allow once")
    session = newest(client)
    assert tools(client, session) == {"read": "completed", "edit": "running"}
    assert (folder / "till.py").read_text() == before
    terminal.act_until(
        lambda: terminal.press("Enter"), lambda shown: "Permission required" not in shown
    )
    terminal.wait("All is changed.", "Modified Files", "till.py")
    assert tools(client, session) == {"read": "completed", "edit": "completed"}
    assert (folder / "till.py").read_text() != before
    chord(terminal, "u", "1 message reverted")
    wait_for(lambda: (folder / "till.py").read_text() == before)
    chord(terminal, "r", "All is changed.")
    wait_for(lambda: (folder / "till.py").read_text() != before)
    client.post(f"/session/{session}/revert", json={"messageID": first_message(client, session)})
    wait_for(lambda: (folder / "till.py").read_text() == before)
    terminal.wait("1 message reverted")


def test_a_shell_call_shows_its_command_while_it_asks(
    terminal: Screen, client: httpx.Client
) -> None:
    choose_script(terminal)
    call = {"tool": "bash", "input": {"command": "ls -d t*.py"}}
    send(terminal, play([call], [{"text": "Listed."}]))
    terminal.wait("Permission required", "# Shell command", "┃  $ ls -d t*.py")
    terminal.act_until(
        lambda: terminal.press("Enter"), lambda shown: "Permission required" not in shown
    )
    terminal.wait("till.py", "Listed.")


def test_a_typed_shell_line_has_one_row(terminal: Screen, client: httpx.Client) -> None:
    session = new_session(client)
    client.patch(f"/session/{session}", json={"title": "A line typed"})
    chord(terminal, "l", "A line typed")
    terminal.press("Enter")
    terminal.wait_gone("Sessions")
    terminal.type("!")
    terminal.wait("Shell")
    terminal.type("sleep 1; echo typed by hand")
    terminal.press("Enter")
    terminal.wait("$ sleep 1; echo typed by hand", "┃  typed by hand")
    # What is read again when the session is opened again takes the place of what came live.
    chord(terminal, "n", "Ask anything")
    chord(terminal, "l", "A line typed")
    terminal.press("Enter")
    terminal.wait("┃  typed by hand")
    assert terminal.text.count("$ sleep 1; echo typed by hand") == 1


def test_a_model_that_is_set_up_elsewhere_is_offered_while_attached(
    terminal: Screen, client: httpx.Client, genuine: Genuine
) -> None:
    models = {"fresh": {"name": "Model that came later"}}
    provider = {"name": "Later", "npm": "@ai-sdk/openai-compatible", "models": models}
    provider["options"] = {"baseURL": "http://127.0.0.1:9/v1", "apiKey": "x"}
    answer = client.patch(
        "/global/config",
        params={"team": genuine.server.team},
        json={"provider": {"later": provider}},
    )
    assert answer.status_code == 200, answer.text
    chord(terminal, "m", "Select model")
    terminal.type("came later")
    terminal.wait("Model that came later")


def test_a_session_of_a_subfolder_works_there(
    genuine: Genuine, client: httpx.Client, tmp_path: Path
) -> None:
    root = Path(client.get("/path").json()["directory"])
    (root / "inner").mkdir(exist_ok=True)
    with attached(genuine, tmp_path, "--dir", f"{root}/inner") as terminal:
        terminal.wait("Ask anything", "Build")
        choose_script(terminal)
        call = {"tool": "bash", "input": {"command": "pwd"}}
        send(terminal, play([call], [{"text": "That is where."}]))
        terminal.wait("Permission required")
        terminal.act_until(lambda: terminal.press("Enter"), lambda shown: "That is where." in shown)
    made = client.get("/session", params={"directory": str(root), "path": "inner"}).json()[0]
    assert (made["path"], made["directory"]) == ("inner", f"{root}/inner")
    [part] = [
        part
        for message in client.get(f"/session/{made['id']}/message").json()
        for part in message["parts"]
        if part["type"] == "tool"
    ]
    assert part["state"]["output"].strip() == f"{root}/inner"


def first_message(client: httpx.Client, session: str) -> str:
    return str(client.get(f"/session/{session}/message").json()[0]["info"]["id"])


def test_a_permission_is_rejected_with_a_word(terminal: Screen, client: httpx.Client) -> None:
    choose_script(terminal)
    send(terminal, play([READ], [EDIT], [{"text": "As you wish."}]))
    terminal.wait("Permission required", "Reject")
    session = newest(client)
    terminal.act_until(
        lambda: terminal.press("Escape"), lambda shown: "Permission required" not in shown
    )
    wait_for(lambda: tools(client, session)["edit"] == "error")


def test_a_turn_is_aborted(terminal: Screen, client: httpx.Client) -> None:
    choose_script(terminal)
    send(terminal, play([{"text": "It takes long."}, {"delay_ms": 300_000}, {"text": "Late."}]))
    terminal.wait("It takes long.", "esc")
    session = newest(client)
    assert client.get("/session/status").json()[session] == {"type": "busy"}
    terminal.act_until(
        lambda: terminal.press("Escape", "Escape"), lambda shown: "interrupted" in shown
    )
    wait_for(lambda: session not in client.get("/session/status").json())
    answer = client.get(f"/session/{session}/message").json()[-1]
    assert answer["info"]["error"]["name"] == "MessageAbortedError"
    assert text_of(answer) == "It takes long."


def test_terminal_and_browser_see_each_other(
    terminal: Screen, client: httpx.Client, genuine: Genuine, signed_in: BrowserContext
) -> None:
    choose_script(terminal)
    send(terminal, play([{"text": "From the terminal."}], [{"text": "To the browser."}]))
    terminal.wait("From the terminal.")
    session = newest(client)
    page = signed_in.new_page()
    page.goto(f"{genuine.server.url}/t/{genuine.server.team}/s/{session}")
    expect(page.locator("#log")).to_contain_text("From the terminal.")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    page.locator("#prompt").fill("Typed in the browser")
    page.locator("#prompt").press("Enter")
    terminal.wait("Typed in the browser")
    send(terminal, "typed in the terminal")
    expect(page.locator("#log")).to_contain_text("typed in the terminal")
    page.close()


def test_a_range_of_a_file_and_an_agent_are_mentioned(
    terminal: Screen, client: httpx.Client
) -> None:
    choose_script(terminal)
    terminal.type("@till.py#2-3")
    # In the line, and among the suggestions: before that, the key takes nothing.
    terminal.until(lambda shown: shown.count("till.py#2-3") > 1, "the file suggested")
    terminal.press("Tab")
    terminal.type("@explore")
    terminal.until(lambda shown: shown.count("@explore") > 1, "the agent suggested")
    terminal.press("Tab")
    send(terminal, play([{"text": "Both were named."}]))
    terminal.wait("Both were named.")
    asked = client.get(f"/session/{newest(client)}/message").json()[0]
    parts = {part["type"]: part for part in asked["parts"] if not part.get("synthetic")}
    assert parts["file"]["url"].endswith("till.py?start=2&end=3")
    assert parts["agent"]["name"] == "explore"


def test_two_terminals_show_the_same_turn_and_either_answers(
    terminal: Screen, client: httpx.Client, genuine: Genuine, tmp_path: Path
) -> None:
    choose_script(terminal)
    call = {"tool": "bash", "input": {"command": "true"}}
    first, second = ([{"text": "Seen by both."}],), ([call], [{"text": "Allowed by one."}])
    send(terminal, play_turns(first, second))
    terminal.wait("Seen by both.")
    second_home = tmp_path / "second"
    second_home.mkdir()
    with attached(genuine, second_home, "--session", newest(client)) as other:
        other.wait("Seen by both.", "Build · Script in the prompt")
        send(other, "go on")
        for one in (terminal, other):
            one.wait("Permission required", "Allow once")
        terminal.act_until(
            lambda: terminal.press("Enter"), lambda shown: "Allowed by one." in shown
        )
        other.wait("Allowed by one.")
        other.wait_gone("Permission required")


def test_a_wrong_token_is_refused(genuine: Genuine, tmp_path: Path) -> None:
    fresh = replace(genuine, home=tmp_path)
    command = fresh.command("attach", token="ocw_wrong")
    shell = ["sh", "-c", '"$@"; echo "ended: $?"; sleep 60', "sh", *command]
    with screen(shell, env=fresh.env, cwd=tmp_path) as shown:
        shown.wait("ended: 1")
        assert re.search(r"(?i)unauthori|token|sign|failed attempts", shown.text), shown.text
        assert genuine.server.email not in shown.text
