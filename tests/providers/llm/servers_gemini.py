"""A Gemini that refuses what Google refuses, with Google's own words."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx

from tests.providers.llm.judges import judge_gemini
from tests.providers.llm.talk import sse

_FIELDS = {
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "generationConfig",
    "safetySettings",
    "cachedContent",
    "labels",
}
_CONFIG = {"maxOutputTokens", "temperature", "topP", "topK", "thinkingConfig", "seed"}
_SCHEMA = {"type", "description", "properties", "required", "items", "enum", "anyOf"}
_SCHEMA |= {"nullable", "format"}
_DATA = {"text", "inlineData", "functionCall", "functionResponse"}


class Refused(Exception):
    def __init__(self, message: str, status: str = "INVALID_ARGUMENT", code: int = 400) -> None:
        super().__init__(message)
        self.body = {"error": {"code": code, "message": message, "status": status}}
        self.code = code


class GeminiServer(httpx.MockTransport):
    """Plays answers, one per request. It remembers what it has signed."""

    def __init__(self, *answers: Any, is_new: bool = True, files_inside: bool = True) -> None:
        super().__init__(self._answer)
        self.answers = list(answers)
        self.bodies: list[Any] = []
        self.requests: list[httpx.Request] = []
        self.is_new = is_new
        self.files_inside = files_inside
        self._signed: dict[str, str] = {}

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        body = json.loads(request.content)
        self.bodies.append(body)
        try:
            self._check(request, body)
        except Refused as exc:
            return httpx.Response(exc.code, json=exc.body)
        answer = self.answers.pop(0)
        if isinstance(answer, httpx.Response):
            return answer
        for frame in answer:
            self._remember(frame)
        return sse(*answer)

    def _remember(self, frame: Any) -> None:
        for candidate in frame.get("candidates", []):
            for part in candidate.get("content", {}).get("parts", []):
                if "functionCall" in part and "thoughtSignature" in part:
                    self._signed[json.dumps(part["functionCall"])] = part["thoughtSignature"]

    def _check(self, request: httpx.Request, body: Any) -> None:
        if not request.url.path.endswith(":streamGenerateContent"):
            raise Refused("not found", "NOT_FOUND", 404)
        assert request.url.params["alt"] == "sse"
        if "x-goog-api-key" not in request.headers and "authorization" not in request.headers:
            raise Refused("Method doesn't allow unregistered callers", "PERMISSION_DENIED", 403)
        _known(body, _FIELDS)
        judge_gemini(body)
        _known(body["generationConfig"], _CONFIG)
        for tool in body.get("tools", []):
            for declared in tool["functionDeclarations"]:
                _known(declared, {"name", "description", "parameters"})
                if "parameters" in declared:
                    check_schema(declared["parameters"], is_root=True)
        self._check_contents(body["contents"])

    def _check_contents(self, contents: Any) -> None:
        waiting = 0
        for i, content in enumerate(contents):
            _known(content, {"role", "parts"})
            if content["role"] not in {"user", "model"}:
                raise Refused("Please use a valid role: user, model.")
            if not content["parts"]:
                raise Refused("GenerateContentRequest.contents.parts must not be empty.")
            calls = [p for p in content["parts"] if "functionCall" in p]
            answers = [p for p in content["parts"] if "functionResponse" in p]
            if len(answers) != waiting:
                raise Refused(
                    "Please ensure that the number of function response parts is equal to the "
                    "number of function call parts of the function call turn."
                )
            if calls and (i == 0 or contents[i - 1]["role"] != "user"):
                raise Refused(
                    "Please ensure that function call turn comes immediately after a user turn or "
                    "after a function response turn."
                )
            waiting = len(calls)
            for part in content["parts"]:
                self._check_part(part)
        if contents[-1]["role"] != "user":
            raise Refused("Please ensure that single turn requests end with a user role.")

    def _check_part(self, part: Any) -> None:
        _known(part, _DATA | {"thought", "thoughtSignature"})
        if len(_DATA & set(part)) != 1:
            raise Refused("contents.parts: required oneof field 'data' must have one initialized")
        if "functionResponse" in part:
            more = {"parts"} if self.is_new and self.files_inside else set()
            _known(part["functionResponse"], {"name", "response"} | more)
        if "functionCall" in part:
            _known(part["functionCall"], {"name", "args"})
            signature = self._signed.get(json.dumps(part["functionCall"]))
            if signature and "thoughtSignature" not in part:
                raise Refused("Function call is missing a thought_signature in functionCall parts.")
            if signature and part["thoughtSignature"] != signature:
                raise Refused("Thought signature is not valid.")


def check_schema(schema: Any, *, is_root: bool = False) -> None:
    _known(schema, _SCHEMA)
    kind = schema.get("type")
    if is_root and (kind != "object" or not schema.get("properties")):
        raise Refused("parameters.properties: should be non-empty for OBJECT type")
    if kind is None and "anyOf" not in schema:
        raise Refused("parameters.properties.type: must be specified")
    if kind == "array" and "items" not in schema:
        raise Refused("parameters.properties.items: missing field.")
    if "enum" in schema and kind != "string":
        raise Refused("parameters.properties.enum: only allowed for STRING type")
    if any(not isinstance(value, str) or not value for value in schema.get("enum", [])):
        raise Refused("parameters.properties.enum[0]: cannot be empty")
    for name in schema.get("required", []):
        if name not in schema.get("properties", {}):
            raise Refused(f"parameters.required[0]: property is not defined: {name}")
    for child in [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]:
        check_schema(child)
    if "items" in schema:
        check_schema(schema["items"])


def _known(given: Any, names: set[str]) -> None:
    for name in given:
        if name not in names and not re.fullmatch("_.*", name):
            raise Refused(
                f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
            )


def chunk(*parts: Any, finish: str | None = None, **counts: int) -> dict[str, Any]:
    """One chunk of an answer, as the API sends it."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    usage = {"promptTokenCount": 10, "totalTokenCount": 10, **counts}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m"}
