"""From a folder of recordings to the small one of the tests: facts of some cases, no prose.

What is left out besides prose and the tools: cases that wait for longer than a test may, and those
that say again what another one has said.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.oracle.facts import facts_of

RECORDED = Path(__file__).with_name("recorded.json.gz")
PROVIDERS = ("openai", "anthropic", "google", "amazon-bedrock", "openrouter", "compat")
_SCENARIO = re.compile(
    r"0\d.*|1[013]-.*|12-err-(?:auth|bad|forbidden|missing|429-after-ms|429-exhaust|500-ms|503-ms)"
)
_MOST_S = 0.5
Json = dict[str, Any]


def reduce(folder: Path) -> str:
    """Write the recording of the tests. Returns: a sentence about it."""
    played = {one["id"]: one for one in _read(folder, "cases_public.json")}
    tools = _read(folder, "tools.json")
    rows: defaultdict[str, list[Json]] = defaultdict(list)
    for row in _read(folder, "oracle_public.json"):
        rows[row["case"]].append(row)
    cases = [_case(played[case], rows[case], tools) for case in played if _is_taken(rows[case])]
    known = _read(folder, "models.json")
    used = {(case["provider"], case["model"]) for case in cases}
    models: Json = {
        provider: {name: one for name, one in known[provider].items() if (provider, name) in used}
        for provider in PROVIDERS
    }
    content = json.dumps({"models": models, "cases": cases}, separators=(",", ":"))
    RECORDED.write_bytes(gzip.compress(content.encode(), mtime=0))
    return f"{len(cases)} cases in {RECORDED.stat().st_size / 1000:.0f} kB"


def said_in(prompts: list[Json]) -> list[str]:
    """Returns: everything that a case has people and models say."""
    return list(_texts([{k: v for k, v in one.items() if k != "format"} for one in prompts]))


def _read(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text())


def _is_taken(rows: list[Json]) -> bool:
    row = rows[0]
    waits = [delay for one in rows for delay in one.get("delays", ())]
    is_quick = sum(waits) < _MOST_S
    return row["provider"] in PROVIDERS and is_quick and bool(_SCENARIO.fullmatch(row["scenario"]))


def _case(played: Json, rows: list[Json], tools: Json) -> Json:
    requests: defaultdict[str, list[Json]] = defaultdict(list)
    said = said_in(played["prompts"])
    outcome: Json = {}
    for row in rows:
        if request := row.get("request"):
            body = _with_tools(request["body"], tools)
            facts = facts_of(request["path"], request["headers"], body, said=said)
            requests[row["role"]].append(facts)
        outcome |= row.get("client", {})
    # How often and in which words a try was announced are not compared.
    for name in ("error.message", "retry.message", "retries"):
        outcome.pop(name, None)
    names = ("id", "provider", "model", "titled", "prompts")
    return {
        **{name: played[name] for name in names if name in played},
        "requests": requests,
        "outcome": outcome,
    }


def _with_tools(body: Json, tools: Json) -> Json:
    """The recording names the tools of a request where it has them once."""
    if "toolConfig" in body and "tools" in body["toolConfig"]:
        return body | {"toolConfig": _with_tools(body["toolConfig"], tools)}
    given = body.get("tools")
    return body | {"tools": tools[given["$tools"]]} if isinstance(given, dict) else body


def _texts(node: Any) -> Iterator[str]:
    match node:
        case str():
            yield node
        case dict():
            for value in node.values():
                yield from _texts(value)
        case list():
            for value in node:
                yield from _texts(value)
