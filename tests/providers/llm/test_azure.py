from __future__ import annotations

from typing import Any

import pytest

from providers.llm.errors import RefusedRequest
from providers.llm.events import Failed
from providers.llm.messages import (
    AssistantMessage,
    File,
    Reasoning,
    ResolvedModel,
    ToolCall,
    ToolResultMessage,
)
from providers.llm.route import route_of
from tests.providers.llm.conversation import KEY, answered, model_of, play, request_of
from tests.providers.llm.servers_responses import ResponsesServer, answer, message, reasoning

PDF = File("application/pdf", "data:application/pdf;base64,JVBERi0x", "doc.pdf")


def azure(**fields: Any) -> ResolvedModel:
    fields.setdefault("connection", {"resourceName": "res-1"})
    return model_of("@ai-sdk/azure", "azure", "gpt-5.4", **fields)


async def test_a_resource_is_asked_with_its_key_and_a_version() -> None:
    server = ResponsesServer(answer(message(0, "Hi.")))
    await answered(request_of(azure()), server)
    request = server.requests[0]
    assert str(request.url) == "https://res-1.openai.azure.com/openai/v1/responses?api-version=v1"
    assert request.headers["api-key"] == KEY
    assert "authorization" not in request.headers
    assert server.bodies[0]["max_output_tokens"] == 32_000


@pytest.mark.parametrize(
    ("connection", "base_url", "url"),
    [
        ({}, "https://gate.example/openai/", "https://gate.example/openai/responses"),
        (
            {"apiVersion": "2025-04-01-preview"},
            "https://gate.example/openai",
            "https://gate.example/openai/responses?api-version=2025-04-01-preview",
        ),
        (
            {"resourceName": "res-1", "useCompletionUrls": "true"},
            None,
            "https://res-1.openai.azure.com/openai/v1/chat/completions?api-version=v1",
        ),
        (
            {"resourceName": "res-1", "useCompletionUrls": "False"},
            None,
            "https://res-1.openai.azure.com/openai/v1/responses?api-version=v1",
        ),
    ],
)
def test_addresses(connection: dict[str, str], base_url: str | None, url: str) -> None:
    assert route_of(request_of(azure(connection=connection, base_url=base_url))).url == url


@pytest.mark.parametrize("connection", [{}, {"resourceName": "evil.example/"}])
async def test_a_resource_that_is_none_is_named_and_not_asked(connection: dict[str, str]) -> None:
    server = ResponsesServer()
    (end,) = await play(request_of(azure(connection=connection)), server)
    assert isinstance(end, Failed)
    assert isinstance(end.error, RefusedRequest)
    assert "resourceName" in end.error.message
    assert end.is_free
    assert not server.requests


async def test_reasoning_is_kept_under_the_name_of_azure() -> None:
    server = ResponsesServer(
        answer(reasoning(0, "Hm."), message(1, "Hi.")), answer(message(0, "Yes."))
    )
    said = await answered(request_of(azure()), server)
    assert said.content[0] == Reasoning(
        "Hm.", {"azure": {"itemId": "rs_0", "reasoningEncryptedContent": "sealed-0"}}
    )
    await answered(request_of(azure(), "Hello", said, "More."), server)
    assert server.bodies[1]["input"][2]["encrypted_content"] == "sealed-0"


async def test_files_of_tools_follow_in_a_message_of_the_users() -> None:
    server = ResponsesServer(answer(message(0, "Hi.")))
    history = (
        AssistantMessage((ToolCall("c1", "read", {}), ToolCall("c2", "read", {}))),
        ToolResultMessage("c1", "read", "Read.", files=(PDF,)),
        ToolResultMessage("c2", "read", "Nothing."),
    )
    await answered(request_of(azure(), "Read.", *history), server)
    assert [item.get("output") for item in server.bodies[0]["input"][4:6]] == ["Read.", "Nothing."]
    assert server.bodies[0]["input"][6] == {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "Attached media from tool result:"},
            {"type": "input_file", "filename": "part-1.pdf", "file_data": PDF.data_url},
        ],
    }


def test_chat_completions_have_a_developer_and_another_limit() -> None:
    model = azure(
        connection={"resourceName": "res-1", "useCompletionUrls": "true"},
        options={"serviceTier": "flex", "custom_option": "v1"},
    )
    request = request_of(model, temperature=0.3)
    body = route_of(request).protocol.encode(request)
    tools = body.pop("tools")
    assert "$schema" not in str(tools)
    assert body == {
        "model": "gpt-5.4",
        "max_completion_tokens": 32_000,
        "reasoning_effort": "medium",
        "prompt_cache_key": "ses_1",
        "service_tier": "flex",
        "store": False,
        "messages": [
            {"role": "developer", "content": "Be terse.\nBe kind."},
            {"role": "user", "content": "Hello"},
        ],
        "tool_choice": "auto",
        "stream": True,
        "stream_options": {"include_usage": True},
    }
