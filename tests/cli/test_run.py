from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.installation import ROOT, Installation
from tests.e2e.rest import new_session, script, text_of, wait_for
from tests.e2e.test_budgets import COSTLY, PRICED
from tests.sessions.git_server import run_git
from tests.sessions.push_service import certificate
from tests.web_server import answer, serve_any

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300), pytest.mark.any_database]
Cli = Callable[..., subprocess.CompletedProcess[str]]
PROGRAM = [sys.executable, "-m", "opencode_web_cli"]
EMBEDDED = ("run", "hi", "--embedded", "/", "-m", "anthropic/claude-sonnet-5")
READ = {"tool": "read", "input": {"filePath": "till.py"}}
NEON = "neon/claude-fable-5"
WRITE = {"tool": "write", "input": {"filePath": "made.txt", "content": "by hand"}}


@pytest.fixture
def env(server: Installation) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT / "clients" / "python"),
        "OPENCODE_WEB_URL": server.url,
        "OPENCODE_WEB_TOKEN": server.token,
    }


@pytest.fixture
def cli(env: dict[str, str], tmp_path: Path) -> Cli:
    def call(*arguments: str, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*PROGRAM, *arguments],
            env={**env, **more},
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=200,
        )

    return call


def run(cli: Cli, *steps: list[dict[str, Any]], more: tuple[str, ...] = ()) -> Any:
    return cli("run", "-m", "demo/inline", *more, stdin=script(*steps))


def test_the_answer_is_printed_and_the_way_to_it_beside(cli: Cli) -> None:
    done = run(cli, [READ], [{"text": "Answer 42."}])
    assert (done.returncode, done.stdout) == (0, "Answer 42.\n"), done.stderr
    assert "read till.py" in done.stderr
    assert "Session ses_" in done.stderr
    quiet = run(cli, [READ], [{"text": "Answer 43."}], more=("--quiet",))
    assert (quiet.stdout, quiet.stderr) == ("Answer 43.\n", "")


def test_json_is_one_object_a_line(cli: Cli) -> None:
    done = run(cli, [READ], [{"text": "Answer 42."}], more=("--format", "json"))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [line["type"] for line in lines]
    assert kinds[0] == "step_start"
    assert kinds[-1] == "step_finish"
    assert [line["part"]["tool"] for line in lines if line["type"] == "tool_use"] == ["read"]
    assert [line["part"]["text"] for line in lines if line["type"] == "text"] == ["Answer 42."]
    assert len({line["sessionID"] for line in lines}) == 1


def test_a_session_goes_on_and_files_go_along(
    cli: Cli, server: Installation, tmp_path: Path
) -> None:
    with server.client() as client:
        session = new_session(client)
        (tmp_path / "notes.txt").write_text("remember")
        options = ("--session", session, "--file", "notes.txt", "Look at this:")
        done = run(cli, [{"text": "Seen."}], more=options)
        assert done.stdout == "Seen.\n", done.stderr
        newest = run(cli, [{"text": "Again."}], more=("--continue",))
        assert session in newest.stderr
        asked = client.get(f"/session/{session}/message").json()[0]
    files = [part for part in asked["parts"] if part["type"] == "file"]
    assert [(file["filename"], file["mime"]) for file in files] == [("notes.txt", "text/plain")]
    assert text_of(asked).startswith("Look at this:\n<<script")


def test_what_nobody_allows_is_refused(cli: Cli, server: Installation) -> None:
    refused = run(cli, [WRITE], [{"text": "Written."}])
    assert refused.returncode == 3, refused.stderr
    assert "Not allowed: edit made.txt. A rule (--permission) or --auto can" in refused.stderr
    allowed = run(cli, [WRITE], [{"text": "Written."}], more=("--auto",))
    assert (allowed.returncode, allowed.stdout) == (0, "Written.\n")


def test_rules_allow_and_the_results_are_kept(cli: Cli, tmp_path: Path) -> None:
    options = ("--permission", '{"edit": "allow"}', "--results", "kept", "--title", "<b>Kept</b>")
    # Nothing that another test has written already.
    write = {"tool": "write", "input": {"filePath": "kept.txt", "content": "by hand"}}
    done = run(cli, [write], [{"text": "Written."}], more=options)
    assert (done.returncode, done.stdout) == (0, "Written.\n"), done.stderr
    kept = tmp_path / "kept"
    result = json.loads((kept / "result.json").read_text())
    assert (result["result"], result["exitCode"]) == ("done", 0)
    assert result["changed"] == ["kept.txt"]
    assert (kept / "answer.md").read_text() == "Written.\n"
    assert "<h1>&lt;b&gt;Kept&lt;/b&gt;</h1>" in (kept / "session.html").read_text()
    assert cli("import", str(kept / "session.json")).stdout.startswith("ses_")
    command = ["git", "apply", "--stat", str(kept / "changes.patch")]
    assert b"kept.txt" in subprocess.run(command, capture_output=True, check=True).stdout


