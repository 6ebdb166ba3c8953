"""Shapes of the wire, and a check that a value has exactly one of them."""

from __future__ import annotations

import re
from typing import Any

ANY = object()
OBJECT: dict[str, Any] = {"*": ANY}


def id_of(kind: str) -> re.Pattern[str]:
    return re.compile(rf"{kind}_[0-9a-f]{{12}}[0-9A-Za-z]{{14}}")


SES, MSG, PRT, PER = id_of("ses"), id_of("msg"), id_of("prt"), id_of("per")
QUE = id_of("que")
NUMBER = (int, float)
TOK = {
    "total?": int,
    "input": int,
    "output": int,
    "reasoning": int,
    "cache": {"read": int, "write": int},
}
RULE = {"permission": str, "pattern": str, "action": {"allow", "ask", "deny"}}
SESSION = {
    "id": SES,
    "slug": str,
    "projectID": str,
    "directory": str,
    "path?": str,
    "parentID?": SES,
    "summary?": {"additions": int, "deletions": int, "files": int},
    "cost?": NUMBER,
    "tokens?": TOK,
    "title": str,
    "agent?": str,
    "model?": {"id": str, "providerID": str, "variant?": str},
    "version": str,
    "metadata?": OBJECT,
    "time": {"created": int, "updated": int, "compacting?": int, "archived?": int},
    "permission?": [RULE],
    "revert?": {"messageID": MSG, "partID?": PRT, "snapshot?": str, "diff?": str},
}
USER = {
    "id": MSG,
    "sessionID": SES,
    "role": {"user"},
    "time": {"created": int},
    "summary?": OBJECT,
    "agent": str,
    "model": {"providerID": str, "modelID": str, "variant?": str},
    "system?": str,
    "tools?": OBJECT,
    "format?": OBJECT,
}
ASSISTANT = {
    "id": MSG,
    "sessionID": SES,
    "role": {"assistant"},
    "time": {"created": int, "completed?": int},
    "error?": {"name": str, "data": OBJECT},
    "parentID": MSG,
    "modelID": str,
    "providerID": str,
    "mode": str,
    "agent": str,
    "path": {"cwd": str, "root": str},
    "cost": NUMBER,
    "tokens": TOK,
    "summary?": bool,
    "structured?": ANY,
    "finish?": str,
}
_PART = {"id": PRT, "sessionID": SES, "messageID": MSG}
_SPAN = {"start": int, "end?": int}
TEXT = {
    **_PART,
    "type": {"text", "reasoning"},
    "text": str,
    "time?": _SPAN,
    "synthetic?": bool,
    "metadata?": OBJECT,
}
STEP_START = {**_PART, "type": {"step-start"}, "snapshot?": str}
SNAPSHOT = {**_PART, "type": {"snapshot"}, "snapshot": str}
STEP_FINISH = {
    **_PART,
    "type": {"step-finish"},
    "reason": str,
    "snapshot?": str,
    "cost": NUMBER,
    "tokens": TOK,
}
COMPACTION = {
    "id": PRT,
    "sessionID": SES,
    "messageID": MSG,
    "type": {"compaction"},
    "auto": bool,
    "overflow?": bool,
    "tail_start_id?": MSG,
}
PATCH = {**_PART, "type": {"patch"}, "hash": str, "files": [str]}
TOOL = {
    **_PART,
    "type": {"tool"},
    "callID": str,
    "tool": str,
    "metadata?": OBJECT,
    "state": [
        {"status": {"pending"}, "input": OBJECT, "raw": str},
        {
            "status": {"running"},
            "input": OBJECT,
            "title?": str,
            "metadata?": OBJECT,
            "time": {"start": int},
        },
        {
            "status": {"completed"},
            "input": OBJECT,
            "output": str,
            "title": str,
            "metadata": OBJECT,
            "time": {"start": int, "end": int, "compacted?": int},
        },
        {
            "status": {"error"},
            "input": OBJECT,
            "error": str,
            "metadata?": OBJECT,
            "time": {"start": int, "end": int},
        },
    ],
}
PART_BY_TYPE: dict[str, dict[str, Any]] = {
    "text": TEXT,
    "reasoning": TEXT,
    "step-start": STEP_START,
    "snapshot": SNAPSHOT,
    "step-finish": STEP_FINISH,
    "patch": PATCH,
    "compaction": COMPACTION,
}
PERMISSION = {
    "id": PER,
    "sessionID": SES,
    "permission": str,
    "patterns": [str],
    "metadata": OBJECT,
    "always": [str],
    "tool?": {"messageID": MSG, "callID": str},
}
QUESTION = {
    "id": QUE,
    "sessionID": SES,
    "questions": [
        {
            "question": str,
            "header": str,
            "options": [{"label": str, "description": str}],
            "multiple?": bool,
        }
    ],
    "tool?": {"messageID": MSG, "callID": str},
}
AGENT = {
    "name": str,
    "description?": str,
    "mode": {"subagent", "primary", "all"},
    "native?": bool,
    "hidden?": bool,
    "topP?": NUMBER,
    "temperature?": NUMBER,
    "permission": [RULE],
    "model?": {"modelID": str, "providerID": str},
    "prompt?": str,
    "variant?": str,
    "color?": str,
    "options": OBJECT,
    "steps?": int,
}
_MEDIA = {"text": bool, "audio": bool, "image": bool, "video": bool, "pdf": bool}
MODEL = {
    "id": str,
    "providerID": str,
    "api": {"id": str, "url": str, "npm": str},
    "name": str,
    "family?": str,
    "capabilities": {
        "temperature": bool,
        "reasoning": bool,
        "attachment": bool,
        "toolcall": bool,
        "input": _MEDIA,
        "output": _MEDIA,
        "interleaved": ANY,
    },
    "cost": {
        "input": NUMBER,
        "output": NUMBER,
        "cache": {"read": NUMBER, "write": NUMBER},
        "tiers?": ANY,
        "experimentalOver200K?": ANY,
    },
    "limit": {"context": int, "input?": int, "output": int},
    "status": {"alpha", "beta", "deprecated", "active"},
    "options": OBJECT,
    "headers": OBJECT,
    "release_date": str,
    "variants?": OBJECT,
}
PROVIDER = {
    "id": str,
    "name": str,
    "source": {"env", "config", "custom", "api"},
    "env": [str],
    "options": OBJECT,
    "models": {"*": MODEL},
}
PROJECT = {
    "id": str,
    "worktree": str,
    "vcs?": {"git"},
    "name?": str,
    "time": {"created": int, "updated?": int, "initialized?": int},
    "sandboxes": [str],
    "remote?": str,  # ours
}
# The second version of the API reads the two others.
ERROR = {"name": str, "data": {"message": str, "*": ANY}, "_tag": str, "message": str, "*": ANY}


