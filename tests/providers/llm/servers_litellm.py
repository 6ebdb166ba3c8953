"""watsonx.ai and SAP AI Core: they give tokens for keys, and refuse what is not theirs."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs

import httpx

from tests.providers.llm.talk import sse

TOKEN = "token-of-the-vendor"
SERVICE_KEY = {
    "clientid": "sb-1",
    "clientsecret": "very-secret-client",
    "url": "https://acme.authentication.sap.example",
    "serviceurls": {"AI_API_URL": "https://api.ai.sap.example"},
}
_WATSONX_FIELDS = {
    "model_id", "project_id", "messages", "tools", "tool_choice", "tool_choice_option",
    "max_tokens", "temperature", "top_p", "seed", "response_format", "reasoning_effort",
}  # fmt: skip


class _Server(httpx.MockTransport):
    def __init__(self, *answers: Any) -> None:
        super().__init__(self._answer)
        self.answers = list(answers)
        self.bodies: list[Any] = []
        self.urls: list[str] = []

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.urls.append(str(request.url))
        found = self.aside(request)
        if found is not None:
            return found
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return self.refuse(401, "invalid token")
        body = json.loads(request.content)
        self.bodies.append(body)
        if wrong := self.wrong(body):
            return self.refuse(400, wrong)
        answer = self.answers.pop(0)
        return answer if isinstance(answer, httpx.Response) else sse(*map(self.frame, answer))

    def aside(self, request: httpx.Request) -> httpx.Response | None:
        raise NotImplementedError

    def refuse(self, status: int, message: str) -> httpx.Response:
        raise NotImplementedError

    def wrong(self, body: Any) -> str:
        raise NotImplementedError

    def frame(self, chunk: Any) -> Any:
        return chunk


class WatsonxServer(_Server):
    def aside(self, request: httpx.Request) -> httpx.Response | None:
        if request.url.host != "iam.cloud.ibm.com":
            return None
        form = parse_qs(request.content.decode())
        if form.get("apikey") != ["key-of-tests"]:
            error = {"errorCode": "BXNIM0415E", "errorMessage": "Provided API key not found."}
            return httpx.Response(400, json=error)
        return httpx.Response(200, json={"access_token": TOKEN, "expires_in": 3600})

    def refuse(self, status: int, message: str) -> httpx.Response:
        errors = [{"code": "invalid_request_entity", "message": message}]
        return httpx.Response(status, json={"errors": errors, "status_code": status})

    def wrong(self, body: Any) -> str:
        if unknown := sorted(set(body) - _WATSONX_FIELDS):
            return f"Json document validation error: {unknown[0]} is not allowed"
        if "additionalProperties" in json.dumps(body.get("tools", [])):
            return "Json document validation error: additionalProperties"
        return "" if body.get("project_id") else "project_id is required"


class SapServer(_Server):
    deployments = ["https://api.ai.sap.example/v2/inference/deployments/d1"]

    def aside(self, request: httpx.Request) -> httpx.Response | None:
        if request.url.path == "/oauth/token":
            form = parse_qs(request.content.decode())
            is_right = form.get("client_secret") == [SERVICE_KEY["clientsecret"]]
            answer = {"access_token": TOKEN, "expires_in": 43199} if is_right else {"error": "no"}
            return httpx.Response(200 if is_right else 401, json=answer)
        if request.url.path == "/v2/lm/deployments":
            assert request.headers["authorization"] == f"Bearer {TOKEN}"
            found = [{"deploymentUrl": url, "createdAt": "2026"} for url in self.deployments]
            return httpx.Response(200, json={"count": len(found), "resources": found})
        return None

    def refuse(self, status: int, message: str) -> httpx.Response:
        return httpx.Response(
            status, json={"request_id": "r", "code": status, "message": message, "location": "x"}
        )

    def wrong(self, body: Any) -> str:
        if set(body) - {"config", "placeholder_values", "messages_history"}:
            return "400 - Request Body: Additional properties are not allowed"
        if body["config"]["stream"] != {"enabled": True}:
            return "streaming is not enabled"
        given = set(body.get("placeholder_values", {}))
        named = set(re.findall(r"\{\{\?(\w+)\}\}", json.dumps(body["config"])))
        return f"Unused or missing parameters: {named ^ given}" if named ^ given else ""

    def frame(self, chunk: Any) -> Any:
        return chunk if isinstance(chunk, str) else {"request_id": "r", "final_result": chunk}


def chunk(finish: str | None = None, **delta: Any) -> Any:
    return {
        "id": "chat-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **(
            {"usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}}
            if finish
            else {}
        ),
    }