def test_more_cost_than_the_limit_is_never_allowed(cli: Cli, server: Installation) -> None:
    with server.client() as client:
        config = {**PRICED, "limits": {"session_cost": "0.50"}}
        client.patch("/config", json=config).raise_for_status()
        text = json.dumps({"name": "e2e", "turns": [COSTLY] * 9, "otherwise": COSTLY[-1:]})
        done = cli("run", "-m", "demo/inline", "--auto", stdin=f"<<script{text}>>")
        client.patch("/config", json={"limits": None}).raise_for_status()
    assert done.returncode == 4, done.stderr
    assert "reached the limit of its cost" in done.stderr


@pytest.mark.deep
def test_a_failed_turn_and_one_out_of_time(cli: Cli) -> None:
    failed = run(cli, [{"error": {"status": 400, "message": "It is all wrong."}}])
    assert failed.returncode == 1
    assert "It is all wrong." in failed.stderr
    late = run(cli, [{"text": "Slow."}, {"delay_ms": 500_000}], more=("--timeout", "2"))
    assert late.returncode == 124
    assert "Out of time" in late.stderr


def test_a_run_without_a_turn_leaves_why(cli: Cli, tmp_path: Path) -> None:
    asked = cli("run", "hi", "-m", "demo/missing", "--results", "kept")
    result = json.loads((tmp_path / "kept" / "result.json").read_text())
    assert (result["result"], result["exitCode"], asked.returncode) == ("failed", 1, 1)
    assert result["session"].startswith("ses_")
    assert "demo/missing" in result["why"][0]
    early = cli("run", "hi", "--embedded", ".", "--results", "early")
    result = json.loads((tmp_path / "early" / "result.json").read_text())
    assert (result["result"], result["exitCode"], early.returncode) == ("invalid", 2, 2)
    assert f"Error: {result['why'][0]}\n" == early.stderr
    # A folder that cannot be written hides no reason.
    hidden = cli("run", "hi", "--embedded", ".", "--results", "kept/result.json")
    assert "needs the model" in hidden.stderr
    assert "kept/result.json cannot be written" in hidden.stderr