def check(value: Any, shape: Any, where: str = "$") -> None:
    """Fail unless `value` has the shape, without any key more."""
    if shape is ANY:
        return
    if isinstance(shape, dict):
        _check_object(value, shape, where)
    elif isinstance(shape, list):
        assert isinstance(value, list), where
        for place, item in enumerate(value):
            check(item, shape[0], f"{where}[{place}]")
    elif isinstance(shape, set):
        assert value in shape, f"{where}: {value!r}"
    elif isinstance(shape, re.Pattern):
        assert isinstance(value, str), where
        assert shape.fullmatch(value), f"{where}: {value!r}"
    else:
        assert isinstance(value, shape), f"{where}: {value!r}"
        assert not isinstance(value, bool) or shape is bool, where


def _check_object(value: Any, shape: dict[str, Any], where: str) -> None:
    assert isinstance(value, dict), f"{where}: {value!r}"
    fields = {key.removesuffix("?"): item for key, item in shape.items()}
    for key in shape:
        assert key == "*" or key.endswith("?") or key in value, f"{where}.{key} is missing"
    for key, item in value.items():
        assert key in fields or "*" in fields, f"{where}.{key} is not in the shape"
        check(item, fields.get(key, fields.get("*")), f"{where}.{key}")


def check_part(part: Any) -> None:
    """Fail unless it is a part in the shape of its type."""
    assert isinstance(part, dict)
    if part["type"] == "tool":
        states = {next(iter(state["status"])): state for state in TOOL["state"]}  # type: ignore[call-overload]
        check(part, {**TOOL, "state": states[part["state"]["status"]]})
    else:
        check(part, PART_BY_TYPE[part["type"]])


def check_message(message: Any) -> None:
    """Fail unless it is `{info, parts}`."""
    check(message, {"info": OBJECT, "parts": [OBJECT]})
    check(message["info"], USER if message["info"]["role"] == "user" else ASSISTANT)
    for part in message["parts"]:
        check_part(part)
