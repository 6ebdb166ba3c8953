"""`run`: one prompt from its admission to the end of the turn."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opencode_web_cli.connection import Connection, events
from opencode_web_cli.failures import Code, Failure
from opencode_web_cli.printing import Json, JsonPrinter, Printer, TextPrinter, error_text
from opencode_web_cli.prompt import build_file, build_model, build_text
from opencode_web_cli.results import write_results
from opencode_web_cli.rules import build_rules

_RECONNECT_S = 1.0
_RECONNECTS = 30
# Where the server's advice on a key begins, which is for its admins.
_REFUSED = "The key was refused:"


def run(connection: Connection, options: Namespace) -> Code:
    """Raises: Failure."""
    return run_prompt(connection, options, build_text(options.message))


def run_prompt(connection: Connection, options: Namespace, text: str) -> Code:
    """Send `text`, and write the results if a folder is named for them. Raises: Failure."""
    body = _body(options, text)
    session = _session(connection, options)
    printer: Printer
    printer = JsonPrinter() if options.format == "json" else TextPrinter(quiet=options.quiet)
    deadline = time.monotonic() + options.timeout if options.timeout else None
    turn = _Turn(connection, session, printer, allow=options.auto, deadline=deadline)
    try:
        code = turn.play(body)
    except KeyboardInterrupt:
        connection.call("POST", f"/session/{session}/abort")
        printer.note("Stopped.")
        code = Code.INTERRUPTED
    except Failure as exc:
        exc.session = session
        raise
    finally:
        printer.note(f"Session {session}")
    if options.results:
        write_results(connection, session, Path(options.results), code, turn.why)
    return code


def _body(options: Namespace, text: str) -> Json:
    parts = [{"type": "text", "text": text}, *(build_file(name) for name in options.file)]
    wanted = {"agent": options.agent, "variant": options.variant, "parts": parts}
    if options.model:
        wanted["model"] = build_model(options.model)
    return {name: value for name, value in wanted.items() if value is not None}


def _session(connection: Connection, options: Namespace) -> str:
    rules = build_rules(options.permission or "")
    if rules and (options.session or options.resume):
        raise Failure("Permission rules are for a new session.", Code.USAGE)
    if options.session:
        return str(connection.call("GET", f"/session/{options.session}")["id"])
    if options.resume:
        rows = connection.call("GET", "/session", roots="true", limit=1)
        if not rows:
            raise Failure("There is no session to continue in this project.")
        return str(rows[0]["id"])
    wanted = {
        "title": options.title,
        "permission": rules,
        "worktree": options.worktree or None,
        "commit": options.commit,
        "ref": options.ref,
    }
    body = {name: value for name, value in wanted.items() if value}
    return str(connection.call("POST", "/session", body=body)["id"])


@dataclass
class _Turn:
    connection: Connection
    session: str
    printer: Printer
    allow: bool
    deadline: float | None
    # Of the last message, empty unless it failed; and what was asked and refused.
    error: str = ""
    refused: list[str] = field(default_factory=list)
    over_budget: bool = False
    printed: set[str] = field(default_factory=set)

    @property
    def why(self) -> list[str]:
        """Sentences about what kept the turn from its end."""
        return [*filter(None, [self.error]), *self.refused]

    def play(self, body: Json) -> Code:
        """Send the prompt and follow the turn to its end."""
        sent = False
        for _ in range(_RECONNECTS):
            try:
                with self.connection.stream("/event") as answer:
                    for event in events(answer):
                        # Listening first: a short turn is over before the prompt has answered.
                        if not sent:
                            self._send(body)
                            sent = True
                        elif event["type"] == "server.connected" and self._is_idle():
                            return self._catch_up()
                        if self._is_late():
                            return self._stop_late()
                        if self._take(event["type"], event.get("properties", {})):
                            return self._code()
            except Failure as exc:
                if not sent:
                    raise
                self.printer.note(f"{exc} Trying again.")
            time.sleep(_RECONNECT_S)
        raise Failure("The server was away for too long. The turn goes on there.")

    def _send(self, body: Json) -> None:
        self.connection.call("POST", f"/session/{self.session}/prompt_async", body=body)

    def _take(self, kind: str, properties: Json) -> bool:
        """Returns: whether the turn is over."""
        if _session_of(properties) != self.session:
            return False
        match kind:
            case "message.part.updated":
                self._part(properties["part"])
            case "message.updated":
                self._message(properties["info"])
            case "permission.asked":
                self._permission(properties)
            case "question.asked":
                self._question(properties)
            case "session.idle":
                return True
        return False

    def _part(self, part: Json) -> None:
        if part["id"] not in self.printed and _is_final(part):
            self.printed.add(part["id"])
            self.printer.part(part)

    def _message(self, info: Json) -> None:
        if info["role"] != "assistant":
            return
        error = _for_run(info.get("error"), self.connection.key_from)
        self.error = "" if error is None else error_text(error)
        if error is not None and info["id"] not in self.printed:
            self.printed.add(info["id"])
            self.printer.error(self.session, error)

    def _permission(self, request: Json) -> None:
        wanted = f"{request['permission']} {', '.join(request.get('patterns', []))}"
        # A limit of the cost is one for a run that nobody watches.
        allow = self.allow and request["permission"] != "budget"
        if request["permission"] == "budget":
            self.over_budget = True
            self.printer.note("The session has reached the limit of its cost.")
        elif allow:
            self.printer.note(f"Allowed once: {wanted}")
        else:
            self.refused.append(f"Not allowed: {wanted}")
            self.printer.note(f"{self.refused[-1]}. A rule (--permission) or --auto can allow it.")
        reply = {"reply": "once" if allow else "reject"}
        self._answer(f"/permission/{request['id']}/reply", reply)

    def _question(self, request: Json) -> None:
        self.refused.append("The agent asked a question that nobody was there to answer.")
        self.printer.note(self.refused[-1])
        self._answer(f"/question/{request['id']}/reject", {})

    def _answer(self, path: str, body: Json) -> None:
        try:
            self.connection.call("POST", path, body=body)
        except Failure as exc:
            # Somebody else was faster, or the turn was stopped.
            self.printer.note(str(exc))

    def _is_idle(self) -> bool:
        return self.session not in self.connection.call("GET", "/session/status")

    def _catch_up(self) -> Code:
        """Print what came while the connection was lost."""
        rows = self.connection.call("GET", f"/session/{self.session}/message")
        last = max(i for i, row in enumerate(rows) if row["info"]["role"] == "user")
        for row in rows[last + 1 :]:
            for part in row["parts"]:
                self._part(part)
            self._message(row["info"])
        return self._code()

    def _is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    def _stop_late(self) -> Code:
        self.connection.call("POST", f"/session/{self.session}/abort")
        self.printer.note("Out of time: the turn was stopped.")
        return Code.TIMEOUT

    def _code(self) -> Code:
        if self.over_budget:
            return Code.OVER_BUDGET
        if self.error:
            return Code.FAILED
        return Code.REFUSED if self.refused else Code.OK


def _for_run(error: Json | None, key_from: Sequence[str]) -> Json | None:
    """Names the variables of a key, for a server for one run has no admin who could replace it."""
    data = (error or {}).get("data", {})
    if error is None or not key_from or data.get("reason") != "key_refused":
        return error
    said = str(data["message"]).partition(_REFUSED)[0]
    advice = f"{_REFUSED} check {' and '.join(key_from)} in the environment."
    return {**error, "data": {**data, "message": f"{said}{advice}"}}


def _session_of(properties: Json) -> Any:
    for holder in (properties, properties.get("part") or {}, properties.get("info") or {}):
        if "sessionID" in holder:
            return holder["sessionID"]
    return None


def _is_final(part: Json) -> bool:
    match part["type"]:
        case "text" | "reasoning":
            return bool((part.get("time") or {}).get("end"))
        case "tool":
            return part["state"]["status"] in {"completed", "error"}
        case _:
            return True