@pytest.mark.deep
def test_a_refused_key_is_named_by_its_variable(cli: Cli, tmp_path: Path) -> None:
    trusted = certificate(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(trusted)
    run_git("init", cwd=tmp_path)
    no = answer(b'{"error": {"message": "No such token"}}', status=401)
    with serve_any(no, tls=tls) as base:
        done = cli(
            *("run", "hi", "--embedded", ".", "-m", NEON, "--results", "kept"),
            NEON_AI_GATEWAY_BASE_URL=base,
            NEON_AI_GATEWAY_TOKEN="wrong",
            SSL_CERT_FILE=str(trusted),
            ALLOWED_PRIVATE_ADDRESSES="127.0.0.1",
            UNSAFE_SANDBOX="1",
            HOME=str(tmp_path),
        )
    assert done.returncode == 1, done.stderr
    [why] = json.loads((tmp_path / "kept" / "result.json").read_text())["why"]
    assert "“No such token” The key was refused: check NEON_AI_GATEWAY_TOKEN in the env" in why
    assert "Team settings" not in why + done.stderr


def test_ctrl_c_stops_the_turn(env: dict[str, str], server: Installation) -> None:
    prompt = script([{"text": "Slow."}, {"delay_ms": 500_000}])
    command = [*PROGRAM, "run", "-m", "demo/inline", "--title", "To be stopped", prompt]
    with server.client() as client:
        process = subprocess.Popen(
            command, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

        def running() -> str | None:
            rows = client.get("/session").json()
            found = [row["id"] for row in rows if row["title"] == "To be stopped"]
            busy = client.get("/session/status").json()
            return next((session for session in found if session in busy), None)

        session = wait_for(running, seconds=60)
        wait_for(lambda: client.get(f"/session/{session}/message").json()[1:], seconds=60)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
        assert (process.returncode, "Stopped." in told) == (130, True), told
        wait_for(lambda: session not in client.get("/session/status").json(), seconds=60)


@pytest.mark.parametrize(
    ("arguments", "more", "code", "told"),
    [
        (("run",), {}, 2, "Say what to do"),
        (("run", "hi", "-m", "gpt"), {}, 2, "provider/model"),
        (("run", "hi", "-f", "missing.txt"), {}, 2, "missing.txt cannot be read"),
        (("run", "hi", "--timeout", "0"), {}, 2, "no number of seconds"),
        (("run", "hi", "-s", "ses_missing"), {}, 1, "ses_missing"),
        (("run", "hi", "--permission", '{"edit": "yes"}'), {}, 2, "no permission rule"),
        (("run", "hi", "-c", "--permission", '"allow"'), {}, 2, "for a new session"),
        (("run", "hi", "--max-cost", "nan"), {}, 2, "no amount of dollars"),
        (("run", "hi", "--embedded", "."), {}, 2, "--model"),
        (("run", "hi", "--embedded", "/", "-m", "demo/inline"), {}, 2, "no Git repository"),
        # Said before anything is looked at or started.
        (("run", "hi", "--embedded", "/", "-m", "claude"), {}, 2, "Name it as provider/model"),
        (EMBEDDED, {}, 2, "No key of anthropic: set ANTHROPIC_API_KEY"),
        (EMBEDDED, {"ANTHROPIC_API_KEY": "sk-some"}, 2, "no Git repository"),
        (EMBEDDED, {"INSTANCE_CONFIG": "instance.json"}, 2, "no Git repository"),
        (("run", "hi"), {"OPENCODE_WEB_TOKEN": ""}, 2, "OPENCODE_WEB_TOKEN"),
        (("run", "hi"), {"OPENCODE_WEB_TOKEN": "ocw_wrong"}, 1, "not valid"),
        (("run", "hi"), {"OPENCODE_WEB_URL": "http://127.0.0.1:9"}, 1, "does not answer"),
        (("run", "hi"), {"OPENCODE_WEB_PROJECT": "no/such"}, 1, "no/such"),
        ((), {}, 2, "COMMAND"),
        (("import", "missing.json"), {}, 2, "missing.json cannot be read"),
        (("sessions", "delete", "ses_missing"), {}, 1, "ses_missing"),
        (("token", "revoke", "tok_missing"), {}, 1, "tok_missing"),
    ],
)
def test_faults_are_told(
    cli: Cli, arguments: tuple[str, ...], more: dict[str, str], code: int, told: str
) -> None:
    done = cli(*arguments, **more)
    assert done.returncode == code, done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_sessions_are_listed_moved_and_deleted(cli: Cli, server: Installation) -> None:
    run(cli, [{"text": "Worth keeping."}], more=("--title", "Kept work"))
    listed = cli("sessions").stdout.splitlines()
    assert listed[0].split() == ["ID", "STATE", "UPDATED", "TITLE"]
    session = next(line.split()[0] for line in listed if line.endswith("Kept work"))
    assert session in [row["id"] for row in json.loads(cli("sessions", "--json").stdout)]
    document = cli("export", session).stdout
    assert cli("export", session, "-o", "kept.json").returncode == 0
    copied = cli("import", "-", stdin=document).stdout.strip()
    assert copied.startswith("ses_")
    assert copied != session
    with server.client() as client:
        assert text_of(client.get(f"/session/{copied}/message").json()[-1]) == "Worth keeping."
    assert cli("sessions", "delete", session, copied).returncode == 0
    assert session not in cli("sessions").stdout


def test_tokens_are_made_listed_and_revoked(cli: Cli, server: Installation) -> None:
    secret = cli("token", "create", "from the shell", "--scope", "read", "--days", "2").stdout
    token = secret.strip()
    assert token.startswith("ocw_")
    listed = cli("token", OPENCODE_WEB_TOKEN=token).stdout
    row = next(line for line in listed.splitlines() if "from the shell" in line)
    assert "(this one)" in row
    assert token not in listed
    assert cli("token", "revoke", row.split()[0]).returncode == 0
    with httpx.Client(headers={"Authorization": f"Bearer {token}"}) as client:
        assert client.get(f"{server.url}/session").status_code == 401


def test_attach_says_how_without_the_token(cli: Cli, server: Installation) -> None:
    done = cli("attach", "--how")
    assert f"opencode attach {server.url}" in done.stdout
    assert server.token not in done.stdout + done.stderr
    # Nor does it say to put it where everybody on the host can read it.
    assert 'OPENCODE_SERVER_PASSWORD="$OPENCODE_WEB_TOKEN"' in done.stdout
    assert " -p" not in done.stdout


def test_nothing_drives_the_terminal(cli: Cli) -> None:
    done = run(cli, [{"text": "a\u001b]0;title\u0007b\u009b2Jc"}])
    assert done.stdout == "a]0;titleb2Jc\n"
    failed = cli("import", "no\u009b2Jfile")
    assert failed.stderr.startswith("Error: no2Jfile cannot be read")
