"""The table, for the terminal and for RESULTS.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Values
from bench.rows import COMPARED_WITH, GOAL, ROWS, Row

RESULTS = Path(__file__).with_name("RESULTS.md")
GENUINE = "genuine"
EMBEDDED = "embedded"
NOTHING = ""


@dataclass(frozen=True)
class Column:
    """One server's figures; `reason` says why there are none."""

    key: str
    title: str
    values: Values
    reason: str = ""


def _number(row: Row, value: float | str | None) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, str):
        return value
    return f"{value:.{row.digits}f} {row.unit}".strip()


def _against(row: Row, key: str, ours: float | str | None, genuine: float | str | None) -> str:
    """The ratio and whether it meets the goal; with a budget also whether it keeps that."""
    notes = []
    if isinstance(ours, float | int) and isinstance(genuine, float | int) and genuine:
        ratio = f"{ours / genuine:.2f}"
        if row.has_goal:
            goal = "" if row.goal == GOAL else f" {row.goal:g} times"
            ratio += f"{goal} met" if row.meets(ours, genuine) else f"{goal} NOT met"
        notes.append(ratio)
    has_budget = row.budget is not None and (key == EMBEDDED or not row.is_embedded_budget)
    if isinstance(ours, float | int) and has_budget and row.budget is not None:
        word = "kept" if ours <= row.budget else "OVER"
        notes.append(" ".join(["budget", f"{row.budget:g}", *row.unit.split(), word]))
    return ", ".join(notes)


def build_table(columns: Sequence[Column]) -> list[list[str]]:
    """Returns: rows of cells, the head first."""
    by_key = {column.key: column for column in columns}
    genuine = by_key[GENUINE]
    ours = [column for column in columns if column.key != GENUINE]
    head = ["", genuine.title]
    for column in ours:
        head += [column.title, "ours/genuine; goal 1/3"]
    table = [head]
    for row in ROWS:
        if not any(row.key in column.values for column in columns):
            continue  # of a group that was left out
        cells = [row.title, _number(row, genuine.values.get(row.key))]
        compared = genuine.values.get(COMPARED_WITH.get(row.key, row.key))
        for column in ours:
            value = column.values.get(row.key)
            cells += [_number(row, value), _against(row, column.key, value, compared)]
        table.append(cells)
    return table


def to_text(table: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[index]) for row in table) for index in range(len(table[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def to_markdown(table: Sequence[Sequence[str]]) -> str:
    rows = [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in table]
    return "\n".join([rows[0], f"|{'---|' * len(table[0])}", *rows[1:]])


METHOD = """\
Every server is set up fresh in a temporary folder and measured alone, one after the other, in one
run. All call the same scripted OpenAI-compatible endpoint (`bench/endpoint.py`, its own process, no
delay) and work in the same git repository of 32 small files. The genuine program has its own home,
no automatic updates, downloads or sharing, and its default settings otherwise, so it makes a
snapshot for each step; ours makes one before the first change of a step. Both ask the model for a
title in a fresh session. The tools that are called are allowed to both. "In 50 repositories" means
copies of that repository, one for each session, which are seen for the first time.

Wall times are medians over separate runs or turns after a warm-up. CPU is that of all processes of
a server, its git and search children, and its PostgreSQL and Redis where it has them, until it is
idle again. `own time` leaves out the model's: the endpoint writes into its answer when the request
came and when the chunk left. Rows on the scripted provider in the process are held against the
genuine program's rows on the endpoint. The goal is at most a third of the genuine program's time
and CPU (three times its rate, five times with many sessions); a budget is a limit of our own
design. A tool's own time is what its part of the message says, from its start to its end, for one
call in a repository of 50,000 small files; the bare programs run beside it without any server.
Snapshots are measured in a process of ours without a server, in the same repository, and so is
plain git with an index of its own. Memory of the worker is that of its process, after short turns,
ten in each session. Pages are those of a session in Debian's Chromium without a display, each load
in a browser with nothing cached; "to paint" ends after the frame that shows the chunk, in one page
that shows the session while the other clients follow it on sockets. Other work on the machine makes
wall times longer; CPU is the sturdier figure.
"""


def write_results(
    table: Sequence[Sequence[str]], *, machine: Sequence[str], notes: Mapping[str, str]
) -> None:
    lines = ["# Benchmark results", "", "Made by `make bench`; do not edit by hand.", ""]
    lines += [f"* {line}" for line in machine]
    lines += [f"* {name}: {note}" for name, note in notes.items()]
    lines += ["", "## How", "", METHOD, "## Figures", "", to_markdown(table), ""]
    RESULTS.write_text("\n".join(lines))
