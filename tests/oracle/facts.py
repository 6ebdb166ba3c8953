"""A request of either program as facts that can be compared.

Prose is replaced by a mark: what is compared is where there is a text, not how it is worded. So are
ids and paths of one run, and the names and schemas of tools.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

Json = dict[str, Any]
SYSTEM, OUTPUT, PROSE = "<system>", "<out>", "<prose>"
# Of the connection, and the names that a program goes by.
_UNCOMPARED = re.compile(
    r"host|content-length|content-type|accept.*|connection|transfer-encoding|date|x-amz-date"
    r"|user-agent|originator|http-referer|x-title|x-opencode-(?:client|project)|x-stainless-.*"
)
_IDS = {"ses": "session", "msg": "message", "prt": "part", "prj": "project"}
_ID = re.compile(rf"\b({'|'.join(_IDS)})_[0-9A-Za-z]{{20,}}")
_TYPED = re.compile(r"^\[\[case\]\] (.*) <<script>>$", re.S)
_BASE64 = re.compile(r"^(data:[^;]+;base64,)?[A-Za-z0-9+/=]{12,}(?:\{\{base64 \d+\}\}|(?<=.{80}))$")
_MAX_CHARS = 160
_SYSTEMS = ("system", "systemInstruction", "instructions")
_CONVERSATIONS = ("messages", "input", "contents")
_LEADING = {"system", "developer"}
# Told field by field; other objects of a body as one.
_OPENED = {
    "generationConfig",
    "inferenceConfig",
    "reasoning",
    "text",
    "additionalModelRequestFields",
}


def facts_of(
    path: str, headers: Mapping[str, str], body: Json, *, said: Collection[str], folder: str = ""
) -> Json:
    """`said`: what the case has people and models say, which is kept word for word."""
    body = _without_run(body, folder)
    told = {"path": _without_run(path.partition("?")[0], folder)}
    told |= {f"header.{name}": value for name, value in _headers(headers, folder)}
    told |= dict(_options(body))
    conversation = next((body[key] for key in _CONVERSATIONS if key in body), [])
    lead = 0
    while lead < len(conversation) and conversation[lead].get("role") in _LEADING:
        lead += 1
    if lead:
        told["system"] = [_marked(one, SYSTEM) for one in conversation[:lead]]
    turns = [_turn(one, said) for one in conversation[lead:]]
    told["roles"] = [_kinds(one) for one in turns]
    told |= {f"message.{number}": turn for number, turn in enumerate(turns)}
    if wrappers := list(_wrappers(body)):
        told["tools.wrapper"] = sorted({json.dumps(one, sort_keys=True) for one in wrappers})
    return told


def outcome_of(info: Json, *, is_compacted: bool) -> Json:
    """Returns: what a client sees of the last answer."""
    told: Json = {"compacted": True} if is_compacted else {}
    if error := info.get("error"):
        told["error.name"] = error["name"]
        known = error.get("data") or {}
        names = ("statusCode", "isRetryable")
        told |= {f"error.{name}": known[name] for name in names if name in known}
    if counts := info.get("tokens"):
        told["tokens"] = {name: counts[name] for name in ("input", "output", "reasoning", "cache")}
    return told | {name: info[name] for name in ("finish", "structured") if info.get(name)}


def differences(want: Json, got: Json) -> tuple[int, list[Any]]:
    """Both have `requests` by role and an `outcome`.

    Returns: how many facts are equal, and (name, wanted, got) of those that are not.
    """
    equal, found = 0, []
    for role in want["requests"].keys() | got["requests"].keys():
        wanted, sent = (one["requests"].get(role, []) for one in (want, got))
        for number in range(max(len(wanted), len(sent))):
            if number >= len(wanted):
                found.append((f"{role} extra request", "(absent)", sent[number]["path"]))
                continue
            theirs = sent[number] if number < len(sent) else {}
            same, different = _compared(wanted[number], theirs)
            equal += same
            found += [(f"{role}{number} {name}", *values) for name, *values in different]
    # What a client is told beside that is ours.
    told = {name: got["outcome"][name] for name in want["outcome"] if name in got["outcome"]}
    same, different = _compared(want["outcome"], told)
    return equal + same, found + [(f"client {name}", *values) for name, *values in different]


def _compared(want: Json, got: Json) -> tuple[int, list[Any]]:
    names = sorted(want.keys() | got.keys())
    pairs = [(name, want.get(name, "(absent)"), got.get(name, "(absent)")) for name in names]
    different = [one for one in pairs if one[1] != one[2]]
    return len(pairs) - len(different), different


def _without_run(node: Any, folder: str) -> Any:
    match node:
        case dict():
            return {key: _without_run(value, folder) for key, value in node.items()}
        case list():
            return [_without_run(one, folder) for one in node]
        case str():
            return _text(node.replace(folder, "{{dir}}") if folder else node)
    return node


def _text(text: str) -> str:
    if typed := _TYPED.match(text):
        text = typed[1]
    if encoded := _BASE64.match(text):
        return f"{encoded[1] or ''}{{{{base64}}}}"
    text = _ID.sub(lambda found: f"{{{{{_IDS[found[1]]}}}}}", text)
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS].rstrip('…')}…"


def _headers(headers: Mapping[str, str], folder: str) -> Iterator[tuple[str, Any]]:
    for given, value in headers.items():
        name = given.lower()
        if _UNCOMPARED.fullmatch(name):
            continue
        if name == "anthropic-beta":
            yield name, sorted(value.split(","))
        else:
            signed = value.startswith("AWS4-HMAC-SHA256")
            yield name, "AWS4-HMAC-SHA256" if signed else _without_run(value, folder)


def _options(body: Json) -> Iterator[tuple[str, Any]]:
    for key, value in body.items():
        if key in {*_CONVERSATIONS, "tools"}:
            continue
        if key in _SYSTEMS:
            yield f"body.{key}", _marked(value, SYSTEM)
        elif key == "toolConfig":
            yield f"body.{key}", {name: one for name, one in value.items() if name != "tools"}
        elif key in _OPENED:
            yield from ((f"body.{key}.{name}", one) for name, one in value.items())
        else:
            yield f"body.{key}", value


def _marked(node: Any, mark: str) -> Any:
    """Returns: the same with every text in it replaced."""
    match node:
        case str():
            return mark
        case list():
            return [_marked(one, mark) for one in node]
        case dict():
            texts = {"text", "content", "parts", "value"}
            return {k: _marked(v, mark) if k in texts else v for k, v in node.items()}
    return node


def _turn(message: Json, said: Collection[str]) -> Any:
    turn = _spoken(_without_outputs(message), said)
    content = turn.get("content")
    # Two ways to write the same.
    if isinstance(content, list) and [one.keys() for one in content] == [{"type", "text"}]:
        turn["content"] = content[0]["text"]
    if turn.get("content") in ("", None) and turn.get("tool_calls"):
        turn.pop("content", None)
    if turn.get("type") == "function_call":
        turn.pop("status", None)
    return turn


def _without_outputs(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_outputs(one) for one in node]
    if not isinstance(node, dict):
        return node
    is_result = node.get("role") == "tool" or node.get("type") == "tool_result"
    results = {"output", *(("content",) if is_result else ()), "toolResult", "response"}
    return {
        key: _marked(value, OUTPUT)
        if key in results and key != "response"
        else {name: OUTPUT if name != "name" else one for name, one in value.items()}
        if key == "response" and isinstance(value, dict)
        else _without_outputs(value)
        for key, value in node.items()
    }


def _spoken(node: Any, said: Collection[str], key: str = "") -> Any:
    if isinstance(node, dict):
        return {name: _spoken(value, said, name) for name, value in node.items()}
    if isinstance(node, list):
        return [_spoken(one, said) for one in node]
    if not isinstance(node, str) or node in {SYSTEM, OUTPUT}:
        return node
    if key == "arguments":
        try:
            return _spoken(json.loads(node), said)
        except ValueError:
            return node
    if unread := re.search(r"does not support \w+ input", node):
        return f"<{unread[0]}>"
    is_kept = not re.search(r"\s", node) or any(node.rstrip("…") in one for one in said)
    return node if is_kept else PROSE


def _kinds(turn: Json) -> Any:
    content = turn.get("content", turn.get("parts"))
    parts = content if isinstance(content, list) else ["text"] if content else []
    return [
        turn.get("role") or turn.get("type"),
        [one if isinstance(one, str) else one.get("type") or _kind(one) for one in parts],
        len(turn.get("tool_calls") or []),
    ]


def _kind(part: Json) -> str:
    return next((name for name in part if name not in {"thought", "thoughtSignature"}), "")


def _wrappers(body: Json) -> Iterator[Json]:
    """What stands around the names, descriptions and schemas of tools."""
    own = {"name", "description", "parameters", "input_schema", "inputSchema"}
    for tool in body.get("tools") or (body.get("toolConfig") or {}).get("tools") or []:
        inner = tool.get("functionDeclarations") or [tool.get("function") or tool.get("toolSpec")]
        outer = {k: v for k, v in tool.items() if k not in own and not isinstance(v, dict | list)}
        for one in inner:
            yield outer | {k: v for k, v in (one or {}).items() if k not in own}
