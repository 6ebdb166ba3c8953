"""Rows: the event log and what is folded from it. No I/O, no events, no permission logic here."""

from __future__ import annotations

from sessions.models.compaction import Compaction
from sessions.models.epoch import ContextEpoch
from sessions.models.event import Event
from sessions.models.inbox import SessionInput
from sessions.models.message import Message, Part
from sessions.models.permission import PermissionRequest, SavedRule
from sessions.models.project import Project
from sessions.models.question import QuestionRequest
from sessions.models.run import Run
from sessions.models.session import Outcome, Session, State, WaitsFor

__all__ = [
    "Compaction",
    "ContextEpoch",
    "Event",
    "Message",
    "Outcome",
    "Part",
    "PermissionRequest",
    "Project",
    "QuestionRequest",
    "Run",
    "SavedRule",
    "Session",
    "SessionInput",
    "State",
    "WaitsFor",
]
