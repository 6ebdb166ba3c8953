"""What is shown: one row for each figure, in order, with the goal that it is held against."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

# "At most a third of the genuine program's time and CPU on every row where it has one."
GOAL = 3.0
# "At least five times its throughput."
MANY_GOAL = 5.0


class Better(StrEnum):
    LOWER = "lower"
    HIGHER = "higher"


@dataclass(frozen=True)
class Row:
    """`budget` is a limit of our own design, in the row's unit. `has_goal`: it is time or CPU.

    `goal`: how many times better than the genuine program it is to be.
    """

    key: str
    title: str
    unit: str
    digits: int = 0
    better: Better = Better.LOWER
    budget: float | None = None
    has_goal: bool = True
    goal: float = GOAL
    # The budget is one of the embedded server only.
    is_embedded_budget: bool = False

    def meets(self, ours: float, genuine: float) -> bool:
        ratio = ours / genuine
        return ratio <= 1 / self.goal if self.better is Better.LOWER else ratio >= self.goal


def _parallel(key: str, at: str, *, goal: float = GOAL) -> tuple[Row, ...]:
    rate = f"Three-step turns per second, {at}"
    return (
        Row(f"{key}.rate", rate, "1/s", 2, Better.HIGHER, goal=goal),
        Row(f"{key}.wall", f"Three-step turn, {at}, median", "s", 2),
        Row(f"{key}.cpu", f"CPU per three-step turn, {at}", "s", 3, budget=0.25),
        Row(f"{key}.rss", f"Memory while they run (RSS), {at}", "MB", has_goal=False),
        Row(f"{key}.errors", f"Turns with an error, {at}", "", has_goal=False),
    )


def _history(messages: int) -> tuple[Row, ...]:
    behind = f"trivial turn behind {messages:,} messages"
    return (
        Row(f"history{messages}.statements", f"SQL statements of a {behind}", "", has_goal=False),
        Row(f"history{messages}.ms", f"Our own time of a {behind}", "ms", 1, has_goal=False),
    )


def _plugins() -> Iterator[Row]:
    cpu = "CPU of our process for that"
    bare = "Trivial turn of a project without plugins"
    yield Row("plugins.none.ms", bare, "ms", 1, has_goal=False)
    yield Row("plugins.none.cpu", cpu, "ms", 1, has_goal=False)
    for key, title, budget in (
        ("event", "that only hear events", None),
        ("all", "that have every hook", 10),
    ):
        idle = f"the same with three idle plugins {title}"
        yield Row(f"plugins.{key}.ms", idle, "ms", 1, has_goal=False)
        yield Row(f"plugins.{key}.cpu", cpu, "ms", 1, has_goal=False)
        yield Row(f"plugins.{key}.added", "longer by", "ms", 1, budget=budget, has_goal=False)
        yield Row(f"plugins.{key}.ratio", "ratio", "", 2, has_goal=False)


# With the milliseconds that we may take, beyond the bare program where there is one.
TOOLS = {"read": 10, "glob": 10, "grep": 10, "list": 10, "edit": 10, "bash": 25}
# The program that a tool cannot be faster than.
_BARE = {"glob": "bare rg", "grep": "bare rg", "bash": "bare bwrap"}


def _tools() -> Iterator[Row]:
    for tool, budget in TOOLS.items():
        key, bare = f"tools.{tool}", _BARE.get(tool)
        title = f"Tool {tool} in 50,000 files, its own time, median of 10"
        yield Row(key, title, "ms", budget=None if bare else budget)
        if bare:
            beyond = f"tool beyond {bare}"
            yield Row(f"{key}.bare", f"{bare} for the same", "ms", 1, has_goal=False)
            yield Row(f"{key}.beyond", beyond, "ms", 1, budget=budget, has_goal=False)
        yield Row(f"{key}.turn", "whole turn with it, POST to answer", "ms")


def _snapshots() -> Iterator[Row]:
    for key, title in (
        ("first", "First snapshot of 50,000 files"),
        ("none", "the next without a change"),
        ("one", "after 1 change"),
        ("many", "after 1,000 changes"),
    ):
        yield Row(f"snap.{key}", title, "s", 2, has_goal=False)
        yield Row(f"snap.{key}.cpu", "CPU of that", "s", 2, has_goal=False)
        yield Row(
            f"snap.{key}.git", "git add -A && git write-tree for the same", "s", 2, has_goal=False
        )
    yield Row("snap.revert", "Putting 1,000 files back", "s", 2, has_goal=False)
    yield Row("snap.revert.cpu", "CPU of that", "s", 2, has_goal=False)
    yield Row("snap.bytes", "The first snapshot on disk", "MB", 1, has_goal=False)
    yield Row("snap.bytes.git", "git's for all", "MB", 1, has_goal=False)


def _requests() -> Iterator[Row]:
    for key, title in (
        ("list", "Session list, 100 of 200, 8 callers at once"),
        ("page", "Page of 100 of 10,000 messages, 8 callers at once"),
    ):
        yield Row(f"api.{key}.rate", f"{title}, requests per second", "1/s", 0, Better.HIGHER)
        yield Row(f"api.{key}.p95", "the same, p95", "ms", 1)
        yield Row(f"api.{key}.size", "size of the answer", "kB", 1, has_goal=False)
    busy = "200 clients on /event, one session at 20 chunks/s"
    yield Row("api.sse.idle", "Memory per idle client of /event", "kB", 1, has_goal=False)
    yield Row("api.sse.p50", f"Model chunk to client, {busy}, p50", "ms", 1)
    yield Row("api.sse.p95", "the same, p95", "ms", 1)
    yield Row("api.sse.cores", "Cores that the server used for those 200", "", 2, has_goal=False)


def _browser() -> Iterator[Row]:
    page = "Page of a session of 10 turns in Chromium"
    yield Row("web.size", f"{page}, nothing cached, bytes on the wire", "kB", has_goal=False)
    yield Row("web.scripts", "JavaScript of that", "kB", budget=45, has_goal=False)
    yield Row("web.requests", "its requests", "", has_goal=False)
    yield Row("web.shown", "Start of that load to the last answer in a frame, median of 5", "ms")
    yield Row(
        "web.typed", "the same to the first key in the message field, CPU slowed 4 times", "ms"
    )
    long = "Session of 10,000 messages"
    yield Row("long.shown", f"{long}: start of its load to the newest answer", "ms", budget=1_000)
    yield Row("long.nodes", "elements in its page", "", has_goal=False)
    yield Row("long.task", "its longest task", "ms", has_goal=False)
    yield Row("long.frame", "reading it backwards, time between frames, p95", "ms", has_goal=False)
    yield Row("long.read", "elements after 60 turns of the wheel", "", has_goal=False)
    nav = "Click to the painted page, median of 10"
    yield Row("nav.session", f"{nav}: session to session", "ms", budget=120, has_goal=False)
    for key, title in (
        ("home", "session to home"),
        ("project", "home to project"),
        ("settings", "settings to settings"),
        ("key", "session to session by j and k"),
    ):
        yield Row(f"nav.{key}", f"the same, {title}", "ms", budget=120, has_goal=False)
    busy = "Session of 500 messages that streams 20 chunks/s"
    yield Row("busy.share", f"{busy}: main thread of its page", "%", budget=5, has_goal=False)
    yield Row("busy.styles", "style recalculation of that", "%", has_goal=False)
    yield Row("busy.layouts", "layouts of that", "1/s", has_goal=False)
    yield Row("busy.task", "its longest task", "ms", budget=100, has_goal=False)
    yield Row("busy.key", "key to paint, median of 20", "ms", budget=50, has_goal=False)
    for sockets in (1, 50, 200):
        clients = "1 client" if sockets == 1 else f"{sockets} clients"
        yield Row(
            f"paint{sockets}.p50", f"Model chunk to paint, {clients} on the session, p50", "ms"
        )
        yield Row(f"paint{sockets}.p95", "the same, p95", "ms")


ROWS: tuple[Row, ...] = (
    Row("start.health", "Start to first healthy answer", "s", 2),
    Row("start.cpu", "CPU of the start, to that answer", "s", 2),
    Row("start.page", "Start to first page", "s", 2, budget=2, is_embedded_budget=True),
    Row(
        "start.turn",
        "Start to the whole answer of a first prompt",
        "s",
        2,
        budget=2,
        is_embedded_budget=True,
    ),
    Row("start.turn_cpu", "CPU of that", "s", 2),
    Row("idle.cpu", "CPU from the start until idle", "s", 2),
    Row(
        "idle.rss",
        "Memory when idle (RSS)",
        "MB",
        has_goal=False,
        budget=200,
        is_embedded_budget=True,
    ),
    Row("idle.pss", "Memory when idle (PSS)", "MB", has_goal=False),
    Row(
        "used.rss",
        "Memory after 20 turns (RSS)",
        "MB",
        has_goal=False,
        budget=230,
        is_embedded_budget=True,
    ),
    Row("fresh.p50", "Trivial turn, POST to answer, fresh session, median of 50", "ms"),
    Row("fresh.p95", "the same, p95", "ms"),
    Row(
        "fresh.cpu",
        "CPU per trivial turn, fresh session",
        "s",
        3,
        budget=0.04,
        is_embedded_budget=True,
    ),
    Row("same.p50", "Trivial turn, same session, median of 50", "ms"),
    Row("same.p95", "the same, p95", "ms"),
    Row(
        "same.cpu",
        "CPU per trivial turn, same session",
        "s",
        3,
        budget=0.04,
        is_embedded_budget=True,
    ),
    Row("delta.first", "prompt_async to first delta on /event, median of 20", "ms"),
    Row("delta.before", "Own time before the text: admitted to first delta", "ms", budget=40),
    Row("delta.after", "Own time after the text: last chunk to session.idle", "ms", budget=25),
    *_parallel("p1", "1 session at once"),
    *_parallel("p10", "10 sessions at once"),
    *_parallel("p100", "100 sessions at once", goal=MANY_GOAL),
    *_parallel("repos", "50 sessions in 50 repositories", goal=MANY_GOAL),
    Row("inline.p50", "Trivial turn with the scripted provider in the process, median of 50", "ms"),
    Row("inline.p95", "the same, p95", "ms"),
    Row("inline.cpu", "CPU per such turn", "s", 3),
    Row("inline.before", "its own time before the text", "ms", budget=50),
    Row("inline.after", "its own time after the text", "ms", budget=50),
    *_history(10),
    *_history(1_000),
    *_history(10_000),
    *_plugins(),
    *_requests(),
    *_tools(),
    *_snapshots(),
    Row("growth.early", "Memory of the worker after 100 turns (RSS)", "MB", has_goal=False),
    Row("growth.late", "the same after 1,000 turns", "MB", has_goal=False),
    Row("growth.ratio", "the second against the first", "", 2, has_goal=False, budget=1.1),
    Row("ws.first", "prompt_async to the first text in the browser's socket, median of 20", "ms"),
    Row("ws1.p50", "Model chunk to browser frame, 1 live session at 20 chunks/s, p50", "ms"),
    Row("ws1.p95", "the same, p95", "ms"),
    Row("ws100.first", "100 prompts at once to the first text of each in its socket, p50", "ms"),
    Row("ws100.p50", "Model chunk to browser frame, 100 live sessions, p50", "ms"),
    Row("ws100.p95", "the same, p95", "ms", budget=250),
    Row("ws100.cores", "Cores that the server used for those 100", "", 2),
    *_browser(),
)

# The genuine program has no provider of its own, so these are held against its endpoint rows.
COMPARED_WITH = {
    "inline.p50": "fresh.p50",
    "inline.p95": "fresh.p95",
    "inline.cpu": "fresh.cpu",
    "inline.before": "delta.before",
    "inline.after": "delta.after",
}
