"""Parts of messages as an editor shows them. Source: updates that `opencode acp` sends."""

from __future__ import annotations

from typing import Any

from opencode_web_cli.bridge.place import Paths
from opencode_web_cli.bridge.server import Json

_KINDS = {
    **dict.fromkeys(("bash", "shell"), "execute"),
    **dict.fromkeys(("edit", "write", "multiedit", "patch", "apply_patch"), "edit"),
    **dict.fromkeys(("grep", "glob", "codesearch"), "search"),
    "read": "read",
    "webfetch": "fetch",
    "task": "think",
}
_PLAN_STATUSES = {"in_progress": "in_progress", "completed": "completed", "cancelled": "completed"}
_PRIORITIES = frozenset({"high", "medium", "low"})


def kind_of(tool: str) -> str:
    """Returns: the kind of a tool or of a permission."""
    return _KINDS.get(tool, "other")


def text_content(text: str) -> Json:
    """Returns: a text as what a tool shows."""
    return {"type": "content", "content": {"type": "text", "text": text}}


def chunk(kind: str, message_id: str, content: Json) -> Json:
    """Returns: a piece of a message, whose kind is `user_message`, `agent_message` and so on."""
    return {"sessionUpdate": f"{kind}_chunk", "messageId": message_id, "content": content}


def user_content(part: Json, paths: Paths) -> Json | None:
    """Returns: a part of a prompt; None for what nobody has said."""
    if part["type"] == "text":
        audience = "assistant" if part.get("synthetic") else "user" if part.get("ignored") else ""
        note: Json = {"annotations": {"audience": [audience]}} if audience else {}
        return {"type": "text", "text": part["text"], **note}
    if part["type"] != "file":
        return None
    url, name = str(part["url"]), str(part.get("filename") or "file")
    head, _, data = url.partition(";base64,")
    if data and str(part["mime"]).startswith("image/"):
        return {"type": "image", "mimeType": part["mime"], "data": data, "uri": f"file://{name}"}
    if url.startswith("file://"):
        local = paths.to_local(url.removeprefix("file://"))
        url = f"file://{local}" if local else url
    elif head.startswith("data:"):
        url = f"file://{name}"
    return {"type": "resource_link", "uri": url, "name": name, "mimeType": part["mime"]}


class ToolView:
    """The calls of one session, whose tools name files from `folder` on the server."""

    def __init__(self, paths: Paths, folder: str) -> None:
        self._paths, self._folder = paths, folder

    def begun(self, part: Json, *, is_over: bool = False) -> Json:
        """Returns: that a call has begun; one that `is_over` has its title and input at once."""
        state = part["state"]
        given = (state.get("input") or {}) if is_over else {}
        title = self._title(part) if is_over else part["tool"]
        return {
            "sessionUpdate": "tool_call",
            "toolCallId": part["callID"],
            "title": title,
            "kind": kind_of(part["tool"]),
            "status": "pending",
            "locations": self.locations(part["tool"], given),
            "rawInput": self._input(part["tool"], given),
        }

    def state(self, part: Json) -> Json | None:
        """Returns: how a call is; None while its arguments are still coming."""
        state = part["state"]
        match state["status"]:
            case "running":
                output = (state.get("metadata") or {}).get("output")
                shown = [text_content(str(output))] if output else None
                return self._going(part, "in_progress", **({"content": shown} if shown else {}))
            case "completed":
                return {
                    "sessionUpdate": "tool_call_update",
                    "toolCallId": part["callID"],
                    "status": "completed",
                    "title": self._title(part),
                    "content": self._content(part),
                    "rawOutput": {
                        "output": state["output"],
                        "metadata": state.get("metadata") or {},
                    },
                }
            case "error":
                raw = {"error": state["error"]}
                if metadata := state.get("metadata"):
                    raw["metadata"] = metadata
                shown = [text_content(str(state["error"]))]
                return self._going(part, "failed", content=shown, rawOutput=raw)
        return None

    def locations(self, tool: str, given: Json) -> list[Json]:
        """Returns: where a call works, as far as that is in the editor's folder."""
        if kind_of(tool) == "execute":
            named = given.get("workdir") or self._folder
        else:
            named = given.get("filePath") or given.get("filepath") or given.get("path")
        local = self.local(named)
        return [{"path": local}] if local else []

    def local(self, path: Any) -> str | None:
        """Returns: the editor's name of a file that a tool names."""
        return self._paths.to_local(path, self._folder) if isinstance(path, str) and path else None

    def _going(self, part: Json, status: str, **more: Any) -> Json:
        tool, given = part["tool"], part["state"].get("input") or {}
        command = given.get("command") if kind_of(tool) == "execute" else None
        return {
            "sessionUpdate": "tool_call_update",
            "toolCallId": part["callID"],
            "status": status,
            "kind": kind_of(tool),
            "title": command or tool,
            "locations": self.locations(tool, given),
            "rawInput": self._input(tool, given),
            **more,
        }

    def _input(self, tool: str, given: Json) -> Json:
        if kind_of(tool) == "execute" and "workdir" not in given:
            return {**given, "cwd": self._paths.to_local(self._folder) or self._folder}
        return given

    def _title(self, part: Json) -> str:
        state = part["state"]
        given = state.get("input") or {}
        command = given.get("command") if kind_of(part["tool"]) == "execute" else ""
        return str(command or state.get("title") or part["tool"])

    def _content(self, part: Json) -> list[Json]:
        state = part["state"]
        given, metadata = state.get("input") or {}, state.get("metadata") or {}
        display = metadata.get("display")
        read = display.get("text") if isinstance(display, dict) else None
        content = [text_content(read if isinstance(read, str) else str(state["output"]))]
        old, new, path = given.get("oldString"), given.get("newString"), given.get("filePath")
        if isinstance(old, str) and isinstance(new, str) and (local := self.local(path)):
            content.append({"type": "diff", "path": local, "oldText": old, "newText": new})
        for file in state.get("attachments") or []:
            data = str(file["url"]).partition(";base64,")[2]
            if data and str(file["mime"]).startswith("image/"):
                image = {"type": "image", "mimeType": file["mime"], "data": data}
                content.append({"type": "content", "content": image})
        return content


def plan(todos: list[Json]) -> Json:
    """Returns: the agent's list of its work."""
    entries = [
        {
            "content": str(todo.get("content", "")),
            "status": _PLAN_STATUSES.get(str(todo.get("status")), "pending"),
            "priority": todo["priority"] if todo.get("priority") in _PRIORITIES else "medium",
        }
        for todo in todos
    ]
    return {"sessionUpdate": "plan", "entries": entries}


def commands(known: list[Json]) -> Json:
    """Returns: the slash commands, by name."""
    listed = [
        {"name": one["name"], "description": one.get("description") or ""}
        for one in sorted(known, key=lambda one: str(one["name"]))
    ]
    return {"sessionUpdate": "available_commands_update", "availableCommands": listed}
