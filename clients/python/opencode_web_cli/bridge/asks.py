"""What the server wants to know, put to the editor. The server decides what an answer does."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from acp import RequestError

from opencode_web_cli.bridge.patches import apply_patch, fragments_of
from opencode_web_cli.bridge.server import (
    Json,
    Lost,
    Refused,
    Server,
    note,
    question_path,
    report,
    request_path,
)
from opencode_web_cli.bridge.sessions import OpenSession
from opencode_web_cli.bridge.updates import kind_of

_OPTIONS = [
    {"optionId": "once", "kind": "allow_once", "name": "Allow once"},
    {"optionId": "always", "kind": "allow_always", "name": "Always allow"},
    {"optionId": "reject", "kind": "reject_once", "name": "Reject"},
]
# The answer came too late: somebody else was first, or the turn is over.
_SETTLED = frozenset({404, 409})

Request = Callable[[str, Json], Awaitable[Any]]


class Asks:
    """One at a time for each session, each request once."""

    def __init__(self, server: Server, request: Request, *, mirrors: bool) -> None:
        self._server, self._request, self._mirrors = server, request, mirrors
        # Set when the editor says what it can.
        self.editor_writes = False
        self._open: dict[str, asyncio.Task[None]] = {}
        # The editor has answered: from here on the server's word of it is our own.
        self._answered: set[str] = set()
        self._locks: dict[str, asyncio.Lock] = {}
        self._writes: set[asyncio.Task[None]] = set()

    def ask(self, session: OpenSession, request: Json) -> None:
        """Put a permission request or questions of the session, or of one of its sub-agents', to
        the editor."""
        if request["id"] not in self._open:
            work = self._question if "questions" in request else self._ask
            task = asyncio.create_task(work(session, request))
            self._open[request["id"]] = task
            task.add_done_callback(report)

    def withdraw(self, request_id: str) -> None:
        """It is answered: what the editor says now is not heard any more."""
        task = self._open.get(request_id)
        if task is not None and request_id not in self._answered:
            task.cancel()

    def close(self) -> None:
        """What is open stays so, for everybody in the browser."""
        for task in (*self._open.values(), *self._writes):
            task.cancel()

    async def _ask(self, session: OpenSession, request: Json) -> None:
        async with self._locks.setdefault(session.id, asyncio.Lock()):
            call = await self._describe(session, request)
            asked = {"sessionId": session.id, "toolCall": call, "options": _OPTIONS}
            try:
                answer = await self._request("session/request_permission", asked)
                reply = _reply_of(answer)
            except RequestError:
                reply = "reject"
            except ConnectionError:
                return
            self._answered.add(request["id"])
            # What the tool does then is shown after what the editor is told here.
            async with session.lock:
                told = await self._send(request["id"], reply)
                if not told and reply != "reject":
                    self._mirror(session, call)
        if told:
            await session.say(told)

    async def _question(self, session: OpenSession, request: Json) -> None:
        """The protocol has no questions that editors know, but requests with options."""
        path = question_path(request["id"])
        async with self._locks.setdefault(session.id, asyncio.Lock()):
            answers: list[list[str]] = []
            for question in request["questions"]:
                labels = [str(option["label"]) for option in question.get("options") or ()]
                if not labels:
                    text = f"The agent asks: {question['question']}\n\nAnswer it in the browser."
                    await session.say(f"{text}\n\n")
                    return
                asked = {
                    "sessionId": session.id,
                    "toolCall": {
                        "toolCallId": request["tool"]["callID"],
                        "title": question["question"],
                        "kind": "other",
                        "status": "pending",
                        "rawInput": question,
                    },
                    "options": [
                        *(
                            {"optionId": f"answer-{number}", "kind": "allow_once", "name": label}
                            for number, label in enumerate(labels)
                        ),
                        {"optionId": "dismiss", "kind": "reject_once", "name": "Dismiss"},
                    ],
                }
                try:
                    chosen = _chosen(await self._request("session/request_permission", asked))
                except RequestError:
                    chosen = ""
                except ConnectionError:
                    return
                by_id = {f"answer-{number}": label for number, label in enumerate(labels)}
                if chosen not in by_id:
                    break
                answers.append([by_id[chosen]])
            self._answered.add(request["id"])
            is_whole = len(answers) == len(request["questions"])
            act, body = ("reply", {"answers": answers}) if is_whole else ("reject", {})
            try:
                await self._server.insist("POST", f"{path}/{act}", body=body)
            except Refused as exc:
                if exc.status not in _SETTLED:
                    await session.say(f"The server did not take this answer: {exc}\n\n")

    async def _send(self, request_id: str, reply: str) -> str:
        """Returns: what the person must know when the answer did not count; else nothing."""
        try:
            await self._server.insist("POST", request_path(request_id), body={"reply": reply})
        except Refused as exc:
            if exc.status not in _SETTLED:
                return f"The server did not take this answer: {exc} The request stays open there."
        return ""

    async def _describe(self, session: OpenSession, request: Json) -> Json:
        kind, metadata = kind_of(request["permission"]), request.get("metadata") or {}
        view = session.transcript.view
        call: Json = {
            "toolCallId": request["tool"]["callID"],
            "title": _title(request),
            "kind": kind,
            "status": "pending",
            "locations": []
            if kind == "execute"
            else view.locations(request["permission"], metadata),
            "rawInput": metadata,
        }
        local = view.local(metadata.get("filepath"))
        if kind == "edit" and local is not None:
            call["title"] = local
            call["content"] = [await self._diff(session, metadata, local)]
        if request["sessionID"] != session.id:
            parent = session.transcript.call_of_child(request["sessionID"])
            call["toolCallId"] = parent or call["toolCallId"]
            call["title"] = f"Sub-agent: {call['title']}"
        return call

    async def _diff(self, session: OpenSession, metadata: Json, local: str) -> Json:
        """Returns: the whole file before and after, or the changed parts where it is not known."""
        patch, path = str(metadata.get("diff") or ""), str(metadata["filepath"])
        old = ""
        if metadata.get("exists", True):
            inside = path.removeprefix(f"{session.paths.remote}/")
            query = {"path": inside, "directory": session.paths.remote}
            with contextlib.suppress(Refused, Lost):
                old = str((await self._server.call("GET", "/file/content", **query))["content"])
        new = apply_patch(old, patch)
        if new is None:
            old, new = fragments_of(patch)
        return {"type": "diff", "path": local, "oldText": old, "newText": new}

    def _mirror(self, session: OpenSession, call: Json) -> None:
        """Have the editor change its copy of a file as the agent will, if it is the same now."""
        diffs = call.get("content") or []
        if not (self._mirrors and self.editor_writes and diffs):
            return
        path, old, new = (diffs[0][key] for key in ("path", "oldText", "newText"))
        inside = session.paths.to_remote(path) is not None
        if inside and _text_of(path) == old:
            write = {"sessionId": session.id, "path": path, "content": new}
            task = asyncio.create_task(self._write(write))
            self._writes.add(task)
            task.add_done_callback(self._writes.discard)

    async def _write(self, write: Json) -> None:
        try:
            await self._request("fs/write_text_file", write)
        except RequestError as exc:
            note(f"The editor did not change its copy of {write['path']}: {exc}")
        except ConnectionError:
            return


def _chosen(answer: Any) -> str:
    """Returns: the id of the option that was selected, nothing where none was."""
    outcome = answer.get("outcome") if isinstance(answer, dict) else None
    if not isinstance(outcome, dict) or outcome.get("outcome") != "selected":
        return ""
    return str(outcome.get("optionId", ""))


def _reply_of(answer: Any) -> str:
    """Returns: the reply; anything but a known yes is a no."""
    chosen = _chosen(answer)
    return chosen if chosen in ("once", "always") else "reject"


def _title(request: Json) -> str:
    metadata = request.get("metadata") or {}
    if command := metadata.get("command"):
        return str(command)
    return " ".join([request["permission"], *map(str, request.get("patterns") or [])])


def _text_of(path: str) -> str:
    """Returns: the text of a file of the editor's machine, nothing where there is none."""
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
