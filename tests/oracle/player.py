"""Plays a recorded case through the runner, and tells what a vendor and a client got to see."""

from __future__ import annotations

import asyncio
import base64
import io
from collections import defaultdict
from pathlib import Path
from typing import Any

from PIL import Image

from opencode_web.lib.db import in_db
from providers.llm.messages import ModelRef
from sessions.access import SessionAccess
from sessions.actions.compaction import request_compaction
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.models import Event, Project, Session
from sessions.runner import run_session
from sessions.runner.drain.title_request import write_title
from teams.models import User
from tests.oracle.facts import facts_of, outcome_of
from tests.oracle.reduce import said_in
from tests.oracle.vendors import answer_of, error_of
from tests.providers.replies import Reply
from tests.providers.servers import Request
from tests.sessions.factories import make_session, session_access

Json = dict[str, Any]
_CASE_S = 30
_PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    b"2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n%%EOF\n"
)
AGENTS: Json = {
    "warm": {"description": "a", "mode": "primary", "temperature": 0.3, "top_p": 0.7,
             "prompt": "You are warm."},
    "opts": {"description": "b", "mode": "primary", "prompt": "You are opts.",
             "options": {"custom_option": "v1"}},
}  # fmt: skip


def _picture() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (16, 16), "red").save(file, "PNG")
    return file.getvalue()


FILES = {
    "a.txt": b"alpha\nbeta\n",
    "b.txt": b"gamma\n",
    "pic.png": _picture(),
    "doc.pdf": _PDF,
}
_ATTACHED = {"image": ("image/png", "pic.png"), "pdf": ("application/pdf", "doc.pdf")}


class Play:
    """One case, in a session of its own."""

    def __init__(self, case: Json, session: Session) -> None:
        self.case, self.session = case, session
        self.folder = session.project.directory
        self.sent: list[tuple[str, Request]] = []
        self._steps: list[Json] = []
        self._errors: list[Json] = []
        self._answers = 0

    def reply_to(self, request: Request) -> Reply:
        body = request.json
        if not (body.get("tools") or (body.get("toolConfig") or {}).get("tools")):
            role = "compaction" if self.case.get("titled", True) else "title"
            self.sent.append((role, request))
            return self._answer({"text": "A scripted text."})
        self.sent.append(("step", request))
        step = self._steps[0] if self._steps else {"text": "Done."}
        if errors := step.get("errors"):
            error = errors[0]
            self._steps[0] = {**step, "errors": errors[1:]}
            return error_of(error, provider=self.case["provider"])
        del self._steps[:1]
        return self._answer(step)

    def _answer(self, step: Json) -> Reply:
        provider, model = self.case["provider"], self.case["model"]
        body = self.sent[-1][1].json
        conversation = body.get("messages") or body.get("contents") or body["input"]
        number = _answers_in(conversation)
        return answer_of(step, provider=provider, model=model, number=number, folder=self.folder)

    async def play(self, user: User) -> Json:
        """Returns: `requests` by role and the `outcome`, as facts."""
        access = await in_db(session_access, user, self.session)
        async with asyncio.timeout(_CASE_S):
            for prompt in self.case["prompts"]:
                self._steps = list(prompt.get("steps") or ())
                await in_db(self._ask, access, prompt)
                await run_session(self.session.pk)
            await write_title(self.session.pk)
        requests: defaultdict[str, list[Json]] = defaultdict(list)
        said = said_in(self.case["prompts"])
        for role, request in self.sent:
            facts = facts_of(
                request.path, request.headers, request.json, said=said, folder=self.folder
            )
            requests[role].append(facts)
        return {"requests": requests, "outcome": await in_db(self._outcome)}

    def _ask(self, access: SessionAccess, prompt: Json) -> None:
        model = ModelRef(self.case["provider"], self.case["model"], prompt.get("variant"))
        if prompt.get("summarize"):
            request_compaction(access, model=model)
            return
        parts: list[Any] = [{"type": "text", "text": prompt["text"]}]
        for kind in prompt.get("files", ()):
            mime, name = _ATTACHED[kind]
            url = f"data:{mime};base64,{base64.b64encode(FILES[name]).decode()}"
            parts.append({"type": "file", "mime": mime, "filename": name, "url": url})
        draft = PromptDraft(
            parts=parts,
            agent=prompt.get("agent", "build"),
            model=model,
            system=prompt.get("system"),
            format=prompt.get("format"),
        )
        admit_prompt(access, draft)

    def _outcome(self) -> Json:
        answers = self.session.messages.filter(role="assistant")
        last = next(one.data for one in answers.order_by("-seq") if not one.data.get("summary"))
        compacted = Event.objects.filter(session=self.session, type="session.compacted")
        return outcome_of(last, is_compacted=compacted.exists())


def make_play(case: Json, user: User, project: Project) -> Play:
    title = "t" if case.get("titled", True) else ""
    return Play(case, make_session(user, project, title=title))


def write_files(folder: Path) -> None:
    for name, content in FILES.items():
        (folder / name).write_bytes(content)


def _answers_in(conversation: list[Json]) -> int:
    """How many answers it has: what follows each other is one."""
    mine = [
        one.get("role") in {"assistant", "model"}
        or one.get("type") in {"reasoning", "function_call"}
        for one in conversation
    ]
    return sum(now and not before for before, now in zip([False, *mine], mine, strict=False))
