"""What a run leaves in a folder, for other programs and for people who look into it later.

session.json  the whole session, which `opencode-web import` reads
session.html  the same to read, without scripts
answer.md     what the agent answered last
changes.patch what its turn changed, for `git apply`
result.json   how it ended, and why; alone where there was no turn
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from opencode_web_cli.connection import Connection
from opencode_web_cli.failures import Code, Failure

Json = dict[str, Any]
NAMES = {
    Code.OK: "done",
    Code.FAILED: "failed",
    Code.USAGE: "invalid",
    Code.REFUSED: "refused",
    Code.OVER_BUDGET: "over-budget",
    Code.TIMEOUT: "timeout",
    Code.INTERRUPTED: "interrupted",
}
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "color-scheme:light dark}pre{white-space:pre-wrap;overflow-wrap:anywhere}"
    "article{border-top:1px solid #8888;margin-top:1rem}h2{font-size:1rem}"
    "details{margin:.5rem 0}summary{cursor:pointer}"
)


def write_results(
    connection: Connection, session: str, folder: Path, code: Code, why: list[str]
) -> None:
    """`why` has sentences for people.

    Raises: Failure when the session cannot be read or the folder cannot be written.
    """
    with connection.stream(f"/session/{session}/export") as answer:
        text = b"".join(answer.iter_bytes()).decode()
    document = json.loads(text)
    diffs = connection.call("GET", f"/session/{session}/diff")
    patch = "".join(_ended(diff["patch"]) for diff in diffs if diff.get("patch"))
    result = {
        "session": session,
        "title": document["info"]["title"],
        **_ending(code, why),
        "changed": sorted(diff["file"] for diff in diffs),
    }
    files = {
        "session.json": text,
        "session.html": build_page(document),
        "answer.md": answer_of(document["messages"]),
        "changes.patch": patch,
        "result.json": _document(result),
    }
    _write(folder, files)


def write_failure(folder: Path, failure: Failure) -> None:
    """Write how a run ended that had no turn, or lost it. Raises: Failure."""
    result = {"session": failure.session, **_ending(failure.code, [str(failure)]), "changed": []}
    _write(folder, {"result.json": _document(result)})


def _ending(code: Code, why: list[str]) -> Json:
    return {"result": NAMES[code], "exitCode": int(code), "why": why}


def _document(result: Json) -> str:
    return json.dumps(result, indent=2) + "\n"


def _write(folder: Path, files: dict[str, str]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_text(content, encoding="utf-8", newline="")
    except OSError as exc:
        raise Failure(f"{folder} cannot be written: {exc.strerror}") from exc


def answer_of(messages: list[Json]) -> str:
    """Returns: the texts of the newest message with any, after the last prompt."""
    for message in reversed(messages):
        if message["info"]["role"] == "user":
            break
        texts = [part["text"].strip() for part in message["parts"] if _is_said(part)]
        if any(texts):
            return "\n\n".join(text for text in texts if text) + "\n"
    return ""


def build_page(document: Json) -> str:
    """Returns: the session as one page. All that stands in it is text: none of it is markup."""
    title = escape(document["info"]["title"])
    turns = "\n".join(_message(message) for message in document["messages"])
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{title}</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>{title}</h1>\n{turns}\n</body></html>\n"
    )


def _message(message: Json) -> str:
    info = message["info"]
    who = "Prompt" if info["role"] == "user" else f"Agent {info.get('mode') or ''}".strip()
    parts = [_part(part) for part in message["parts"]]
    if error := info.get("error"):
        parts.append(f"<p>Error</p><pre>{escape(json.dumps(error, indent=2))}</pre>")
    return f"<article><h2>{escape(who)}</h2>{''.join(parts)}</article>"


def _part(part: Json) -> str:
    match part["type"]:
        case "text":
            return f"<pre>{escape(part['text'])}</pre>"
        case "reasoning":
            return _folded("Reasoning", part["text"])
        case "file":
            return f"<p>File {escape(str(part.get('filename') or ''))}</p>"
        case "tool":
            state = part["state"]
            given = json.dumps(state.get("input") or {}, indent=2, ensure_ascii=False)
            shown = str(state.get("output") or state.get("error") or "")
            head = f"{part['tool']}: {state.get('title') or state['status']}"
            return _folded(head, f"{given}\n\n{shown}")
        case _:
            return ""


def _folded(head: str, text: str) -> str:
    return f"<details><summary>{escape(head)}</summary><pre>{escape(text)}</pre></details>"


def _is_said(part: Json) -> bool:
    return part["type"] == "text" and not part.get("synthetic")


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"
