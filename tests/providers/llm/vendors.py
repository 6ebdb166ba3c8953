"""Every wire as a vendor that thinks, calls two tools at once, and knows what it has sealed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from providers.llm.messages import ResolvedModel
from tests.providers.llm import (
    servers_chat,
    servers_cohere,
    servers_converse,
    servers_gemini,
    servers_messages,
    servers_responses,
    talk,
)
from tests.providers.llm.test_copilot import CopilotServer

PLACE = {"region": "us-east-1", "project": "p", "location": "global", "resourceName": "acme"}
BUDGET = {"thinking": {"type": "enabled", "budgetTokens": 1024}}


@dataclass(frozen=True)
class Step:
    """What a vendor says next: thinking, texts, and calls by their paths."""

    thought: str = ""
    text: str = ""
    paths: tuple[str, ...] = ()
    tool: str = "read"


@dataclass(frozen=True)
class Wire:
    npm: str
    model_id: str
    play: Callable[..., httpx.AsyncBaseTransport]
    """From steps to a server."""
    seal: str = ""
    """What is in everything that only this vendor can read."""
    options: Any = None
    provider: str = "p"

    def model(self, **fields: Any) -> ResolvedModel:
        return talk.model(
            self.npm,
            self.model_id,
            self.provider,
            connection=PLACE,
            options=self.options or {},
            **{"base_url": "https://vendor.test/v1", **fields},
        )


class Chat(servers_chat._ChatServer):
    def wrong(self, body: Any) -> str:
        return ""

    def error(self, message: str) -> Any:
        return {"error": {"message": message}}


def _chat_frames(step: Step, number: int, thought: Any) -> list[Any]:
    frames = [thought] if step.thought else []
    frames += [servers_chat.delta(content=step.text)] if step.text else []
    for index, path in enumerate(step.paths):
        arguments = json.dumps({"path": path})
        call_id = f"call{number:03}{index:02}"  # as long as Mistral wants them
        frames.append(
            servers_chat.delta(tool_calls=[servers_chat.call(index, call_id, arguments, step.tool)])
        )
    return [*frames, servers_chat.delta("tool_calls" if step.paths else "stop")]


def chat(*steps: Step) -> httpx.AsyncBaseTransport:
    thoughts = [servers_chat.delta(reasoning_content=one.thought) for one in steps]
    return Chat(
        *(_chat_frames(s, n, t) for n, (s, t) in enumerate(zip(steps, thoughts, strict=True)))
    )


def openrouter(*steps: Step) -> httpx.AsyncBaseTransport:
    def thought(step: Step, number: int) -> Any:
        detail = {"type": "reasoning.text", "text": step.thought, "index": 0}
        sealed = {**detail, "signature": f"openrouter-{number}", "format": "anthropic-claude-v1"}
        return servers_chat.delta(reasoning=step.thought, reasoning_details=[sealed])

    class Server(servers_chat.OpenRouterServer):
        def remember(self, frames: list[Any]) -> None:
            # Each answer is signed for itself.
            for frame in frames:
                super().remember([frame])

    return Server(*(_chat_frames(s, n, thought(s, n)) for n, s in enumerate(steps)))


def mistral(*steps: Step) -> httpx.AsyncBaseTransport:
    def frames(step: Step, number: int) -> list[Any]:
        pieces = [{"type": "text", "text": step.thought}]
        thought = servers_chat.delta(content=[{"type": "thinking", "thinking": pieces}])
        return _chat_frames(step, number, thought)

    return servers_chat.MistralServer(*(frames(s, n) for n, s in enumerate(steps)))


def copilot(*steps: Step) -> httpx.AsyncBaseTransport:
    def thought(step: Step) -> Any:
        return servers_chat.delta(reasoning_text=step.thought, reasoning_opaque="sealed")

    return CopilotServer(*(_chat_frames(s, n, thought(s)) for n, s in enumerate(steps)))


def responses(*steps: Step, **fields: Any) -> httpx.AsyncBaseTransport:
    of = servers_responses

    def items(step: Step, number: int) -> list[Any]:
        made = [of.reasoning(0, step.thought, seal=f"responses-{number}")] if step.thought else []
        made += [of.message(1, step.text)] if step.text else []
        for index, path in enumerate(step.paths):
            arguments, call_id = json.dumps({"path": path}), f"call_{number}_{index}"
            made.append(of.call(2 + index, step.tool, arguments, call_id))
        return made

    return of.ResponsesServer(*(of.answer(*items(s, n)) for n, s in enumerate(steps)), **fields)


def xai(*steps: Step) -> httpx.AsyncBaseTransport:
    return responses(*steps, is_xai=True)


def messages(*steps: Step) -> httpx.AsyncBaseTransport:
    server, of = servers_messages.MessagesServer(), servers_messages
    for number, step in enumerate(steps):
        blocks = []
        if step.thought:
            blocks = [
                of.thinking(step.thought, f"messages-{number}"),
                of.redacted(f"messages-hidden-{number}"),
            ]
        blocks += [of.text(step.text)] if step.text else []
        blocks += [
            of.call(f"toolu_{number}_{i}", step.tool, path=p) for i, p in enumerate(step.paths)
        ]
        server.answer(*blocks, stop="tool_use" if step.paths else "end_turn")
    return server


def converse(*steps: Step) -> httpx.AsyncBaseTransport:
    server, of = servers_converse.ConverseServer(), servers_converse
    for number, step in enumerate(steps):
        blocks = [of.thinking(step.thought, f"converse-{number}")] if step.thought else []
        blocks += [of.text(step.text)] if step.text else []
        blocks += [
            of.call(f"tooluse_{number}_{i}", step.tool, path=p) for i, p in enumerate(step.paths)
        ]
        server.answer(*blocks, stop="tool_use" if step.paths else "end_turn")
    return server


def gemini(*steps: Step) -> httpx.AsyncBaseTransport:
    of = servers_gemini

    def chunks(step: Step, number: int) -> list[Any]:
        signature = {"thoughtSignature": f"gemini-{number}"}
        parts: list[Any] = [{"text": step.thought, "thought": True}] if step.thought else []
        parts += [{"text": step.text}] if step.text else []
        for index, path in enumerate(step.paths):
            call = {"functionCall": {"name": step.tool, "args": {"path": path}}}
            parts.append(call if index else {**call, **signature})
        return [of.chunk(*parts, finish="STOP")]

    return of.GeminiServer(*(chunks(s, n) for n, s in enumerate(steps)))


def cohere(*steps: Step) -> httpx.AsyncBaseTransport:
    of = servers_cohere

    def events(step: Step, number: int) -> list[Any]:
        made = of.text(step.thought, kind="thinking") if step.thought else []
        made += of.text(step.text, index=1) if step.text else []
        for index, path in enumerate(step.paths):
            call_id = f"read_{number}_{index}"
            made += of.call(index, call_id, json.dumps({"path": path}), name=step.tool)
        return [*made, *of.end("TOOL_CALL" if step.paths else "COMPLETE")]

    return of.CohereServer(*(events(s, n) for n, s in enumerate(steps)))


WIRES = {
    "chat": Wire("@ai-sdk/openai-compatible", "own", chat),
    "responses": Wire("@ai-sdk/openai", "gpt-5.4", responses, "responses-", provider="openai"),
    "xai": Wire("@ai-sdk/xai", "grok-4.3", xai, "responses-"),
    "messages": Wire("@ai-sdk/anthropic", "claude-sonnet-4-5", messages, "messages-", BUDGET),
    "gemini": Wire("@ai-sdk/google", "gemini-3-pro", gemini, "gemini-"),
    "converse": Wire(
        "@ai-sdk/amazon-bedrock", "anthropic.claude-sonnet-4-5", converse, "converse-", BUDGET
    ),
    "cohere": Wire("@ai-sdk/cohere", "command-a-reasoning", cohere),
    "copilot": Wire("@ai-sdk/github-copilot", "grok-code", copilot, "sealed"),
    "openrouter": Wire(
        "@openrouter/ai-sdk-provider", "anthropic/claude-sonnet-4.5", openrouter, "openrouter-"
    ),
    "mistral": Wire("@ai-sdk/mistral", "magistral-medium", mistral),
}
