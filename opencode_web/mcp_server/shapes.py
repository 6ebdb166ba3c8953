"""What tools take and give. The descriptions are read by models."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_PROMPT_CHARS = 200_000
MAX_WAIT_S = 600
MAX_TEXT_CHARS = 100_000
MAX_FOUND = 50

_Id = Annotated[str, Field(min_length=1, max_length=60)]
_SessionId = Annotated[_Id, Field(description="ID of the session, ses_…")]
_Prompt = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_PROMPT_CHARS,
        description="The task for the agent. It knows nothing of your conversation.",
    ),
]
_Model = Annotated[
    str,
    Field(max_length=300, description="provider/model; without it, the default is used"),
]
_Agent = Annotated[
    str, Field(max_length=60, description="Such as build or plan; without it, the default")
]

_Answer = Annotated[list[Annotated[str, Field(max_length=10_000)]], Field(max_length=50)]


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class NoArguments(Arguments):
    pass


class StartArguments(Arguments):
    project: Annotated[_Id, Field(description="ID of the project, from list_projects")]
    prompt: _Prompt
    title: str = Field(default="", max_length=300)
    agent: _Agent = ""
    model: _Model = ""
    worktree: bool | None = Field(
        default=None,
        description="Whether it works in a git worktree of its own; without it, as the project's "
        "settings say",
    )
    private: bool = Field(default=False, description="Whether it is hidden from the team")


class ContinueArguments(Arguments):
    session: _SessionId
    prompt: _Prompt
    agent: _Agent = ""
    model: _Model = ""
    delivery: Literal["steer", "queue"] = Field(
        default="steer",
        description="While the agent works: `steer` is read at its next step, `queue` after its "
        "turn",
    )


class ReadArguments(Arguments):
    session: _SessionId
    wait_s: int = Field(
        default=0,
        ge=0,
        le=MAX_WAIT_S,
        description="Seconds to wait at most until the agent is done or needs an answer. Call "
        "again to keep waiting.",
    )
    max_chars: int = Field(
        default=20_000, ge=100, le=MAX_TEXT_CHARS, description="Of the answer at most"
    )


class QuestionArguments(Arguments):
    question: Annotated[_Id, Field(description="ID of the question, from read_session")]
    answers: list[_Answer] = Field(
        default=[],
        max_length=50,
        description="For each of its questions the chosen labels, or your own text",
    )
    dismiss: bool = Field(default=False, description="Answer nothing, which ends the turn")


class PermissionArguments(Arguments):
    permission: Annotated[_Id, Field(description="ID of the request, from read_session")]
    reply: Literal["once", "always", "reject"] = Field(
        description="`always` is remembered for the project"
    )
    message: str = Field(
        default="",
        max_length=10_000,
        description="With `reject`: what to do instead. Without it, the turn ends.",
    )


class StopArguments(Arguments):
    session: _SessionId


class SearchArguments(Arguments):
    query: str = Field(min_length=1, max_length=200, description="Words that all have to be there")
    limit: int = Field(default=20, ge=1, le=MAX_FOUND)


class ProjectOut(BaseModel):
    id: str
    name: str
    status: str = Field(description="Sessions can be started when it is `ready`")


class ProjectsOut(BaseModel):
    projects: list[ProjectOut]


class PermissionOut(BaseModel):
    id: str
    permission: str = Field(description="What the agent wants to use, such as `bash` or `edit`")
    patterns: list[str] = Field(description="What it wants to do with it")
    details: str = Field(description="More about it, as JSON")
    is_cut: bool = Field(description="Whether patterns or details are too long to show whole")
    can_always: bool
    needs_second_person: bool


class QuestionOut(BaseModel):
    id: str
    questions: str = Field(description="JSON: a list of {question, header, options, multiple}")
    is_cut: bool


class SessionOut(BaseModel):
    id: str
    project: str
    title: str
    url: str = Field(description="The page for people")
    state: Literal["idle", "working", "waiting"] = Field(
        description="`waiting`: somebody has to answer, or a budget is spent"
    )
    outcome: str = Field(description="How the last turn ended: done, stopped, failed, interrupted")
    detail: str = Field(description="Why it ended so, or what it waits for")
    answer: str = Field(description="The newest text of the agent since the last prompt")
    answer_is_cut: bool
    permissions: list[PermissionOut]
    questions: list[QuestionOut]
    changed_files: list[str]
    changed_files_total: int
    additions: int
    deletions: int
    cost_usd: float
    archived: bool


class FoundOut(BaseModel):
    session: str
    title: str
    project: str
    url: str
    excerpt: str


class FoundsOut(BaseModel):
    found: list[FoundOut]
