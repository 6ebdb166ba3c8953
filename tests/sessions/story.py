"""A whole turn written straight into the log, as the runner writes it."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from opencode_web.lib.ids import new_id
from opencode_web.lib.reasons import Cause
from sessions.events.messages import (
    AssistantMessage,
    MessageModel,
    MessagePath,
    MessageTime,
    UserMessage,
)
from sessions.events.parts import (
    DoneTime,
    PartTime,
    ReasoningPart,
    TextPart,
    ToolCompleted,
    ToolPart,
    ToolPending,
    ToolRunning,
)
from sessions.events.questions import QuestionAsked, QuestionInfo, QuestionOption
from sessions.events.reasons import told_error
from sessions.events.store import append, lock_session
from sessions.events.types import (
    MessageUpdated,
    PartUpdated,
    PermissionAsked,
    PermissionReplied,
    SessionEvent,
    SessionStatus,
    SessionUpdated,
    SessionUsed,
)
from sessions.models import Message, Session
from sessions.runner.log.history import to_answer
from sessions.runner.log.settle import settle_answer
from teams.models import User

T0 = 1_700_000_000_000
PATCH = """--- a/till.py
+++ b/till.py
@@ -1,2 +1,2 @@
 def total(items):
-    return s
+    return s * 2
"""


def write(session: Session, *events: SessionEvent) -> None:
    with transaction.atomic():
        append(lock_session(session.pk), events)


class Story:
    """Appends what happens in a turn, one event each."""

    def __init__(self, session: Session, author: User) -> None:
        self.session = session
        self.author = author
        self.prompt_id = ""
        self.message_id = ""

    def ask(self, text: str) -> str:
        self.prompt_id = new_id("msg")
        info = UserMessage(
            id=self.prompt_id,
            sessionID=self.session.pk,
            time=MessageTime(created=T0),
            agent="build",
            model=MessageModel(providerID="demo", modelID="inline"),
        )
        write(
            self.session,
            MessageUpdated(info=info, author_id=self.author.pk),
            PartUpdated(part=TextPart(id=new_id("prt"), **self._at(self.prompt_id), text=text)),
            SessionStatus(state="busy"),
        )
        return self.prompt_id

    def answer(self, **fields: Any) -> str:
        self.message_id = fields.pop("id", None) or new_id("msg")
        info = AssistantMessage(
            id=self.message_id,
            sessionID=self.session.pk,
            time=fields.pop("time", MessageTime(created=T0)),
            parentID=self.prompt_id,
            modelID="inline",
            providerID="demo",
            mode="build",
            agent="build",
            path=MessagePath(cwd="/x", root="/x"),
            **fields,
        )
        write(self.session, MessageUpdated(info=info))
        return self.message_id

    def _at(self, message_id: str) -> dict[str, str]:
        return {"sessionID": self.session.pk, "messageID": message_id}

    def text(self, text: str, *, id: str = "", done: bool = True, reasoning: bool = False) -> str:
        part_id = id or new_id("prt")
        kind = ReasoningPart if reasoning else TextPart
        time = PartTime(start=T0, end=T0 + 4000 if done else None)
        part = kind(id=part_id, **self._at(self.message_id), text=text, time=time)
        write(self.session, PartUpdated(part=part))
        return part_id

    def call(self, tool: str, state: Any, *, id: str = "", call_id: str = "") -> str:
        part_id = id or new_id("prt")
        part = ToolPart(
            id=part_id,
            **self._at(self.message_id),
            callID=call_id or f"call_{part_id}",
            tool=tool,
            state=state,
        )
        write(self.session, PartUpdated(part=part))
        return part_id

    def done(
        self, tool: str, given: dict[str, Any], said: str = "", *, id: str = "", **metadata: Any
    ) -> str:
        state = ToolCompleted(
            input=given,
            output=said,
            title=tool,
            metadata=metadata,
            time=DoneTime(start=T0, end=T0 + 100),
        )
        return self.call(tool, state, id=id)

    def running(self, tool: str, given: dict[str, Any], *, id: str = "", **metadata: Any) -> str:
        state = ToolRunning(input=given, metadata=metadata, time=PartTime(start=T0))
        return self.call(tool, state, id=id)

    def waits(self, command: str, *, id: str = "") -> str:
        """A shell command that waits for an answer. Returns: the id of the request."""
        part_id = self.call("bash", ToolPending(input={"command": command}), id=id)
        request_id = new_id("per")
        write(
            self.session,
            PermissionAsked(
                id=request_id,
                message_id=self.message_id,
                call_id=f"call_{part_id}",
                agent="build",
                permission="bash",
                patterns=[command],
                always=[f"{command.split()[0]} *"],
                metadata={"command": command},
            ),
            SessionStatus(state="waiting"),
        )
        return request_id

    def questions(self, text: str, *labels: str, multiple: bool = False) -> str:
        """A question that waits for an answer. Returns: the id of the request."""
        options = [QuestionOption(label=label, description=f"It is {label}.") for label in labels]
        info = QuestionInfo(
            question=text, header="Choice", options=options, multiple=multiple or None
        )
        part_id = self.call("question", ToolPending(input={"questions": [info.to_json()]}))
        asked = QuestionAsked(
            id=new_id("que"),
            message_id=self.message_id,
            call_id=f"call_{part_id}",
            agent="build",
            questions=[info],
        )
        write(self.session, asked, SessionStatus(state="waiting", waits_for="person"))
        return asked.id

    def replied(self, request_id: str, reply: Any = "once") -> None:
        write(
            self.session,
            PermissionReplied(id=request_id, reply=reply, by_id=self.author.pk),
            SessionStatus(state="busy"),
        )

    def cut(self, cause: Cause, **mark: bool) -> None:
        """A stop, or the loss of the worker: everything that is open ends in one transaction."""
        answer = to_answer(Message.objects.get(pk=self.message_id))
        error = told_error(cause, name="MessageAbortedError", more={**mark})
        calls = [*answer.running, *answer.pending]
        events = settle_answer(answer, error=error, calls=calls)
        outcome = "interrupted" if mark else "stopped"
        ended = SessionStatus(state="idle", outcome=outcome).saying(cause)
        write(self.session, *events, ended)

    def finish(self, *, changed: bool = True) -> None:
        self.answer(
            id=self.message_id, time=MessageTime(created=T0, completed=T0 + 27_000), cost=0.14
        )
        events: list[SessionEvent] = [SessionUsed(cost="0.14", tokens={"input": 1200})]  # type: ignore[arg-type]
        if changed:
            diff = {
                "file": "till.py",
                "patch": PATCH,
                "additions": 1,
                "deletions": 1,
                "status": "modified",
            }
            info = UserMessage(
                id=self.prompt_id,
                sessionID=self.session.pk,
                time=MessageTime(created=T0),
                agent="build",
                model=MessageModel(providerID="demo", modelID="inline"),
                summary={"diffs": [diff]},
            )
            summary = {"additions": 1, "deletions": 1, "files": 1}
            events += [MessageUpdated(info=info), SessionUpdated(summary=summary)]
        write(self.session, *events, SessionStatus(state="idle", outcome="done"))


def tell_whole_turn(session: Session, author: User, text: str = "please add a discount") -> Story:
    """Reasoning, text, exploration, an edit, a permission, its command and an end."""
    story = Story(session, author)
    story.ask(text)
    story.answer()
    story.text("Let me think about it.", reasoning=True)
    story.text("I'll **add** a discount.\n\n- one\n- two\n")
    display = {"type": "file", "text": "a = 1\nb = 2", "lineStart": 1, "lineEnd": 2}
    story.done("read", {"filePath": "till.py"}, "…", display=display)
    story.done("grep", {"pattern": "total"}, "Found 2 matches", matches=2)
    diff = {"file": "till.py", "patch": PATCH, "additions": 1, "deletions": 1}
    story.done("edit", {"filePath": "till.py"}, "ok", diff=PATCH, filediff=diff)
    part_id = new_id("prt")
    request = story.waits("pytest -q", id=part_id)
    story.replied(request)
    story.running("bash", {"command": "pytest -q"}, id=part_id, output="..\n")
    story.done(
        "bash", {"command": "pytest -q"}, "2 passed", id=part_id, output="2 passed\n", exit=0
    )
    story.text("All tests pass.")
    story.finish()
    return story
